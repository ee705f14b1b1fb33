import { readExportJson, unreadableExport } from '../../issues/index.ts';
import type { CheckedExport, ImportFile, ImportSource } from '../../issues/index.ts';
import type { PullDeps } from '../deps.ts';
import { limits } from '../limits.ts';
import { reviewsFolder, roundRefs } from './portable-names.ts';
import { pullFiles } from './pull-file.ts';
import type { PullFile } from './pull-file.ts';

/** The code of a pull request in an export. */
interface ReadPull {
  pull: PullFile;
  /** Whether this instance wrote the files, so that ids of users in them are its own. */
  isOwn: boolean;
}

/** The repository into which a bundle was read. */
export interface ReadBundle {
  path: string;
  /** Names in the repository of the refs below `refs/hearth/`. */
  refs: ReadonlyMap<string, string>;
  /** Replaces `refs/hearth`. */
  folder: string;
}

/** Code of pull requests in an export whose files were all validated. */
export interface CheckedPulls {
  count: number;
  /** Reads one again, so that only one is in memory at a time. */
  read(number: number): Promise<ReadPull>;
}

const partName = /^([1-9]\d{0,9})(?:-([2-9]|[1-9]\d{1,2}))?\.json$/;
const maxFiles = 400_000;

/**
 * Reads the code of all pull requests of an export, to find errors before anything is written. Throws
 * `parcel_unreadable` for damaged or missing files, rounds whose commits are not in the bundle, reviews and threads
 * that refer to unknown rounds, and two open pull requests from one branch into another.
 */
export async function checkPulls(
  deps: PullDeps,
  source: ImportSource,
  logs: CheckedExport,
  bundle: ReadBundle,
): Promise<CheckedPulls> {
  const files = await findFiles(source);
  const open = new Map<string, number>();
  const read = async (number: number): Promise<ReadPull> => readPull(deps, files.get(number) ?? [], number);
  for (const number of logs.pulls) {
    const { pull } = await read(number);
    const { issue } = await logs.read(number);
    const path = `${reviewsFolder}/${number}.json`;
    if (pull.repository !== logs.index.repository) throw unreadableExport(path, 'is of another repository');
    if ((issue.state === 'merged') !== (pull.mergedAt !== null)) throw unreadableExport(path, 'has the other state');
    checkParts(pull, path);
    await checkCommits(deps, bundle, pull, path);
    if (issue.state !== 'open') continue;
    for (const key of keysOf(pull)) {
      const other = open.get(key);
      if (other !== undefined) throw unreadableExport(path, `is from the same branch as #${other}, and both are open`);
      open.set(key, number);
    }
  }
  return { count: logs.pulls.length, read };
}

/** Keys that only one open pull request of a repository may have. */
export function keysOf({ baseBranch, headBranch, isOwnBranch, topic, submitter }: PullFile): string[] {
  const keys: string[] = [];
  if (isOwnBranch && headBranch !== null) keys.push(JSON.stringify(['branch', baseBranch, headBranch]));
  if (topic !== null && submitter !== null) keys.push(JSON.stringify(['topic', baseBranch, submitter.name, topic]));
  return keys;
}

async function findFiles(source: ImportSource): Promise<Map<number, ImportFile[]>> {
  const found = new Map<number, Map<number, ImportFile>>();
  for (const file of await source.files(reviewsFolder, maxFiles)) {
    const [, number, part = '1'] = partName.exec(file.name) ?? [];
    if (number === undefined) continue;
    const parts = found.get(Number(number)) ?? new Map<number, ImportFile>();
    found.set(Number(number), parts.set(Number(part), file));
  }
  return new Map(
    [...found].map(([number, parts]) => {
      const inOrder = Array.from({ length: parts.size }, (_, at) => parts.get(at + 1));
      if (inOrder.includes(undefined)) throw unreadableExport(`${reviewsFolder}/${number}.json`, 'lacks a part');
      return [number, inOrder as ImportFile[]] as const;
    }),
  );
}

async function readPull(deps: PullDeps, files: readonly ImportFile[], number: number): Promise<ReadPull> {
  const { portable } = deps.issues;
  const [first, ...more] = files;
  if (first === undefined) throw unreadableExport(`${reviewsFolder}/${number}.json`, 'is missing');
  const [schemas, check] = [pullFiles(await portable.types()), await portable.check()];
  const path = ({ name }: ImportFile): string => `${reviewsFolder}/${name}`;
  const head = await readExportJson(first, path(first));
  const pull = check(schemas.head, head.value, path(first));
  if (pull.number !== number) throw unreadableExport(path(first), `has the number ${pull.number}`);
  let isOwn = portable.hasSeal(head.bytes);
  for (const [at, file] of more.entries()) {
    const { value, bytes } = await readExportJson(file, path(file));
    const part = check(schemas.part, value, path(file));
    if (part.number !== number || part.part !== at + 2 || part.repository !== pull.repository)
      throw unreadableExport(path(file), 'does not belong to the parts before it');
    isOwn &&= portable.hasSeal(bytes);
    pull.threads.push(...part.threads);
    if (pull.threads.length > limits.threads) throw unreadableExport(path(file), 'has too many threads');
  }
  return { pull, isOwn };
}

function checkParts({ rounds, reviews, threads }: PullFile, path: string): void {
  const wrong = (why: string) => unreadableExport(path, why);
  for (const [at, { round }] of rounds.entries())
    if (round !== at + 1) throw wrong(`has the round ${round} where ${at + 1} should be`);
  const last = rounds.length;
  const known = new Set(reviews.map(({ id }) => id));
  if (known.size !== reviews.length) throw wrong('has a review twice');
  const lost = reviews.find(({ round }) => round > last);
  if (lost !== undefined) throw wrong(`has a review of the round ${lost.round}, which is missing`);
  if (new Set(threads.map(({ id }) => id)).size !== threads.length) throw wrong('has a thread twice');
  let comments = 0;
  for (const thread of threads) {
    if (thread.round > last) throw wrong(`has a thread in the round ${thread.round}, which is missing`);
    const places = thread.places.map(({ round }) => round);
    if (places.some((round) => round > last) || new Set(places).size !== places.length)
      throw wrong('has a thread in a round that is missing');
    let before = 0;
    for (const { position, review } of thread.comments) {
      if (position <= before) throw wrong('has a comment twice, or out of order');
      if (!known.has(review)) throw wrong('has a comment of a review that is missing');
      before = position;
      comments += 1;
    }
  }
  if (comments > limits.comments) throw wrong('has too many comments');
}

/** Checks that the commits of each round are in the bundle under the names of an export. */
async function checkCommits({ git }: PullDeps, bundle: ReadBundle, { number, rounds }: PullFile, path: string) {
  for (const round of rounds)
    for (const [name, oid] of roundRefs(number, round, bundle.folder)) {
      const isThere =
        bundle.refs.get(name) === oid && (await git.objects.commit(bundle.path, oid).catch(() => null)) !== null;
      if (!isThere) throw unreadableExport(path, `lacks the commits of the round ${round.round}`);
    }
}
