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

/** Without a Push that says so, a copy is compared with its origin every so often. */
const intervalMs = 8 * 3_600_000;
/** A copy is fetched at most once in this time. */
export const copyPauseMs = 60_000;

interface NewCopy {
  /** Handle of who keeps it, and its name there. */
  owner: string;
  name: string;
  description: string;
  /** An address of http or https, without credentials. */
  address: string;
  /** The actor that it comes from. */
  copiedFrom: string;
}

/** Refuses `mirror_is_copy` for a kept copy, which follows its origin alone. */
export function refuseCopiedMirror(row: Pick<MirrorRow, 'isCopy'> | null): void {
  if (row?.isCopy === true)
    throw conflict(
      'mirror_is_copy',
      'This is a kept copy: it follows its origin. Make it your own repository to change that.',
    );
}

/**
 * Makes a public, read-only repository that follows another one, and begins its first transfer. The remote is
 * contacted before. Refuses `mirror_address_refused`, `invalid_mirror`, and what `createRepository` refuses.
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

/** Makes copies due, a minute after their last transfer at the earliest; paused ones stay as they are. */
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
/** Takes the time twice. */
const nextCopyAt = `CASE WHEN ${earliest} > ? THEN ${earliest} ELSE ? END`;

/** Stops the transfers of copies until they are resumed, or resumes them. */
export async function pauseCopies(
  { db }: MirrorDeps,
  repositoryIds: readonly string[],
  isPaused: boolean,
): Promise<void> {
  await db.write(({ manager, now }) =>
    manager.update(mirrorSchema, { repositoryId: In([...repositoryIds]), isCopy: true }, { isPaused, updatedAt: now }),
  );
}

/** After its origin has moved: the address from which a copy is fetched. An unusable one changes nothing. */
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

/** Ends the mirror of a copy, whose content stays. For a copy that becomes a repository of its own. */
export async function endCopy(deps: MirrorDeps, repositoryId: string, path: string): Promise<void> {
  await deps.db.write(({ manager }) => manager.delete(mirrorSchema, { repositoryId, isCopy: true }));
  await deleteFetchedRefs(deps.git, path);
}
