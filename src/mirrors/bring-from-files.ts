import path from 'node:path';
import type { Readable } from 'node:stream';
import { isRefusal } from '../kernel/index.ts';
import type { Located } from '../repositories/index.ts';
import { nameMissing, splitRefs, takeRefs } from './bring-repository.ts';
import type { Brought } from './bring-repository.ts';
import { moveWiki } from './bring-wiki.ts';
import type { BroughtWiki } from './bring-wiki.ts';
import type { MirrorDeps } from './deps.ts';
import type { ReleasePage, TellName } from './releases/fetch-releases.ts';
import { releasesPrefix } from './releases/releases-prefix.ts';

/**
 * Imports refs from a bundle or a local repository, as `bringRefs` does from a forge. git checks all objects first.
 * Throws `parcel_unreadable`, `refs_exceed_push`, and errors of `applyUpdates`.
 * @param base the source's refs after the last complete transfer
 */
export async function bringRefsFrom(
  deps: MirrorDeps,
  located: Located,
  source: string,
  { signal, pullRefs, base }: { signal: AbortSignal; pullRefs: readonly string[]; base: ReadonlyMap<string, string> },
): Promise<Brought> {
  const { git, progress } = deps;
  const { id } = located.repository;
  const show = (text: string): void => void progress.set(id, text);
  return withScratch(deps, source, { signal, progress: show, more: pullRefs }, async (scratch) => {
    const found = await git.refs.list(scratch);
    const isPull = pullRefs.map((pattern) => pattern.split('*') as [string, string]);
    const { refs, pulls } = splitRefs(found);
    const heads = new Map(
      [...pulls].filter(([ref]) => isPull.some(([start, end]) => ref.startsWith(start) && ref.endsWith(end))),
    );
    await takeObjects(deps, scratch, located.path, [...refs.values(), ...heads.values()]);
    return takeRefs(deps, located, { refs, pulls: heads, base });
  }).finally(() => progress.delete(id));
}

/** Imports the pages of a wiki from a bundle or a local repository, as `bringWiki` does from a forge. */
export async function bringWikiFrom(
  deps: MirrorDeps,
  located: Located,
  source: string,
  { signal, base }: { signal: AbortSignal; base: ReadonlyMap<string, string> },
): Promise<BroughtWiki> {
  try {
    return await withScratch(deps, source, { signal }, async (scratch) => {
      const { refs } = splitRefs(await deps.git.refs.list(scratch));
      const { branch } = await deps.git.refs.head(scratch);
      const to = await deps.repositories.wikis.openAt(located.path);
      await takeObjects(deps, scratch, to, [...refs.values()]);
      return moveWiki(deps, to, { refs, head: branch, base });
    });
  } catch (error) {
    if (!isRefusal(error) || signal.aborted) throw error;
    return { moved: 0, problems: [error.message], refs: null };
  }
}

/**
 * Stores missing Git LFS objects.
 * @param open opens the content of an object; null if it is absent
 * @returns descriptions of what did not arrive
 */
export async function bringLfsFrom(
  { lfs, logger }: MirrorDeps,
  { repository, path: at }: Located,
  open: (oid: string) => Promise<Readable | null>,
  signal: AbortSignal,
): Promise<string[]> {
  if (!(await lfs.mirroring.takesObjects(repository.id))) return [];
  const lacking: string[] = [];
  const problems: string[] = [];
  for await (const pointers of lfs.mirroring.missing(repository.id, at, 'all'))
    for (const { oid, bytes } of pointers) {
      signal.throwIfAborted();
      const content = await open(oid);
      if (content === null) lacking.push(oid);
      else
        try {
          await lfs.mirroring.store(repository, { oid, bytes, content }, { hasQuota: true });
        } catch (error) {
          content.destroy();
          if (!isRefusal(error) || error.reason === 'disk_full') throw error;
          logger.warn('import.lfs_missing', { repositoryId: repository.id, oid, error });
          problems.push(`the object ${oid} did not come: ${error.message}`);
        }
    }
  return [...nameMissing(lacking), ...problems.slice(0, 20)];
}

/** Stores releases with their files. @returns descriptions of what did not arrive */
export async function bringReleasesFrom(
  deps: MirrorDeps,
  located: Located,
  pages: AsyncIterable<ReleasePage>,
  signal: AbortSignal,
  tellName: TellName,
): Promise<string[]> {
  try {
    const { storeReleases } = await import('./releases/fetch-releases.ts');
    await storeReleases(deps, located, pages, signal, tellName);
    return [];
  } catch (error) {
    if (!isRefusal(error) || signal.aborted) throw error;
    return [error.message.replace(releasesPrefix, '')];
  } finally {
    deps.progress.delete(located.repository.id);
  }
}

type ReadOptions = Parameters<MirrorDeps['git']['remotes']['bundles']['read']>[2];

async function withScratch<T>(
  { git, random, settings }: MirrorDeps,
  source: string,
  options: ReadOptions,
  work: (scratch: string) => Promise<T>,
): Promise<T> {
  const scratch = path.join(settings.temporaryFolder, `import-${random.uuid()}.git`);
  try {
    await git.remotes.bundles.read(source, scratch, options);
    return await work(scratch);
  } finally {
    await git.storage.remove(scratch);
  }
}

/** Fetches nothing if all of it is here already. */
async function takeObjects(
  { git }: MirrorDeps,
  scratch: string,
  target: string,
  tips: readonly string[],
): Promise<void> {
  const here = new Set((await git.refs.list(target)).values());
  if (tips.some((oid) => !here.has(oid))) await git.remotes.bundles.takeObjects(scratch, target);
}
