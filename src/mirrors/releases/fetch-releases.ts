import type { Readable } from 'node:stream';
import type { HttpRemote } from '../../git/index.ts';
import { eachLimit, isRefusal } from '../../kernel/index.ts';
import { releaseLimits } from '../../releases/index.ts';
import type { Located } from '../../repositories/index.ts';
import type { MirrorDeps } from '../deps.ts';
import { listRemoteReleases, openRemoteFile, releasesFailed } from './release-client.ts';
import { releasesPrefix } from './releases-prefix.ts';
import type { RemoteFile, RemoteRelease } from './remote-release.ts';

/** Number of concurrent file downloads. */
const atOnce = 2;
/** A run ends before its mirror's claim expires; the next one continues. */
const maxRunMs = 2 * 3_600_000;
/** Limit of failures listed on the page of a mirror. */
const maxListed = 10;

/**
 * Imports the releases of a remote with their notes and files: adds new ones, updates imported ones, and does not fetch
 * existing files again. Releases deleted at the remote stay. Fetches all available files; then throws
 * `remote_releases_failed` with a list of the missing ones, so that the next run of the mirror tries again.
 */
export async function fetchReleases(
  deps: MirrorDeps,
  located: Located,
  remote: HttpRemote,
  signal: AbortSignal,
  tellName?: TellName,
): Promise<void> {
  async function* pages(): AsyncGenerator<ReleasePage> {
    for await (const { api, releases } of listRemoteReleases(deps, remote))
      yield { releases, open: (file) => openRemoteFile(deps, api, file) };
  }
  await storeReleases(deps, located, pages(), signal, tellName);
}

/** Releases, null for unreadable ones, and the function that opens their files. */
export interface ReleasePage {
  releases: (RemoteRelease | null)[];
  open(file: RemoteFile): Promise<Readable>;
}

/** Receives a sentence for each file that has another name here. */
export type TellName = (sentence: string) => void;

/** Stores releases page by page. Throws the errors of `fetchReleases`. */
export async function storeReleases(
  deps: MirrorDeps,
  { repository, path }: Located,
  pages: AsyncIterable<ReleasePage>,
  signal: AbortSignal,
  tellName: TellName = () => {},
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
      const why = isRefusal(error) ? error.message : 'This server failed.';
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
    if (tag.trim() === '') {
      failures.push(`the release ${nameWithoutTag(release)}: it has no tag there, and every release here needs one`);
      return;
    }
    await attempt(`the release ${visible(tag)}`, async () => {
      const stored = await deps.releases.foreign.store(repository, release, refs.get(`refs/tags/${tag}`) ?? null);
      releases += 1;
      const there = new Set(stored.files.map(({ origin }) => origin));
      const { wanted, left } = chooseFiles(remoteFiles, deps.releases.foreign.fileName);
      for (const name of left)
        failures.push(
          `${visible(name)} of ${tag}: a release cannot have two files with the same name, and at most ${releaseLimits.filesPerRelease}`,
        );
      const { fileName } = deps.releases.foreign;
      for (const { name } of wanted)
        if (fileName(name) !== name.normalize('NFC'))
          tellName(`the file ${visible(name)} of ${tag} is named ${visible(fileName(name))} here`);
      await eachLimit(
        wanted.filter(({ origin }) => !there.has(origin)),
        atOnce,
        async (file) => {
          const open = async () => stopWith(signal, await openFile(file));
          const isStored = await attempt(`${visible(file.name)} of ${tag}`, () =>
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

/** The title, or the last part of its address. */
const nameWithoutTag = ({ title, origin }: RemoteRelease['release']): string =>
  title.trim() === '' ? origin.slice(origin.lastIndexOf('/') + 1) || 'without a title' : `“${visible(title)}”`;

/** Control characters as a sign that shows them; a long text is cut. */
const visible = (text: string): string => {
  const shown = [...text.slice(0, 400).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '\ufffd')];
  return shown.length <= 120 ? shown.join('') : `${shown.slice(0, 120).join('')}…`;
};

function listOf(failures: readonly string[]): string {
  const shown = failures.slice(0, maxListed).map((one) => one.slice(0, 200).replace(/\.$/, ''));
  const more = failures.length - shown.length;
  return `${failures.length} did not arrive. ${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

/** Files that a release can have: unique names, within the limit. */
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

/** A stopping server does not wait for large files. */
function stopWith<Content extends { destroy(error?: Error): unknown; once(event: 'close', done: () => void): unknown }>(
  signal: AbortSignal,
  content: Content,
): Content {
  const stop = (): void => void content.destroy(new Error('the server stops'));
  signal.addEventListener('abort', stop, { once: true });
  content.once('close', () => signal.removeEventListener('abort', stop));
  return content;
}
