import { In } from 'typeorm';
import { viewerForLog } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import { inList } from '../db/index.ts';
import { conflict } from '../kernel/index.ts';
import type { Repository } from '../repositories/index.ts';
import { hostOf } from './describe-mirror.ts';
import { noSsh } from './import-repository.ts';
import { readInput } from './mirror-input.ts';
import { mirrorSchema } from './mirror-schema.ts';
import { newMirrorState } from './mirror-state.ts';
import type { MirrorRow } from './mirror-schema.ts';
import type { MirrorDeps } from './deps.ts';
import { openHttpRemote, probeAddress } from './remote-credentials.ts';
import { parseRemoteAddress } from './remote-address.ts';
import { deleteFetchedRefs } from './delete-fetched-refs.ts';

/** Interval of comparing a copy with its origin, if no Push activity arrives. */
const intervalMs = 8 * 3_600_000;
/** Minimum interval between fetches of a copy. */
export const copyPauseMs = 60_000;

interface NewCopy {
  /** Username of its keeper, and its name there. */
  owner: string;
  name: string;
  description: string;
  /** An http or https URL, without credentials. */
  address: string;
  /** The actor that published it. */
  copiedFrom: string;
}

/** Throws `mirror_is_copy` for a kept copy, which follows only its origin. */
export function refuseCopiedMirror(row: Pick<MirrorRow, 'isCopy'> | null): void {
  if (row?.isCopy === true)
    throw conflict(
      'mirror_is_copy',
      'This is a kept copy that follows its origin. Turn it into your own repository to change that.',
    );
}

/**
 * Creates a public, read-only repository that follows another one, and starts its first transfer, after contacting the
 * remote. Throws `mirror_address_refused`, `invalid_mirror`, and errors of `createRepository`.
 */
export async function addCopy(
  deps: MirrorDeps,
  viewer: Viewer,
  { address: given, ...repository }: NewCopy,
): Promise<Repository> {
  const { address } = readInput({ direction: 'pull', address: given, intervalMs, prune: true });
  await probeAddress(address.text, async () => {
    if (address.kind !== 'http') throw new Error('a copy is by http');
    await deps.git.remotes.list(await openHttpRemote(deps, address, { username: '', secret: '' }));
  });
  const made = await deps.repositories.create(viewer, { ...repository, visibility: 'PUBLIC' });
  await deps.db.write(({ manager, now }) =>
    manager.insert(mirrorSchema, {
      repositoryId: made.id,
      direction: 'pull',
      url: address.text,
      username: '',
      secretCiphertext: null,
      ...noSsh,
      offeredHostKey: null,
      intervalMs,
      prune: true,
      withReleases: false,
      ...newMirrorState(now),
      isCopy: true,
    }),
  );
  const host = hostOf(address.text);
  deps.logger.info('mirror.saved', { repositoryId: made.id, direction: 'pull', host, by: viewerForLog(viewer) });
  return made;
}

/** Makes copies due, at the earliest a minute after their last transfer; paused ones are not changed. */
export async function bringCopiesForward({ db }: MirrorDeps, repositoryIds: readonly string[]): Promise<void> {
  await db.write(({ manager, now }) =>
    manager.query(
      `UPDATE mirrors SET next_at = ${nextCopyAt}
        WHERE ${inList('repository_id')} AND is_copy = 1 AND is_paused = 0 AND next_at > ${nextCopyAt}`,
      [now, now, JSON.stringify(repositoryIds), now, now],
    ),
  );
}

const earliest = `coalesce(last_started_at, 0) + ${copyPauseMs}`;
/** An SQL expression with the current time as its parameter, twice. */
const nextCopyAt = `CASE WHEN ${earliest} > ? THEN ${earliest} ELSE ? END`;

/** Pauses or resumes the transfers of copies. */
export async function pauseCopies(
  { db }: MirrorDeps,
  repositoryIds: readonly string[],
  isPaused: boolean,
): Promise<void> {
  await db.write(({ manager, now }) =>
    manager.update(mirrorSchema, { repositoryId: In([...repositoryIds]), isCopy: true }, { isPaused, updatedAt: now }),
  );
}

/** Changes the URL of a copy after its origin has moved. An unusable URL changes nothing. */
export async function moveCopy({ db, logger }: MirrorDeps, repositoryId: string, address: string): Promise<void> {
  let text: string;
  try {
    text = parseRemoteAddress(address).text;
  } catch (error) {
    return logger.warn('mirror.address_unusable', { repositoryId, error });
  }
  await db.write(({ manager, now }) =>
    manager.update(mirrorSchema, { repositoryId, isCopy: true }, { url: text, updatedAt: now }),
  );
}

/** Removes the mirror of a copy, whose content stays. For a copy that becomes a repository of its own. */
export async function endCopy(deps: MirrorDeps, repositoryId: string, path: string): Promise<void> {
  await deps.db.write(({ manager }) => manager.delete(mirrorSchema, { repositoryId, isCopy: true }));
  await deleteFetchedRefs(deps.git, path);
}
