import type { Readable } from 'node:stream';
import { checked } from '../browse.ts';
import type { BrowseDeps } from '../browse.ts';
import { pathArgument } from '../reading/history.ts';
import { CompareProcess } from './compare-process.ts';
import type { Pair } from './compare-process.ts';

export interface WalkRequest {
  oid: string;
  folder: Buffer;
  /** The entries of the folder, one character per byte. */
  names: readonly string[];
  /** The rows of the same folder at an earlier commit, when they are stored. */
  stored(oid: string): Promise<ReadonlyMap<string, string> | null> | null;
  /** Called for every entry as soon as its commit is known. */
  found(name: string, oid: string): void;
  timeLimitMs: number;
}

interface Line {
  oid: string;
  parents: readonly string[];
}

/** Commits are compared in batches that grow: most folders know their newest rows at once. */
const batches = { first: 64, most: 2_048 };
/** How far a side branch is compared ahead when a path turns into it. */
const lookAhead = 16;

/**
 * Finds the commit that last changed each entry of a folder: what `git log -1 -- <entry>`
 * answers, for all of them in one walk.
 *
 * Every entry begins at the tip. At each commit it goes on to the first parent in which
 * it is the same, mode and id, and ends where there is none: git's own simplification,
 * merges included. So an entry takes exactly one way through history, and commits that
 * no entry comes by are never compared. Git lists the commits, children first, and
 * compares them; two processes, whatever the size of the folder.
 *
 * Answers whether every entry was found in time. Refuses `git_busy`.
 */
export async function walkLastCommits(deps: BrowseDeps, path: string, request: WalkRequest): Promise<boolean> {
  const leave = await deps.shortSlots.take({ repository: path });
  const { folder, oid, timeLimitMs } = request;
  const memoryLimitBytes = deps.limits.readMemoryBytes;
  const list = deps.door.start({
    argv: [`--git-dir=${path}`, 'rev-list', '--topo-order', '--parents', checked(oid), '--'],
    timeLimitMs,
    memoryLimitBytes,
    yields: true,
  });
  const isRoot = folder.length === 0;
  const compare = new CompareProcess(deps.door, path, {
    prefix: isRoot ? '' : `${folder.toString('latin1')}/`,
    argument: isRoot ? null : pathArgument(folder),
    timeLimitMs,
    memoryLimitBytes,
  });
  try {
    const walk = new Walk(request, compare);
    for await (const batch of batchesOf(list.stdout!)) {
      await walk.take(batch);
      if (walk.isDone) break;
    }
    return walk.isDone;
  } finally {
    list.stop('aborted');
    await Promise.all([list.exited, compare.close()]);
    leave();
  }
}

class Walk {
  readonly #request: WalkRequest;
  readonly #compare: CompareProcess;
  /** Which entries have come to a commit that was not looked at yet. */
  readonly #at = new Map<string, string[]>();
  #pending: number;

  constructor(request: WalkRequest, compare: CompareProcess) {
    this.#request = request;
    this.#compare = compare;
    this.#pending = request.names.length;
    this.#at.set(request.oid, [...request.names]);
  }

  get isDone(): boolean {
    return this.#pending === 0;
  }

  /** @param batch commits in an order in which none comes after its parents */
  async take(batch: readonly Line[]): Promise<void> {
    const place = new Map(batch.map(({ oid }, index) => [oid, index]));
    const answers = new Map<string, Set<string>>();
    const ask = async (pairs: Pair[]): Promise<void> => {
      const fresh = pairs.filter((pair) => !answers.has(keyOf(pair)));
      (await this.#compare.differences(fresh)).forEach((names, index) => answers.set(keyOf(fresh[index]!), names));
    };
    await ask(this.#likely(batch));
    for (const { oid, parents } of batch) {
      const names = this.#at.get(oid);
      if (names === undefined) continue;
      this.#at.delete(oid);
      let left = await this.#takeStored(oid, names);
      for (const parent of parents) {
        if (left.length === 0) break;
        const pair = { oid, parent };
        if (!answers.has(keyOf(pair))) await ask([pair, ...chainFrom(parent, batch, place)]);
        const differing = answers.get(keyOf(pair))!;
        this.#handOn(parent, left.filter((name) => !differing.has(name)));
        left = left.filter((name) => differing.has(name));
      }
      for (const name of left) this.#answer(name, oid);
      if (this.isDone) return;
    }
  }

  /** What will surely or likely be asked: first parents of commits that hold entries, and of those parents. */
  #likely(batch: readonly Line[]): Pair[] {
    const expected = new Set(this.#at.keys());
    const pairs: Pair[] = [];
    for (const { oid, parents: [parent] } of batch) {
      if (parent === undefined || !expected.has(oid)) continue;
      expected.add(parent);
      pairs.push({ oid, parent });
    }
    return pairs;
  }

  async #takeStored(oid: string, names: string[]): Promise<string[]> {
    const rows = await this.#request.stored(oid);
    if (!rows) return names;
    return names.filter((name) => {
      const known = rows.get(name);
      if (known !== undefined) this.#answer(name, known);
      return known === undefined;
    });
  }

  #handOn(parent: string, names: string[]): void {
    if (names.length === 0) return;
    const there = this.#at.get(parent);
    if (there === undefined) this.#at.set(parent, names);
    else there.push(...names);
  }

  #answer(name: string, oid: string): void {
    this.#pending -= 1;
    this.#request.found(name, oid);
  }
}

const keyOf = ({ oid, parent }: Pair): string => `${oid} ${parent}`;

function chainFrom(oid: string, batch: readonly Line[], place: ReadonlyMap<string, number>): Pair[] {
  const pairs: Pair[] = [];
  let at = place.get(oid);
  while (at !== undefined && pairs.length < lookAhead) {
    const { oid: child, parents: [parent] } = batch[at]!;
    if (parent === undefined) break;
    pairs.push({ oid: child, parent });
    at = place.get(parent);
  }
  return pairs;
}

async function* batchesOf(stdout: Readable): AsyncGenerator<Line[]> {
  let batch: Line[] = [];
  let size = batches.first;
  let rest = '';
  for await (const piece of stdout) {
    const lines = (rest + (piece as Buffer).toString('latin1')).split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      const [oid = '', ...parents] = line.split(' ');
      batch.push({ oid, parents });
      if (batch.length < size) continue;
      yield batch;
      batch = [];
      size = Math.min(size * 2, batches.most);
    }
  }
  if (batch.length > 0) yield batch;
}
