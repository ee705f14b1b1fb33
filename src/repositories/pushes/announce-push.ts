import type { RecordedCredential } from '../../access/index.ts';
import { IsNull } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { announce, announceAhead } from '../../announcements/index.ts';
import type { EventPlace, Listener } from '../../announcements/index.ts';
import { isTrashed } from '../lifecycle/trash.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { Repository } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';
import type { PushJournal, RefUpdate } from './push-journal.ts';
import { pushAnnouncementSchema, pushListenerAttemptsSchema, pushSchema } from '../schema/push-schema.ts';
import type { PushRow } from '../schema/push-schema.ts';

/** A push that git accepted at least in part. */
export interface AnnouncedPush {
  id: string;
  repository: Repository;
  /** UUID of the user who pushed; `null` for the command line, deploy keys and deleted accounts. */
  pusherId: string | null;
  /** Title of the deploy key that pushed; null if none did. */
  deployKey: string | null;
  via: PushRow['via'];
  /** The limits of the credential that pushed; null when none was recorded. */
  credential: RecordedCredential | null;
  options: readonly string[];
  /** Only the commands that took effect. */
  updates: readonly RefUpdate[];
  /** Milliseconds since the epoch. */
  arrivedAt: number;
}

/** Port through which other modules subscribe to pushes; registered by `app/`. */
export interface PushListener<Prepared = unknown> extends Listener<AnnouncedPush, Prepared> {
  /** A message about a push option for the user who pushes; null for an unknown option. */
  remarkOn?(option: string): string | null;
}

export interface AnnounceOptions {
  /** Whether the transaction that settled the push already counted this announcement. */
  isAttemptCounted?: boolean;
}

const tables = { events: pushSchema, marks: pushAnnouncementSchema, attempts: pushListenerAttemptsSchema };
const logNames = {
  listenerFailed: 'push.listener_failed',
  parked: 'push.parked',
  repositoryMoved: 'push.repository_moved',
};

/** Condition that selects a push in the announcement tables. */
export const placeOfPush = (pushId: string): EventPlace => ({ tables, row: { id: pushId }, key: { pushId } });

/** Announces a settled push that is neither announced nor parked; `finishPushes` retries failures. */
export async function announcePush(
  deps: RepositoryDeps,
  journal: PushJournal,
  listeners: readonly PushListener[],
  pushId: string,
  { isAttemptCounted = false, startedAt }: AnnounceOptions & { startedAt: number },
): Promise<void> {
  const open = await openAnnouncement(deps, journal, pushId);
  if (open !== null)
    await announce(toolsOf(deps, startedAt), open.subject, listeners, { attempts: open.attempts, isAttemptCounted });
}

/** Lets one listener record a settled push out of order. Throws the listener's error. */
export async function announcePushAhead(
  deps: RepositoryDeps,
  journal: PushJournal,
  listener: PushListener,
  pushId: string,
): Promise<void> {
  const open = await openAnnouncement(deps, journal, pushId);
  if (open !== null) await announceAhead(toolsOf(deps, deps.clock.now()), open.subject, listener);
}

const toolsOf = ({ db, logger, clock, settings: { listenerTimeoutMs } }: RepositoryDeps, startedAt: number) => ({
  db,
  logger,
  clock,
  startedAt,
  listenerTimeoutMs,
});

/** Null for a push that is announced, parked, gone or in the trash. */
async function openAnnouncement(deps: RepositoryDeps, journal: PushJournal, pushId: string) {
  const row = await deps.db.read.findOneBy(pushSchema, { id: pushId, announcedAt: IsNull(), parkedAt: IsNull() });
  const event = row === null ? null : await announcedPush(deps, journal, row);
  if (row === null || event === null) return null;
  const subject = {
    ...placeOfPush(pushId),
    event,
    logNames,
    hasRepositoryMoved: () => hasRepositoryMoved(deps, event.repository),
    isInTrash: (source: EntityManager) => isTrashed(source, event.repository.id),
  };
  return { attempts: row.attempts, subject };
}

/** A push as passed to its listeners, also afterwards; null if it is gone or in the trash. */
export async function findPush(
  deps: RepositoryDeps,
  journal: PushJournal,
  pushId: string,
): Promise<AnnouncedPush | null> {
  const row = await deps.db.read.findOneBy(pushSchema, { id: pushId });
  return row === null ? null : announcedPush(deps, journal, row);
}

async function hasRepositoryMoved({ db }: RepositoryDeps, before: Repository): Promise<boolean> {
  const now = await db.read.findOneBy(repositorySchema, { id: before.id });
  return (
    now === null ||
    now.deletedAt !== null ||
    now.ownerUserId !== before.ownerUserId ||
    now.ownerOrganisationId !== before.ownerOrganisationId
  );
}

async function announcedPush(deps: RepositoryDeps, journal: PushJournal, row: PushRow): Promise<AnnouncedPush | null> {
  const repository = await deps.db.read.findOneBy(repositorySchema, { id: row.repositoryId });
  // In the trash: announced after the restore.
  if (repository === null || repository.deletedAt !== null) return null;
  return {
    id: row.id,
    repository,
    pusherId: row.userId,
    deployKey: row.deployKey,
    via: row.via,
    credential: row.credential === null ? null : (JSON.parse(row.credential) as RecordedCredential),
    options: JSON.parse(row.options) as string[],
    updates: await journal.updatesOf(row.id, 'accepted'),
    arrivedAt: row.settledAt ?? row.createdAt,
  };
}
