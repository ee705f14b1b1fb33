import type { Readable } from 'node:stream';
import type { HttpRemote } from '../../git/index.ts';
import { eachLimit, isDomainError } from '../../kernel/index.ts';
import { releaseLimits } from '../../releases/index.ts';
import type { Located } from '../../repositories/index.ts';
import type { MirrorDeps } from '../deps.ts';
import { listRemoteReleases, openRemoteFile, releasesFailed } from './release-client.ts';
import { releasesPrefix } from './releases-prefix.ts';
import type { RemoteFile, RemoteRelease } from './remote-release.ts';

/** Files that come at the same time. */
const atOnce = 2;
/** A run ends before the claim of a mirror does; the next one goes on. */
const maxRunMs = 2 * 3_600_000;
/** Failures that the page of a mirror lists. */
const maxListed = 10;

/**
 * Brings the releases of a remote with their notes and files: new ones are added, those that came from there are
 * updated, files that are here are not fetched again. What was deleted there stays. Everything that can be had is
 * fetched; then refuses `remote_releases_failed` with the list of what did not arrive, so that the next run of the
 * mirror tries again.
 */
export async function fetchReleases(
  deps: MirrorDeps,
  located: Located,
  remote: HttpRemote,
  signal: AbortSignal,
): Promise<void> {
  async function* pages(): AsyncGenerator<ReleasePage> {
    for await (const { api, releases } of listRemoteReleases(deps, remote))
      yield { releases, open: (file) => openRemoteFile(deps, api, file) };
  }
  await storeReleases(deps, located, pages(), signal);
}

/** Releases, null for one that cannot be read, and how the content of their files is had. */
export interface ReleasePage {
  releases: (RemoteRelease | null)[];
  open(file: RemoteFile): Promise<Readable>;
}

/** Stores releases page by page. Refuses as `fetchReleases` does. */
export async function storeReleases(
  deps: MirrorDeps,
  { repository, path }: Located,
  pages: AsyncIterable<ReleasePage>,
  signal: AbortSignal,
): Promise<void> {
  const { logger, clock } = deps;
  const refs = await deps.git.refs.list(path);
  const failures: string[] = [];
  const end = clock.now() + maxRunMs;
  let [releases, files] = [0, 0];
  const attempt = async (what: string, work: () => Promise<void>): Promise<boolean> => {
    if (signal.aborted || clock.now() > end) {
      failures.push(`${what}: left for the next run`);
      return false;
    }
    try {
      await work();
      return true;
    } catch (error) {
      const why = isDomainError(error) && error.code !== 'internal' ? error.message : 'This server failed.';
      failures.push(`${what}: ${why.replace(releasesPrefix, '')}`);
      logger.warn('mirror.release_missing', { repositoryId: repository.id, what, error });
      return false;
    }
  };
  const bring = async (
    openFile: ReleasePage['open'],
    { release, files: remoteFiles }: RemoteRelease,
  ): Promise<void> => {
    const { tag } = release;
    await attempt(`the release ${tag}`, async () => {
      const stored = await deps.releases.foreign.store(repository, release, refs.get(`refs/tags/${tag}`) ?? null);
      releases += 1;
      const there = new Set(stored.files.map(({ origin }) => origin));
      const { wanted, left } = chooseFiles(remoteFiles, deps.releases.foreign.fileName);
      for (const name of left)
        failures.push(
          `${name} of ${tag}: a release has no two files of one name, and at most ${releaseLimits.filesPerRelease}`,
        );
      await eachLimit(
        wanted.filter(({ origin }) => !there.has(origin)),
        atOnce,
        async (file) => {
          const open = async () => stopWith(signal, await openFile(file));
          const isStored = await attempt(`${file.name} of ${tag}`, () =>
            deps.releases.foreign.storeFile(repository, stored.id, file, open),
          );
          if (isStored) files += 1;
          deps.progress.set(repository.id, `Fetching releases: ${releases}, with ${files} files`);
        },
      );
    });
  };
  for await (const { releases: page, open } of pages)
    for (const one of page) {
      if (one === null) failures.push('a release that cannot be read');
      else await bring(open, one);
      signal.throwIfAborted();
    }
  logger.info('mirror.releases', { repositoryId: repository.id, releases, files, failures: failures.length });
  if (failures.length > 0) throw releasesFailed(listOf(failures));
}

function listOf(failures: readonly string[]): string {
  const shown = failures.slice(0, maxListed).map((one) => one.slice(0, 200).replace(/\.$/, ''));
  const more = failures.length - shown.length;
  return `${failures.length} did not arrive. ${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

/** Those that a release can have: names once, not more than there may be. */
function chooseFiles(
  files: readonly RemoteFile[],
  nameOf: (name: string) => string,
): { wanted: RemoteFile[]; left: string[] } {
  const wanted = new Map<string, RemoteFile>();
  const left: string[] = [];
  for (const file of files)
    if (wanted.has(nameOf(file.name)) || wanted.size === releaseLimits.filesPerRelease) left.push(file.name);
    else wanted.set(nameOf(file.name), file);
  return { wanted: [...wanted.values()], left };
}

/** A server that stops waits for no long file. */
function stopWith<Content extends { destroy(error?: Error): unknown; once(event: 'close', done: () => void): unknown }>(
  signal: AbortSignal,
  content: Content,
): Content {
  const stop = (): void => void content.destroy(new Error('the server stops'));
  signal.addEventListener('abort', stop, { once: true });
  content.once('close', () => signal.removeEventListener('abort', stop));
  return content;
}
