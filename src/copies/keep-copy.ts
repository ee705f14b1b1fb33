import { viewerForLog } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import { conflict, invalid, isDomainError } from '../kernel/index.ts';
import type { Repository } from '../repositories/index.ts';
import type { CopyDeps } from './deps.ts';
import { refuseFullQuota } from './copy-allowance.ts';
import { describeCopies } from './describe-copies.ts';
import type { KeptCopy } from './describe-copies.ts';
import { keptCopySchema } from './kept-copy-schema.ts';

/**
 * Keeps a copy of a repository that a person follows: a public, read-only one of theirs, which follows the origin. A
 * second time it goes on with the same copy. Refuses what `federation.cloneSource`, `mirrors.copies.add` and
 * `createRepository` refuse, `copies_off`, `copy_quota`, `copy_in_trash`.
 * @param name of the copy; by default that of the origin, followed by its host when that is taken
 */
export async function keepCopy(
  deps: CopyDeps,
  viewer: Viewer,
  person: { id: string; username: string | null },
  followId: string,
  name?: string,
): Promise<{ copy: KeptCopy; isNew: boolean }> {
  const userId = person.id;
  const source = await deps.federation.cloneSource(userId, followId);
  const { actorId, handle, url } = source;
  const known = await deps.db.read.findOneBy(keptCopySchema, { userId, actorId });
  if (known !== null) {
    const [copy] = await describeCopies(deps, [known]);
    if (copy!.place === null)
      throw conflict(
        'copy_in_trash',
        'Your copy of this repository is in the trash. Restore it from there to keep it.',
      );
    await deps.db.write(({ manager }) =>
      manager.update(keptCopySchema, { repositoryId: known.repositoryId }, { endsAt: null }),
    );
    await deps.mirrors.sync(known.repositoryId);
    return { copy: (await describeCopies(deps, [{ ...known, endsAt: null }]))[0]!, isNew: false };
  }
  await refuseFullQuota(deps, userId);
  const owner = person.username ?? '';
  const origin = /^[^@]*\/([^@/]+)@/.exec(handle)?.[1] ?? '';
  const made = await firstFree(namesOf(name, origin, source.host), (free) =>
    deps.mirrors.copies.add(viewer, {
      owner,
      name: free,
      description: `Copy of ${handle}`.slice(0, 500),
      address: source.cloneUrl,
      copiedFrom: actorId,
    }),
  );
  const row = { repositoryId: made.id, userId, actorId, handle, url, createdAt: deps.clock.now(), endsAt: null };
  const isFirst = await deps.db.write(async ({ manager }) => {
    if (await manager.existsBy(keptCopySchema, { userId, actorId })) return false;
    await manager.insert(keptCopySchema, row);
    return true;
  });
  if (!isFirst) {
    // Asked for twice at once: the first one counts.
    await deps.repositories.trash.discard(made);
    return keepCopy(deps, viewer, person, followId, name);
  }
  deps.logger.info('copy.kept', { repositoryId: made.id, handle, by: viewerForLog(viewer) });
  return { copy: (await describeCopies(deps, [row]))[0]!, isNew: true };
}

function namesOf(wanted: string | undefined, origin: string, host: string): string[] {
  if (wanted !== undefined) return [wanted];
  const atHost = `${origin}-${host.replace(/[^a-z0-9.-]/g, '-')}`.slice(0, 90);
  return [
    origin,
    atHost,
    ...[2, 3, 4, 5].map((turn) => `${atHost}-${turn}`),
    `copy-${host.replace(/[^a-z0-9.-]/g, '-')}`,
  ];
}

async function firstFree(names: readonly string[], make: (name: string) => Promise<Repository>): Promise<Repository> {
  for (const name of names) {
    try {
      return await make(name);
    } catch (error) {
      const isName =
        isDomainError(error) && ['repository_name_taken', 'invalid_repository_name'].includes(error.reason);
      if (name === names.at(-1) || !isName) throw error;
    }
  }
  throw invalid('invalid_repository_name', 'Choose a name for the copy.', { field: 'name' });
}
