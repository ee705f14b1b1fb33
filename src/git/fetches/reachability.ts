import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { internal, visitAll } from '../../kernel/index.ts';
import { openCommitGraph } from '../last-commits/commit-graph.ts';
import type { GitLimits } from '../limits.ts';
import type { ObjectReaders } from '../objects/object-readers.ts';
import type { Reachability } from '../objects/reachability.ts';
import type { GitRunner } from '../processes/git-runner.ts';
import type { RefSnapshot } from '../ref-cache/ref-snapshot.ts';
import type { RefCache } from '../ref-cache/ref-cache.ts';
import type { Semaphore } from '../../kernel/index.ts';

interface ReachabilityDeps {
  runner: GitRunner;
  readers: ObjectReaders;
  refCache: RefCache;
  /** Slots of clones: a walk over all objects costs as much as a clone. */
  slots: Semaphore;
  shortSlots: Semaphore;
  limits: GitLimits;
}

/** Limit of ids remembered per state of the refs, beyond those that refs name. */
const maxProvedIds = 100_000;
/** Number of ids looked up at once: few at first, because a single missing id ends the lookup. */
const firstIds = 50;
const idsAtOnce = 5_000;
/**
 * Limits of commits that are sought in the commit-graph, and of tips that the search starts from; git walks from all
 * tips at once.
 */
const maxSoughtInGraph = 200;
const maxTipsInGraph = 50;

/** Every id that a ref names, including peeled ids. */
async function idsOf({ refs, head }: RefSnapshot): Promise<Set<string>> {
  const ids = new Set(head.ref === null ? [] : [head.ref.oid]);
  await visitAll(refs, ({ oid, peeled }) => {
    ids.add(oid);
    if (peeled) ids.add(peeled);
  });
  return ids;
}

const visible = ['--exclude-hidden=uploadpack', '--all'];

export function createReachability({
  runner,
  readers,
  refCache,
  slots,
  shortSlots,
  limits,
}: ReachabilityDeps): Reachability {
  /** Ids proved reachable, valid for the lifetime of the snapshot. */
  const proved = new WeakMap<RefSnapshot, Promise<Set<string>>>();

  async function knownIds(repository: string): Promise<Set<string>> {
    const snapshot = await refCache.of(repository);
    if (snapshot === null) return new Set();
    const known = proved.get(snapshot) ?? idsOf(snapshot);
    proved.set(snapshot, known);
    return known;
  }

  /**
   * The commits that the commit-graph proves reachable from HEAD or one of the first refs, without a process. Says
   * nothing about the others.
   */
  async function provedByGraph(repository: string, oids: readonly string[]): Promise<Set<string>> {
    const isWorthIt = limits.readCommitGraph && oids.length > 0 && oids.length <= maxSoughtInGraph;
    const snapshot = isWorthIt ? await refCache.of(repository) : null;
    const graph = snapshot === null ? null : await openCommitGraph(repository);
    if (snapshot === null || graph === null) return new Set();
    const { refs, head } = snapshot;
    const tips = (head.ref === null ? [] : [head.ref]).concat(refs.slice(0, maxTipsInGraph));
    return new Set(
      graph.reachable(
        tips.map(({ oid, peeled }) => peeled ?? oid),
        oids,
      ),
    );
  }

  /** Object ids that git lists for these arguments; `input` is a list of ids. Stops when `isEnough` returns true. */
  async function list(
    repository: string,
    argv: readonly string[],
    input: readonly string[],
    onId: (oid: string) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const git = runner.start({
      argv: [`--git-dir=${repository}`, 'rev-list', ...argv],
      timeLimitMs: argv.includes('--objects') ? limits.transferMs : limits.shortMs,
      takesInput: true,
      signal,
    });
    git.stdin!.end(input.map((oid) => `${oid}\n`).join(''));
    let rest = '';
    let isEnough = false;
    git.stdout!.setEncoding('latin1').on('data', (text: string) => {
      if (isEnough) return;
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      isEnough = lines.some((line) => onId(line.split(' ', 1)[0]!));
      if (isEnough) git.stop('aborted');
    });
    const { code, stoppedBy } = await git.exited;
    signal?.throwIfAborted();
    if (!isEnough && (code !== 0 || stoppedBy !== null)) {
      throw internal('git could not tell what its refs lead to', {
        cause: { argv, code, stoppedBy, errorText: git.stderrText() },
      });
    }
  }

  /** The commits that are unreachable from every visible ref. */
  async function unreachableAmongCommits(
    repository: string,
    oids: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<Set<string>> {
    const wanted = new Set(oids);
    const unreachable = new Set<string>();
    const addOid = (oid: string) => {
      if (wanted.has(oid)) unreachable.add(oid);
      return false;
    };
    if (oids.length > 0) await list(repository, ['--stdin', '--not', ...visible], oids, addOid, signal);
    return unreachable;
  }

  /**
   * The trees, blobs and tag objects that are unreachable. A bitmap proves most of them reachable in one step; the
   * others need a walk over all objects.
   */
  async function unreachableAmongOthers(
    repository: string,
    oids: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<Set<string>> {
    const open = new Set(oids);
    if (open.size === 0) return open;
    if (await hasBitmap(repository)) {
      const unproved = new Set<string>();
      const addOid = (oid: string) => {
        if (open.has(oid)) unproved.add(oid);
        return false;
      };
      await list(repository, ['--objects', '--use-bitmap-index', '--stdin', '--not', ...visible], oids, addOid, signal);
      for (const oid of oids) if (!unproved.has(oid)) open.delete(oid);
      if (open.size === 0) return open;
    }
    await list(repository, ['--objects', ...visible], [], (oid) => open.delete(oid) && open.size === 0, signal);
    return open;
  }

  return {
    async firstUnreachable(repository, oids, signal) {
      const known = await knownIds(repository);
      const unknown = [...new Set(oids)].filter((oid) => !known.has(oid));
      if (unknown.length === 0) return null;
      const [commits, others]: [string[], string[]] = [[], []];
      const unreachable = new Set<string>();
      for (let start = 0, count = firstIds; start < unknown.length && unreachable.size === 0; start += count) {
        if (start > 0) count = Math.min(idsAtOnce, start);
        const some = unknown.slice(start, start + count);
        const infos = await readers.use(repository, (reader) => reader.infos(some));
        some.forEach((oid, at) => {
          const type = infos[at]?.type;
          if (type === undefined) unreachable.add(oid);
          else (type === 'commit' ? commits : others).push(oid);
        });
      }
      const byGraph = unreachable.size === 0 ? await provedByGraph(repository, commits) : new Set<string>();
      const unproved = commits.filter((oid) => !byGraph.has(oid));
      // Ids that do not exist need no walk.
      if (unreachable.size === 0 && unproved.length + others.length > 0) {
        const release = await (others.length > 0 ? slots : shortSlots).acquire({ repository }, signal);
        try {
          for (const oid of await unreachableAmongCommits(repository, unproved, signal)) unreachable.add(oid);
          if (unreachable.size === 0)
            for (const oid of await unreachableAmongOthers(repository, others, signal)) unreachable.add(oid);
        } finally {
          release();
        }
      }
      if (unreachable.size === 0 && known.size + unknown.length <= maxProvedIds)
        for (const oid of unknown) known.add(oid);
      return unknown.find((oid) => unreachable.has(oid)) ?? null;
    },
    async unreachableCommits(repository, oids) {
      const known = await knownIds(repository);
      const asked = [...new Set(oids)].filter((oid) => !known.has(oid));
      const byGraph = await provedByGraph(repository, asked);
      if (known.size + byGraph.size <= maxProvedIds) for (const oid of byGraph) known.add(oid);
      const unknown = asked.filter((oid) => !byGraph.has(oid));
      if (unknown.length === 0) return new Set();
      const release = await shortSlots.acquire({ repository });
      try {
        const unreachable = await unreachableAmongCommits(repository, unknown, undefined);
        if (known.size + unknown.length <= maxProvedIds)
          for (const oid of unknown) if (!unreachable.has(oid)) known.add(oid);
        return unreachable;
      } finally {
        release();
      }
    },
  };
}

async function hasBitmap(repository: string): Promise<boolean> {
  const names = await readdir(path.join(repository, 'objects', 'pack')).catch(() => []);
  return names.some((name) => name.endsWith('.bitmap'));
}
