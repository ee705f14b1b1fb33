import { IsNull, Not } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import { repositorySchema } from '../repository-schema.ts';
import type { Repository } from '../repository-schema.ts';
import type { RepositoryRoom } from '../room.ts';
import type { PushJournal, RefUpdate } from './push-journal.ts';
import { pushAnnouncementSchema, pushSchema } from './push-schema.ts';
import type { PushRow } from './push-schema.ts';

/** A push that git accepted, at least in part. */
export interface ArrivedPush {
  id: string;
  repository: Repository;
  /** UUID of who pushed; `null` for the command line and once the person is gone. */
  pusherId: string | null;
  via: PushRow['via'];
  options: readonly string[];
  /** Only the commands that took effect. */
  updates: readonly RefUpdate[];
  /** Milliseconds since the epoch. */
  arrivedAt: number;
}

/**
 * The port through which other rooms hear of pushes (DESIGN §1). `app.ts` plugs
 * them in. `prepare` may be slow (git, files) and may run again; `record` runs inside
 * the write that also notes that this listener is done, so a push is recorded exactly
 * once per listener whatever dies when.
 */
export interface PushListener<Prepared = unknown> {
  /** Stable; kept in the database. */
  name: string;
  /** What the listener does about a push option, in a line for whoever pushes; null for one that it does not know. */
  remarkOn?(option: string): string | null;
  prepare?(push: ArrivedPush): Promise<Prepared>;
  record(tx: Tx, push: ArrivedPush, prepared: Prepared): Promise<void>;
  /** Called once that write is durable: the moment to wake somebody up. The next listener has its turn after it. */
  recorded?(push: ArrivedPush, prepared: Prepared): unknown;
}

/**
 * Tells every listener that has not recorded the push yet. A listener that fails is
 * logged and asked again later, by `finishPushes`; the others hear all the same.
 * Two announcements of one push at once do no harm.
 */
export async function announcePush(
  room: RepositoryRoom,
  journal: PushJournal,
  listeners: readonly PushListener[],
  pushId: string,
): Promise<void> {
  const push = await arrivedPush(room, journal, pushId);
  if (push === null) return;
  const done = new Set((await room.db.read.findBy(pushAnnouncementSchema, { pushId })).map((row) => row.listener));
  let failed = false;
  for (const listener of listeners) {
    if (done.has(listener.name)) continue;
    try {
      const prepared = await listener.prepare?.(push);
      await room.db.write((tx) => recordOnce(tx, listener, push, prepared));
      await listener.recorded?.(push, prepared);
    } catch (error) {
      failed = true;
      room.logger.error('push.listener_failed', { pushId, listener: listener.name, error });
    }
  }
  if (failed) return;
  await room.db.write(async ({ manager, now }) => {
    await manager.update(pushSchema, { id: pushId }, { announcedAt: now });
    await manager.delete(pushAnnouncementSchema, { pushId });
  });
}

/** The marks go when the push is announced, so both are asked: is it still open, and has this listener not been here? */
async function recordOnce(tx: Tx, listener: PushListener, push: ArrivedPush, prepared: unknown): Promise<void> {
  const mark = { pushId: push.id, listener: listener.name };
  const isOpen = await tx.manager.existsBy(pushSchema, { id: push.id, announcedAt: IsNull() });
  if (!isOpen || (await tx.manager.existsBy(pushAnnouncementSchema, mark))) return;
  await tx.manager.insert(pushAnnouncementSchema, mark);
  await listener.record(tx, push, prepared);
}

/** Settled pushes that some listener has not recorded yet, oldest first. */
export function unannouncedPushes(room: RepositoryRoom): Promise<PushRow[]> {
  return room.db.read.find(pushSchema, {
    where: { settledAt: Not(IsNull()), announcedAt: IsNull() },
    order: { createdAt: 'ASC', id: 'ASC' },
  });
}

async function arrivedPush(room: RepositoryRoom, journal: PushJournal, pushId: string): Promise<ArrivedPush | null> {
  const row = await room.db.read.findOneBy(pushSchema, { id: pushId, announcedAt: IsNull() });
  if (row === null) return null;
  const repository = await room.db.read.findOneBy(repositorySchema, { id: row.repositoryId });
  if (repository === null) return null;
  return {
    id: row.id,
    repository,
    pusherId: row.userId,
    via: row.via,
    options: JSON.parse(row.options) as string[],
    updates: await journal.updatesOf(pushId, 'accepted'),
    arrivedAt: row.settledAt ?? row.createdAt,
  };
}
