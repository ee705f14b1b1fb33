import { In } from 'typeorm';
import { rows } from '../db/index.ts';
import type { CopyDeps } from './deps.ts';
import { keptCopySchema } from './kept-copy-schema.ts';

const isFollowed = `EXISTS (SELECT 1 FROM remote_follows f WHERE f.user_id = c.user_id AND f.remote_actor_id = c.actor_id)`;

/**
 * What copies need from time to time, by what the tables say, so that nothing is lost by a kill: those whose origin
 * has announced a push since their last transfer become due; the unfollowed ones rest, and are removed when their time
 * is over; origins that have moved are fetched at their new address.
 * @returns how many were removed
 */
export async function tendCopies(deps: CopyDeps): Promise<number> {
  await endUnfollowed(deps);
  await followMoves(deps);
  const pushed = await rows<{ id: string }>(
    deps.db.read,
    `SELECT c.repository_id AS id FROM kept_copies c CROSS JOIN mirrors m
      WHERE m.repository_id = c.repository_id AND c.ends_at IS NULL AND m.is_paused = 0 AND m.next_at > coalesce(m.last_started_at, 0) + 60000
        AND EXISTS (SELECT 1 FROM received_pushes p
          WHERE p.actor_id = c.actor_id AND p.received_at >= coalesce(m.last_started_at, 0))`,
  );
  if (pushed.length > 0) await deps.mirrors.copies.bringForward(pushed.map(({ id }) => id));
  return removeEnded(deps);
}

async function endUnfollowed(deps: CopyDeps): Promise<void> {
  const ids = async (where: string): Promise<string[]> =>
    (await rows<{ id: string }>(deps.db.read, `SELECT c.repository_id AS id FROM kept_copies c WHERE ${where}`)).map(
      ({ id }) => id,
    );
  const [ending, again] = await Promise.all([
    ids(`c.ends_at IS NULL AND NOT ${isFollowed}`),
    ids(`c.ends_at IS NOT NULL AND ${isFollowed}`),
  ]);
  const endsAt = deps.clock.now() + deps.settings.graceMs;
  for (const [some, end] of [
    [ending, endsAt],
    [again, null],
  ] as const) {
    if (some.length === 0) continue;
    await deps.db.write(({ manager }) => manager.update(keptCopySchema, { repositoryId: In(some) }, { endsAt: end }));
    await deps.mirrors.copies.pause(some, end !== null);
  }
}

async function followMoves(deps: CopyDeps): Promise<void> {
  const moved = await rows<{ id: string; address: string }>(
    deps.db.read,
    `SELECT c.repository_id AS id, a.clone_url AS address FROM kept_copies c
       CROSS JOIN mirrors m CROSS JOIN remote_actors a
      WHERE m.repository_id = c.repository_id AND a.id = c.actor_id AND a.clone_url IS NOT NULL AND a.clone_url <> m.url`,
  );
  for (const { id, address } of moved) await deps.mirrors.copies.move(id, address);
}

async function removeEnded(deps: CopyDeps): Promise<number> {
  const ended = await rows<{ id: string }>(
    deps.db.read,
    'SELECT repository_id AS id FROM kept_copies WHERE ends_at IS NOT NULL AND ends_at <= ?',
    [deps.clock.now()],
  );
  for (const { id } of ended) {
    await deps.repositories.trash.discard({ id });
    deps.logger.info('copy.ended', { repositoryId: id });
  }
  return ended.length;
}
