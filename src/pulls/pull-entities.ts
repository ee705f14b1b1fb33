import { pullPushSchema, pullSchema } from './schema/pull-schema.ts';
import { queueSchema } from './schema/queue-schema.ts';
import { reviewCommentSchema, reviewSchema, threadPositionSchema, threadSchema } from './schema/review-schema.ts';
import { removedRoundSchema, roundCommitSchema, roundSchema } from './schema/round-schema.ts';
import { skippedChecksSchema } from './schema/skipped-check-schema.ts';
import {
  attentionSchema,
  reviewRequestSchema,
  teamReviewerSchema,
  teamReviewRequestSchema,
  viewedFileSchema,
} from './schema/attention-schema.ts';

export const pullEntities = [
  pullSchema,
  pullPushSchema,
  queueSchema,
  roundSchema,
  roundCommitSchema,
  removedRoundSchema,
  reviewSchema,
  threadSchema,
  reviewCommentSchema,
  threadPositionSchema,
  reviewRequestSchema,
  teamReviewRequestSchema,
  teamReviewerSchema,
  attentionSchema,
  viewedFileSchema,
  skippedChecksSchema,
];
