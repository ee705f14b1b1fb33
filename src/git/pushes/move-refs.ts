import { diskFull, internal, invalid, noRef, saysDiskFull } from '../../kernel/index.ts';
import { checked, readCommit } from '../objects/browse.ts';
import type { BrowseDeps } from '../objects/browse.ts';
import { refFailures } from './ref-move.ts';
import type { RefMove } from './ref-move.ts';
import type { RefResult } from './report-status.ts';
import { gerritFolders, isWellFormedRef, refuseRef } from '../refs/ref-name.ts';
import type { Semaphore } from '../../kernel/index.ts';
import { addPackedRefs } from './add-packed-refs.ts';
import { manyNewRefs, syncNewRefs } from './sync-new-refs.ts';
import { syncMovedRefs } from './sync-refs.ts';
import type { GitRunner } from '../processes/git-runner.ts';
import type { ObjectReaders } from '../objects/object-readers.ts';

export interface MoveDeps {
  runner: GitRunner;
  readers: ObjectReaders;
  /** Slots of pushes. */
  slots: Semaphore;
}

const longMs = 10 * 60_000;
/** Namespace of the server's own refs; hidden from clients. */
const hiddenFolder = 'refs/hearth/';
/**
 * Limit of moves that are retried one by one after a failed transaction; a copy of a large project would take too long.
 */
const maxSingles = 500;

/**
 * Moves refs by compare-and-set; a ref that has moved in the meantime stays. All moves share one transaction if it
 * succeeds, else they run one by one: a conflicting name blocks no other ref.
 * @returns the result of each, in order
 */
export async function moveRefs(
  { runner, readers, slots }: MoveDeps,
  path: string,
  moves: readonly RefMove[],
): Promise<RefResult[]> {
  const results = new Map<RefMove, RefResult>();
  const wanted: RefMove[] = [];
  for (const move of moves) {
    const reason = refuseRef(Buffer.from(move.ref), noRef.test(move.oldId), gerritFolders);
    if (reason === null) wanted.push(move);
    else results.set(move, { ref: move.ref, ok: false, reason });
  }
  const release = await slots.acquire({ repository: path });
  try {
    const written = await writeRefs({ runner, readers }, path, wanted);
    for (const [at, move] of wanted.entries()) results.set(move, written[at]!);
  } finally {
    release();
  }
  return moves.map((move) => results.get(move)!);
}

/**
 * The same for checked names and a caller that has a slot. Returned results are durable.
 * @param options.isAtomic whether one failed move prevents all
 */
export async function writeRefs(
  { runner, readers }: Pick<MoveDeps, 'runner' | 'readers'>,
  path: string,
  moves: readonly RefMove[],
  { isAtomic = false }: { isAtomic?: boolean } = {},
): Promise<RefResult[]> {
  const isBulk =
    moves.length >= manyNewRefs && moves.every(({ oldId, newId }) => noRef.test(oldId) && !noRef.test(newId));
  const packed = isBulk ? await addPackedRefs(readers, path, moves, { isAtomic }) : null;
  if (packed !== null) return packed;
  const results = new Map<RefMove, RefResult>();
  // Deletions come first, to free names: `a` for `a/b`.
  const [others, deleted] = [
    moves.filter(({ newId }) => !noRef.test(newId)),
    moves.filter(({ newId }) => noRef.test(newId)),
  ];
  for (const some of [deleted, others]) {
    const errorText = await updateRefs(runner, path, some, isBulk);
    for (const [at, move] of some.entries()) {
      const words =
        errorText === null
          ? null
          : some.length === 1 || at >= maxSingles || isAtomic
            ? errorText
            : await updateRefs(runner, path, [move]);
      results.set(move, words === null ? { ref: move.ref, ok: true } : { ref: move.ref, ok: false, reason: words });
    }
  }
  const verdicts = moves.map((move) => results.get(move)!);
  // git only renames: without the sync a power failure would undo an acknowledged move.
  if (isBulk) await syncNewRefs(runner, path, verdicts);
  else
    await syncMovedRefs(
      path,
      verdicts,
      moves.some(({ newId }) => noRef.test(newId)),
    );
  return verdicts;
}

/**
 * Keeps unreachable objects through refs below `refs/hearth/`. Idempotent. Skips missing objects.
 * @returns the names that exist now
 */
export async function keepObjects(
  { runner }: Pick<MoveDeps, 'runner'>,
  path: string,
  tips: readonly { name: string; oid: string }[],
): Promise<string[]> {
  const keep = (some: typeof tips) =>
    runUpdates(runner, path, some.map(({ name, oid }) => `update ${hidden(name)}\0${checked(oid)}\0\0`).join(''));
  // One transaction for all; it fails if a single object is missing.
  if (tips.length > 1 && (await keep(tips)) === null) return tips.map(({ name }) => name);
  const done: string[] = [];
  for (const one of tips) if ((await keep([one])) === null) done.push(one.name);
  return done;
}

/**
 * Sets or removes `refs/pull/<number>/<name>`, which clients may fetch but only the server moves: the head of a pull
 * request, and the merge commit for CI. Unconditional, because the rows of pull requests decide.
 */
export async function setPullRef(
  { runner }: Pick<MoveDeps, 'runner'>,
  path: string,
  number: number,
  name: 'head' | 'merge',
  oid: string | null,
): Promise<void> {
  const ref = pullRef(number, name);
  const command = oid === null ? `delete ${ref}\0\0` : `update ${ref}\0${checked(oid)}\0\0`;
  const errorText = await runUpdates(runner, path, command);
  if (errorText !== null) throw internal('git could not set the ref of a pull request', { cause: errorText });
  await syncMovedRefs(path, [{ ref, ok: true }], oid === null);
}

/**
 * Moves `refs/pull/<number>/head` by compare-and-set.
 * @param from expected value; null for no ref
 * @returns whether the ref had that value
 */
export async function movePullHead(
  { runner }: Pick<MoveDeps, 'runner'>,
  path: string,
  number: number,
  { from, to }: { from: string | null; to: string },
): Promise<boolean> {
  const ref = pullRef(number, 'head');
  const reason = await updateRefs(runner, path, [{ ref, oldId: from ?? '0'.repeat(to.length), newId: to }]);
  if (reason === refFailures.moved) return false;
  if (reason !== null) throw internal('git could not set the ref of a pull request', { cause: reason });
  await syncMovedRefs(path, [{ ref, ok: true }], false);
  return true;
}

function pullRef(number: number, name: 'head' | 'merge'): string {
  if (!Number.isSafeInteger(number) || number < 1) throw internal('not the number of a pull request');
  return `refs/pull/${number}/${name}`;
}

/** Removes refs that `keepObjects` created; ignores missing names. */
export async function releaseObjects(
  { runner }: Pick<MoveDeps, 'runner'>,
  path: string,
  names: readonly string[],
): Promise<void> {
  const errorText = await runUpdates(runner, path, names.map((name) => `delete ${hidden(name)}\0\0`).join(''));
  if (errorText !== null) throw internal('git could not remove a ref', { cause: errorText });
}

function hidden(name: string): string {
  const ref = hiddenFolder + name;
  if (!isWellFormedRef(ref)) throw internal('not a name for a hidden ref');
  return ref;
}

/** Number of commits read one by one before git walks all history. */
const closeCommits = 32;

/**
 * Whether a ref move is a fast-forward: the old commit is an ancestor of the new one. Always false for other objects,
 * such as tag objects. Throws `git_busy`.
 */
export async function isForward(
  { runner, readers, shortSlots, limits }: BrowseDeps,
  path: string,
  from: string,
  to: string,
): Promise<boolean> {
  if (checked(from) === checked(to)) return true;
  const isNear = await readers.use(path, async (reader) => {
    const infos = await reader.infos([from, to]);
    if (infos.some((info) => info?.type !== 'commit')) return false;
    const seen = new Set([to]);
    for (const id of seen) {
      if (id === from) return true;
      if (seen.size > closeCommits) return null;
      for (const parent of (await readCommit(reader, id)).parents) seen.add(parent);
    }
    return false;
  });
  if (isNear !== null) return isNear;
  const release = await shortSlots.acquire({ repository: path });
  try {
    const argv = [`--git-dir=${path}`, 'rev-list', '--max-count=1', from, '--not', to, '--'];
    const { code, output, errorText } = await runner.run({ argv, timeLimitMs: limits.shortMs, yields: true }, 4_096);
    if (code !== 0) throw internal('git could not compare commits', { cause: { code, errorText } });
    return output.length === 0;
  } finally {
    release();
  }
}

/** Null, or git's reason for refusing: one line without internal details of the server. */
async function updateRefs(
  runner: GitRunner,
  path: string,
  moves: readonly RefMove[],
  isBulk = false,
): Promise<string | null> {
  const failure = await runUpdates(runner, path, moves.map(commandOf).join(''), isBulk);
  if (failure === null) return null;
  if (/cannot create/.test(failure)) return refFailures.nameTaken;
  if (/but expected|already exists|unable to resolve/.test(failure)) return refFailures.moved;
  return /\.lock': File exists/.test(failure) ? refFailures.locked : refFailures.refused;
}

function commandOf({ ref, oldId, newId }: RefMove): string {
  const [from, to] = [checked(oldId), checked(newId)];
  if (noRef.test(to)) return `delete ${ref}\0${from}\0`;
  // Creates a ref only if it does not exist; moves it only from the expected value.
  return noRef.test(from) ? `create ${ref}\0${to}\0` : `update ${ref}\0${to}\0${from}\0`;
}

/** @param isBulk whether git leaves the refs unsynced, because they are synced together afterwards */
async function runUpdates(runner: GitRunner, path: string, commands: string, isBulk = false): Promise<string | null> {
  if (commands === '') return null;
  if (/[\n]/.test(commands)) throw invalid('invalid_ref_name', 'This is not a valid ref name.');
  const git = runner.start({
    argv: [
      `--git-dir=${path}`,
      ...(isBulk ? ['-c', 'core.fsync=objects,-reference'] : []),
      'update-ref',
      '--stdin',
      '-z',
    ],
    timeLimitMs: longMs,
    takesInput: true,
  });
  git.stdout?.resume();
  git.stdin?.end(commands);
  const { code, stoppedBy } = await git.exited;
  if (stoppedBy !== null) throw internal('git did not move refs in time', { cause: stoppedBy });
  if (code !== 0 && saysDiskFull(git.stderrText())) throw diskFull(git.stderrText());
  return code === 0 ? null : git.stderrText() || 'git ended without a word';
}
