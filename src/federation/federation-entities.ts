import { keySchema } from './schema/key-schema.ts';
import { remoteActorSchema } from './schema/remote-actor-schema.ts';
import { deliverySchema } from './schema/delivery-schema.ts';
import { outboxSchema } from './schema/outbox-schema.ts';
import { blockSchema } from './schema/block-schema.ts';
import { noteChoiceSchema } from './schema/note-choice-schema.ts';
import { followApprovalSchema, followRequestSchema, ownerFollowerSchema } from './schema/owner-follower-schema.ts';
import { followerSchema } from './schema/follower-schema.ts';
import { receivedEventSchema } from './schema/received-event-schema.ts';
import { receivedPushSchema } from './schema/received-push-schema.ts';
import { remoteFollowSchema } from './schema/remote-follow-schema.ts';
import { remotePersonFollowSchema, seenRepositorySchema } from './schema/remote-person-follow-schema.ts';
import { inboxSchema } from './schema/inbox-schema.ts';
import { originSchema } from './schema/origin-schema.ts';
import { pairingCodeSchema, peerSchema } from './schema/peer-schema.ts';

/** All tables of SPEC §2.5 and Hearth's own. */
export const federationEntities = [
  keySchema,
  remoteActorSchema,
  outboxSchema,
  inboxSchema,
  deliverySchema,
  followerSchema,
  remoteFollowSchema,
  remotePersonFollowSchema,
  seenRepositorySchema,
  receivedPushSchema,
  receivedEventSchema,
  peerSchema,
  pairingCodeSchema,
  originSchema,
  ownerFollowerSchema,
  followRequestSchema,
  followApprovalSchema,
  blockSchema,
  noteChoiceSchema,
];
