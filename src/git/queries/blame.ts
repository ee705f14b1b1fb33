import { invalid } from '../../kernel/index.ts';
import { checked, entryAt, blob as readBlob, readCommit } from '../objects/browse.ts';
import type { BrowseDeps } from '../objects/browse.ts';
import type { Commit } from '../objects/parse-objects.ts';
import { pathArgument } from './history.ts';
import { lineSplitter, readGit } from './read-git.ts';
import { unquotePath } from './unquote-path.ts';

/** Consecutive lines from one commit. */
export interface BlameGroup {
  oid: string;
  /** The previous commit, and the file's name there; null if the lines were added. */
  previous: { oid: string; file: Buffer } | null;
  firstLine: number;
  lines: Buffer[];
}

export interface Blame {
  groups: BlameGroup[];
  commits: Map<string, Commit>;
  /** Whether commits in `.git-blame-ignore-revs` were skipped. */
  ignoresRevisions: boolean;
}

/** Limits in bytes and lines of a file, on pages and in the API; larger files are not blamed. */
export const maxBlameBytes = 512 * 1024;
const maxLines = 100_000;

const maxIgnored = 200;
const maxIgnoreFileBytes = 64 * 1024;

/**
 * The commit of each line of a file. Skips commits in the repository's `.git-blame-ignore-revs`. Throws `git_busy`, and
 * `blame_too_long` if there are too many lines, or git exceeds the time limit of a page.
 */
export async function blame(
  deps: BrowseDeps,
  path: string,
  oid: string,
  file: Buffer,
  signal?: AbortSignal,
): Promise<Blame> {
  const ignored = await ignoredRevisions(deps, path, oid);
  const argv = [
    'blame',
    '--porcelain',
    '--root',
    ...ignored.map((id) => `--ignore-rev=${id}`),
    checked(oid),
    '--',
    pathArgument(file),
  ];
  const reader = createReader();
  const splitter = lineSplitter(0x0a, reader.take);
  const whole = await readGit(deps, path, argv, splitter.feed, { signal });
  if (!whole) throw invalid('blame_too_long', 'The history of this file is too long for the blame view.');
  const ids = [...new Set(reader.groups.map((group) => group.oid))];
  const commits = await deps.readers.use(path, (objects) => Promise.all(ids.map((id) => readCommit(objects, id))));
  return {
    groups: reader.groups,
    commits: new Map(commits.map((commit) => [commit.oid, commit])),
    ignoresRevisions: ignored.length > 0,
  };
}

/** Ids in the ignore file that are commits of this repository: git fails on others. */
async function ignoredRevisions(deps: BrowseDeps, path: string, oid: string): Promise<string[]> {
  const entry = await entryAt(deps, path, oid, '.git-blame-ignore-revs').catch(() => null);
  if (entry === null || entry.type !== 'blob' || entry.kind === 'symlink') return [];
  const { content } = await readBlob(deps, path, entry.oid, { maxBytes: maxIgnoreFileBytes });
  const ids =
    content
      ?.toString('latin1')
      .split('\n')
      .flatMap((line) => /^\s*([0-9a-f]{40}|[0-9a-f]{64})\b/.exec(line)?.[1] ?? []) ?? [];
  const infos = await deps.readers.use(path, (reader) => reader.infos(ids.slice(0, maxIgnored)));
  return infos.flatMap((info) => (info?.type === 'commit' ? [info.oid] : []));
}

/** `<oid> <original line> <line> [<lines of the group>]`, headers, then a tab and the line itself. */
function createReader(): { groups: BlameGroup[]; take(line: Buffer): boolean } {
  const groups: BlameGroup[] = [];
  let lines = 0;
  const previous = new Map<string, BlameGroup['previous']>();
  return {
    groups,
    take(line) {
      const last = groups.at(-1);
      if (line[0] === 0x09) {
        last?.lines.push(Buffer.from(line.subarray(1)));
        return (lines += 1) <= maxLines;
      }
      const text = line.toString('latin1');
      const [, oid, number] = /^([0-9a-f]{40,64}) \d+ (\d+)/.exec(text) ?? [];
      if (oid !== undefined && last?.oid !== oid) {
        groups.push({ oid, previous: previous.get(oid) ?? null, firstLine: Number(number), lines: [] });
      } else if (text.startsWith('previous ') && last) {
        const [, id = '', file = ''] = /^previous (\S+) (.*)$/s.exec(text) ?? [];
        last.previous = { oid: id, file: unquotePath(file) };
        previous.set(last.oid, last.previous);
      }
      return true;
    },
  };
}
