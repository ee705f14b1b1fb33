import type { ChangedFile, LineChange } from '../../git/index.ts';
import { nullIfNotFound } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { pathBytes, pathText } from '../encode-path.ts';
import type { ThreadPositionRow, ThreadRow } from '../schema/review-schema.ts';
import type { RoundRow } from '../schema/round-schema.ts';
import { shownRange } from './locate-thread.ts';
import { mapLines } from './map-lines.ts';

/** Origin of a thread. */
type TrackedThread = Pick<ThreadRow, 'id' | 'round' | 'commitOid' | 'path' | 'side' | 'firstLine' | 'lastLine'>;
type Heads = Pick<RoundRow, 'round' | 'headOid' | 'baseOid'>;
type GitDeps = Pick<PullDeps, 'git'>;

/** Limit of paths named in one comparison; above it the comparison names none. */
const maxNamedPaths = 200;

/**
 * Finds the positions of threads in a round, from the commit in which each was created: follows its file through
 * renames, and its lines through the differences. Never fails because of a file: one that cannot be compared counts as
 * changed.
 * @param path folder of the repository
 * @param rounds of the pull request, by number
 */
export async function trackThreads(
  deps: GitDeps,
  path: string,
  threads: readonly TrackedThread[],
  rounds: ReadonlyMap<number, Heads>,
  to: Heads,
): Promise<ThreadPositionRow[]> {
  const groups = new Map<string, { from: string; onto: string; threads: TrackedThread[] }>();
  const positions: ThreadPositionRow[] = [];
  for (const thread of threads) {
    const { from, onto } = await commitsOf(deps, path, thread, rounds, to);
    if (thread.path === null || from === null) positions.push(positionOf(thread, to.round, 'same'));
    else if (from === onto) positions.push(positionOf(thread, to.round, 'same', thread));
    else {
      const key = `${from} ${onto}`;
      const group = groups.get(key) ?? { from, onto, threads: [] };
      group.threads.push(thread);
      groups.set(key, group);
    }
  }
  for (const group of groups.values()) positions.push(...(await followGroup(deps, path, group, to.round)));
  return positions;
}

interface PlaceInFile {
  path: string | null;
  firstLine: number | null;
  lastLine: number | null;
}

const nowhere: PlaceInFile = { path: null, firstLine: null, lastLine: null };

const positionOf = (
  { id: threadId }: Pick<ThreadRow, 'id'>,
  round: number,
  state: ThreadPositionRow['state'],
  { path, firstLine, lastLine }: PlaceInFile = nowhere,
): ThreadPositionRow => ({ threadId, round, state, path, firstLine, lastLine });

/** The commit with the original lines of a thread, and the commit in which they are searched. */
async function commitsOf(
  deps: GitDeps,
  path: string,
  { round, commitOid, side }: TrackedThread,
  rounds: ReadonlyMap<number, Heads>,
  to: Heads,
): Promise<{ from: string | null; onto: string }> {
  if (side !== 'OLD') return { from: commitOid, onto: to.headOid };
  const own = rounds.get(round);
  const from = own === undefined ? null : (await shownRange(deps, path, own, commitOid)).from;
  return { from, onto: to.baseOid };
}

/** The file of a thread in the later commit. */
interface TrackedFile {
  newPath: Buffer;
  /** Null for identical content. */
  key: string | null;
}

async function followGroup(
  { git }: GitDeps,
  path: string,
  { from, onto, threads }: { from: string; onto: string; threads: readonly TrackedThread[] },
  round: number,
): Promise<ThreadPositionRow[]> {
  const { files, truncated } = await git.queries.listDiff(path, { from, to: onto });
  const byOldPath = new Map(files.flatMap((file) => (hasFollowed(file) ? [[keyOf(file.oldPath), file] as const] : [])));
  const followed = new Map<string, TrackedFile | null>();
  for (const thread of threads) {
    const oldPath = pathBytes(thread.path!);
    if (followed.has(thread.path!)) continue;
    const file = byOldPath.get(keyOf(oldPath));
    if (file !== undefined) followed.set(thread.path!, inLaterCommit(file));
    else
      followed.set(
        thread.path!,
        truncated ? await lookUp(git, path, from, onto, oldPath) : { newPath: oldPath, key: null },
      );
  }
  const needed = [...followed].flatMap(([oldPath, file]) => (file?.key ? [pathBytes(oldPath), file.newPath] : []));
  const changes =
    needed.length === 0 ? null : await git.queries.lineChanges(path, { from, to: onto, only: namedPaths(needed) });
  return threads.map((thread) => {
    const file = followed.get(thread.path!) ?? null;
    if (file === null) return positionOf(thread, round, 'gone');
    const newPath = pathText(file.newPath);
    const isMoved = newPath !== thread.path;
    const { firstLine, lastLine } = thread;
    if (firstLine === null || lastLine === null || file.key === null)
      return positionOf(thread, round, isMoved ? 'moved' : 'same', { path: newPath, firstLine, lastLine });
    const lines: LineChange[] | null | undefined = changes?.files.get(file.key);
    // Binary now, or beyond the limits of a comparison.
    if (lines === undefined || lines === null)
      return positionOf(thread, round, 'changed', { path: newPath, firstLine: null, lastLine: null });
    const mapped = mapLines(firstLine, lastLine, lines);
    if (mapped.state === 'kept') {
      const state = isMoved || mapped.firstLine !== firstLine ? 'moved' : 'same';
      return positionOf(thread, round, state, { ...mapped, path: newPath });
    }
    return positionOf(thread, round, mapped.state, { ...mapped, path: newPath });
  });
}

const keyOf = (path: Buffer): string => path.toString('latin1');

/** A copy leaves the original in place. */
const hasFollowed = ({ status }: ChangedFile): boolean => status !== 'added' && status !== 'copied';

function inLaterCommit({ status, oldOid, newOid, newPath, oldMode, newMode }: ChangedFile): TrackedFile | null {
  // A file that became a symbolic link or a submodule has no lines of the old one.
  if (status === 'deleted' || status === 'type-changed' || (oldMode === '160000') !== (newMode === '160000'))
    return null;
  return { newPath, key: oldOid === newOid ? null : `${oldOid}..${newOid}` };
}

/** Looks the file up by its path alone, if a comparison has more files than are listed. */
async function lookUp(
  git: PullDeps['git'],
  path: string,
  from: string,
  onto: string,
  file: Buffer,
): Promise<TrackedFile | null> {
  const [before, after] = await Promise.all(
    [from, onto].map((commit) => git.objects.entryAt(path, commit, file).catch(nullIfNotFound)),
  );
  if (!before || !after || before.type !== after.type) return null;
  return { newPath: file, key: before.oid === after.oid ? null : `${before.oid}..${after.oid}` };
}

/** Paths to compare, each once; empty for all files. */
function namedPaths(paths: readonly Buffer[]): Buffer[] {
  if (paths.length > 2 * maxNamedPaths) return [];
  return [...new Map(paths.map((path) => [path.toString('latin1'), path])).values()];
}
