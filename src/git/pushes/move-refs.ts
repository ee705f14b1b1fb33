import { internal, invalid } from '../../kernel/index.ts';
import { checked, readCommit } from '../objects/browse.ts';
import type { BrowseDeps } from '../objects/browse.ts';
import type { RefResult } from './push-report.ts';
import { gerritFolders, isWellFormedRef, refuseRef } from '../refs/ref-name.ts';
import type { Semaphore } from '../../kernel/index.ts';
import { syncMovedRefs } from './sync-refs.ts';
import type { GitRunner } from '../processes/git-runner.ts';

/** A ref that the server itself moves. Ids are full; all zero means "no ref". */
export interface RefMove {
  ref: string;
  oldId: string;
  newId: string;
}

export interface MoveDeps {
  door: GitRunner;
  /** Of pushes. */
  slots: Semaphore;
}

const longMs = 10 * 60_000;
const noRef = /^0+$/;
/** Where refs that only the server knows live; clients never see them. */
const hiddenFolder = 'refs/hearth/';
/** After a refusal so many are tried one by one; a copy of a large project would take for ever. */
const maxSingles = 500;

/**
 * Moves refs from what they are said to be; one that is elsewhere by now stays.
 * All together when that works, else each for itself: a name that stands in the way
 * of another one keeps nobody else back.
 * @returns the verdict on each, in order
 */
export async function moveRefs(
  { door, slots }: MoveDeps,
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
    // What goes makes room first: `a` for `a/b`.
    const [others, deleted] = [
      wanted.filter(({ newId }) => !noRef.test(newId)),
      wanted.filter(({ newId }) => noRef.test(newId)),
    ];
    for (const some of [deleted, others]) {
      const complaint = await updateRefs(door, path, some);
      for (const [at, move] of some.entries()) {
        const words =
          complaint === null
            ? null
            : some.length === 1 || at >= maxSingles
              ? complaint
              : await updateRefs(door, path, [move]);
        results.set(move, words === null ? { ref: move.ref, ok: true } : { ref: move.ref, ok: false, reason: words });
      }
    }
  } finally {
    release();
  }
  const verdicts = moves.map((move) => results.get(move)!);
  // git only renames: without this a power failure takes back what somebody was told.
  await syncMovedRefs(
    path,
    verdicts,
    moves.some(({ newId }) => noRef.test(newId)),
  );
  return verdicts;
}

/**
 * Keeps objects that no branch leads to any more, under names below `refs/hearth/`.
 * Doing it again changes nothing. An object that is gone already is passed over.
 * @returns the names that are kept now
 */
export async function keepObjects(
  { door }: Pick<MoveDeps, 'door'>,
  path: string,
  kept: readonly { name: string; oid: string }[],
): Promise<string[]> {
  const keep = (some: typeof kept) =>
    runUpdates(door, path, some.map(({ name, oid }) => `update ${hidden(name)}\0${checked(oid)}\0\0`).join(''));
  // All of them at once, which fails when a single object is gone.
  if (kept.length > 1 && (await keep(kept)) === null) return kept.map(({ name }) => name);
  const done: string[] = [];
  for (const one of kept) if ((await keep([one])) === null) done.push(one.name);
  return done;
}

/** Lets go of what `keepObjects` kept; a name that is not there is fine. */
export async function releaseObjects(
  { door }: Pick<MoveDeps, 'door'>,
  path: string,
  names: readonly string[],
): Promise<void> {
  const complaint = await runUpdates(door, path, names.map((name) => `delete ${hidden(name)}\0\0`).join(''));
  if (complaint !== null) throw internal('git could not remove a ref', { cause: complaint });
}

function hidden(name: string): string {
  const ref = hiddenFolder + name;
  if (!isWellFormedRef(ref)) throw internal('not a name for a hidden ref');
  return ref;
}

/** How many commits are looked at one by one before git walks all history. */
const closeCommits = 32;

/**
 * Whether a ref that goes from one object to another loses nothing: the new commit has
 * the old one behind it. What is no commit (a tag's object, for one) never goes forward.
 * Refuses `git_busy`.
 */
export async function isForward(
  { door, readers, shortSlots, limits }: BrowseDeps,
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
    const { code, output, complaint } = await door.run({ argv, timeLimitMs: limits.shortMs, yields: true }, 4_096);
    if (code !== 0) throw internal('git could not compare commits', { cause: { code, complaint } });
    return output.length === 0;
  } finally {
    release();
  }
}

/** Null, or why git refused: one line without what only the server knows. */
async function updateRefs(door: GitRunner, path: string, moves: readonly RefMove[]): Promise<string | null> {
  const said = await runUpdates(door, path, moves.map(commandOf).join(''));
  if (said === null) return null;
  if (/cannot create/.test(said)) return 'another name stands in its way';
  if (/but expected|already exists|unable to resolve/.test(said)) return 'it has moved meanwhile';
  return 'git refused it';
}

function commandOf({ ref, oldId, newId }: RefMove): string {
  const [from, to] = [checked(oldId), checked(newId)];
  if (noRef.test(to)) return `delete ${ref}\0${from}\0`;
  // Made only where nothing is, moved only from where it is said to be.
  return noRef.test(from) ? `create ${ref}\0${to}\0` : `update ${ref}\0${to}\0${from}\0`;
}

async function runUpdates(door: GitRunner, path: string, commands: string): Promise<string | null> {
  if (commands === '') return null;
  if (/[\n]/.test(commands)) throw invalid('invalid_ref_name', 'This is not a name for a ref.');
  const git = door.start({
    argv: [`--git-dir=${path}`, 'update-ref', '--stdin', '-z'],
    timeLimitMs: longMs,
    takesInput: true,
  });
  git.stdout?.resume();
  git.stdin?.end(commands);
  const { code, stoppedBy } = await git.exited;
  if (stoppedBy !== null) throw internal('git did not move refs in time', { cause: stoppedBy });
  return code === 0 ? null : git.stderrText() || 'git ended without a word';
}
