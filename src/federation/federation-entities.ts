import { keySchema } from './actors/key-schema.ts';
import { remoteActorSchema } from './actors/remote-actor-schema.ts';
import { deliverySchema } from './deliveries/delivery-schema.ts';
import { outboxSchema } from './deliveries/outbox-schema.ts';
import { followerSchema } from './follows/follower-schema.ts';
import { receivedPushSchema } from './follows/received-push-schema.ts';
import { remoteFollowSchema } from './follows/remote-follow-schema.ts';
import { remotePersonFollowSchema, seenRepositorySchema } from './follows/remote-person-follow-schema.ts';
import { inboxSchema } from './inbox/inbox-schema.ts';
import { originSchema } from './origin-schema.ts';
import { pairingCodeSchema, peerSchema } from './peers/peer-schema.ts';

/** Every table of SPEC §2.5, and our own beside them. */
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
  peerSchema,
  pairingCodeSchema,
  originSchema,
];
