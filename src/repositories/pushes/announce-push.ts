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
 * once per listener whatever dies when. A write that fails is tried again with what a
 * new `prepare` says.
 */
export interface PushListener<Prepared = unknown> {
  /** Stable; kept in the database. */
  name: string;
  /** Whether somebody waits for what this one records: it is written before the listeners behind are asked. */
  isAwaited?: boolean;
  /** What the listener does about a push option, in a line for whoever pushes; null for one that it does not know. */
  remarkOn?(option: string): string | null;
  /** Null when there is nothing to record; the listener is done with the push then. */
  prepare?(push: ArrivedPush): Promise<Prepared | null>;
  record?(tx: Tx, push: ArrivedPush, prepared: Prepared): Promise<void>;
  /** Called once that write is durable: the moment to wake somebody up. The next listener has its turn after it. */
  recorded?(push: ArrivedPush, prepared: Prepared): unknown;
}

/** A listener with what it has prepared. */
interface Turn {
  listener: PushListener;
  prepared: unknown;
}

/**
 * Tells every listener that has not recorded the push yet. What they record is written
 * at once, as far as nobody waits for a part of it: every write costs a sync of the disk,
 * and most pushes give them nothing to record. A listener that fails is logged and asked
 * again later, by `finishPushes`; the others hear all the same. Two announcements of one
 * push at once do no harm.
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
  const failedAt = (listener: PushListener, error: unknown): null => {
    failed = true;
    room.logger.error('push.listener_failed', { pushId, listener: listener.name, error });
    return null;
  };
  const prepare = async (listener: PushListener): Promise<Turn | null> => {
    try {
      const prepared = await listener.prepare?.(push);
      return prepared === null ? null : { listener, prepared };
    } catch (error) {
      return failedAt(listener, error);
    }
  };
  /** Those of one write that failed have a write of their own each: one of them must not keep the others from theirs. */
  const tell = async (turns: readonly Turn[], isLast: boolean): Promise<void> => {
    let recorded: readonly Turn[];
    try {
      recorded = await recordAll(room, push, turns, isLast && !failed);
    } catch (error) {
      if (turns.length === 0) throw error;
      if (turns.length === 1) return void failedAt(turns[0]!.listener, error);
      for (const { listener } of turns) {
        const again = await prepare(listener);
        if (again !== null) await tell([again], false);
      }
      if (isLast && !failed) await recordAll(room, push, [], true);
      return;
    }
    for (const { listener, prepared } of recorded) {
      try {
        await listener.recorded?.(push, prepared);
      } catch (error) {
        failedAt(listener, error);
      }
    }
  };

  let turns: Turn[] = [];
  for (const listener of listeners) {
    if (done.has(listener.name)) continue;
    const turn = await prepare(listener);
    if (turn === null) continue;
    turns.push(turn);
    if (listener.isAwaited !== true) continue;
    await tell(turns, false);
    turns = [];
  }
  await tell(turns, true);
}

/**
 * One write for what several listeners have to say. A push that is announced needs no marks;
 * until then they say who has been here. Both are asked again: another announcement may have been quicker.
 * @param isAll whether nobody is left to be told
 * @returns whose part is written; with those who have nothing to write
 */
async function recordAll(
  { db }: RepositoryRoom,
  push: ArrivedPush,
  turns: readonly Turn[],
  isAll: boolean,
): Promise<readonly Turn[]> {
  const recording = turns.filter(({ listener }) => listener.record !== undefined);
  if (recording.length === 0 && !isAll) return turns;
  const write = async (tx: Tx): Promise<readonly Turn[]> => {
    if (!(await tx.before.existsBy(pushSchema, { id: push.id, announcedAt: IsNull() }))) return [];
    const marks = await tx.before.findBy(pushAnnouncementSchema, { pushId: push.id });
    const done = new Set(marks.map(({ listener }) => listener));
    const open = turns.filter(({ listener }) => !done.has(listener.name));
    for (const { listener, prepared } of open) {
      await listener.record?.(tx, push, prepared);
      if (!isAll) await tx.manager.insert(pushAnnouncementSchema, { pushId: push.id, listener: listener.name });
    }
    if (isAll) await tx.manager.update(pushSchema, { id: push.id }, { announcedAt: tx.now });
    if (isAll && marks.length > 0) await tx.manager.delete(pushAnnouncementSchema, { pushId: push.id });
    return open;
  };
  // Where a power failure takes the note back, the next start asks the listeners again, and they have nothing to say again.
  return db.write(write, recording.length === 0 ? { durable: 'with-the-next' } : {});
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
