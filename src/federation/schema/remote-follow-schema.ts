import { EntitySchema } from 'typeorm';

/** `person`: any actor that is no repository, such as a group or a bot. */
type FollowedKind = 'repository' | 'person';

export type FollowState = 'PENDING' | 'ACCEPTED';

/**
 * A local person follows a remote repository (SPEC §2.5, §3), or a person of software that knows none: then what is
 * followed is their actor, and nothing of it is kept.
 */
export interface RemoteFollow {
  id: string;
  userId: string;
  kind: FollowedKind;
  remoteActorId: string;
  remoteInbox: string;
  host: string;
  /** `owner/name@host` or `user@host`, as the other server named it when it was followed. */
  handle: string;
  /** Its HTML page. */
  url: string | null;
  /** Id of the last Follow that was sent; an Undo repeats it. */
  followId: string;
  state: FollowState;
  createdAt: number;
  acceptedAt: number | null;
  /** The followed person whose repository it is; `null` for a direct follow. */
  viaUserActorId: string | null;
  /** Since when its server says that there is no such public repository; null while there is. */
  goneAt: number | null;
}

export const remoteFollowSchema = new EntitySchema<RemoteFollow>({
  name: 'remoteFollow',
  tableName: 'remote_follows',
  columns: {
    id: { type: 'text', primary: true },
    userId: { name: 'user_id', type: 'text' },
    kind: { type: 'text' },
    remoteActorId: { name: 'remote_actor_id', type: 'text' },
    remoteInbox: { name: 'remote_inbox', type: 'text' },
    host: { type: 'text' },
    handle: { type: 'text' },
    url: { type: 'text', nullable: true },
    followId: { name: 'follow_id', type: 'text' },
    state: { type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
    acceptedAt: { name: 'accepted_at', type: 'integer', nullable: true },
    viaUserActorId: { name: 'via_user_actor_id', type: 'text', nullable: true },
    goneAt: { name: 'gone_at', type: 'integer', nullable: true },
  },
});
