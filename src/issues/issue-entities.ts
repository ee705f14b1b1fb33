import {
  attachmentSchema,
  attachmentUseSchema,
  issueLabelSchema,
  issueLinkSchema,
  labelSchema,
  milestoneSchema,
} from './schema/classification-schema.ts';
import {
  entryAnnouncementSchema,
  entryListenerAttemptsSchema,
  entryRevisionSchema,
  entrySchema,
} from './schema/entry-schema.ts';
import {
  issueNumbersSchema,
  issueSchema,
  issueSerialSchema,
  issueSettingsSchema,
  movedIssueSchema,
} from './schema/issue-schema.ts';
import {
  blockSchema,
  contributorSchema,
  heldContributionSchema,
  hiddenEntrySchema,
} from './schema/moderation-schema.ts';
import {
  assigneeSchema,
  draftSchema,
  importedReactionSchema,
  mentionSchema,
  reactionSchema,
  subscriptionSchema,
} from './schema/participation-schema.ts';
import { boardCardSchema, boardColumnSchema, boardSchema } from './schema/board-schema.ts';
import { savedReplySchema } from './replies/saved-replies.ts';
import { stopwatchSchema, trackedTimeSchema } from './schema/time-schema.ts';

export const issueEntities = [
  issueSchema,
  issueNumbersSchema,
  issueSettingsSchema,
  issueSerialSchema,
  movedIssueSchema,
  entrySchema,
  entryAnnouncementSchema,
  entryListenerAttemptsSchema,
  entryRevisionSchema,
  labelSchema,
  issueLabelSchema,
  milestoneSchema,
  issueLinkSchema,
  attachmentSchema,
  attachmentUseSchema,
  assigneeSchema,
  mentionSchema,
  reactionSchema,
  importedReactionSchema,
  subscriptionSchema,
  draftSchema,
  blockSchema,
  hiddenEntrySchema,
  contributorSchema,
  heldContributionSchema,
  savedReplySchema,
  trackedTimeSchema,
  stopwatchSchema,
  boardSchema,
  boardColumnSchema,
  boardCardSchema,
];
