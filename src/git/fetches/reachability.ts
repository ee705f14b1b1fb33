import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { internal } from '../../kernel/index.ts';
import type { GitLimits } from '../limits.ts';
import type { ObjectReaders } from '../objects/object-readers.ts';
import type { Reachability } from '../objects/reachability.ts';
import type { GitRunner } from '../processes/git-runner.ts';
import type { RefSnapshot } from '../ref-cache/ref-snapshot.ts';
import type { RefCache } from '../ref-cache/ref-cache.ts';
import type { Semaphore } from '../../kernel/index.ts';

interface ReachabilityDeps {
  door: GitRunner;
  readers: ObjectReaders;
  tables: RefCache;
  /** Of clones: a look at all objects costs as much as one. */
  slots: Semaphore;
  shortSlots: Semaphore;
  limits: GitLimits;
}

/** Of one state of the refs, beyond what the refs name. */
const keptIds = 100_000;
const idsAtOnce = 5_000;
const visible = ['--exclude-hidden=uploadpack', '--all'];

export function createReachability({
  door,
  readers,
  tables,
  slots,
  shortSlots,
  limits,
}: ReachabilityDeps): Reachability {
  /** What was found within reach, for as long as the refs stay as they are. */
  const proved = new WeakMap<RefSnapshot, Set<string>>();

  async function knownIds(repository: string): Promise<Set<string>> {
    const table = await tables.of(repository);
    if (table === null) return new Set();
    let known = proved.get(table);
    if (known === undefined) {
      known = new Set(table.refs.flatMap(({ oid, peeled }) => (peeled ? [oid, peeled] : [oid])));
      if (table.head.ref !== null) known.add(table.head.ref.oid);
      proved.set(table, known);
    }
    return known;
  }

  /** What git lists for these arguments; `input` is a list of ids. Stops once `isEnough` says so. */
  async function list(
    repository: string,
    argv: readonly string[],
    input: readonly string[],
    onId: (oid: string) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const git = door.start({
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
        cause: { argv, code, stoppedBy, complaint: git.stderrText() },
      });
    }
  }

  /** Those commits that no visible ref leads to. */
  async function commitsBeyond(
    repository: string,
    oids: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<Set<string>> {
    const wanted = new Set(oids);
    const beyond = new Set<string>();
    const note = (oid: string) => {
      if (wanted.has(oid)) beyond.add(oid);
      return false;
    };
    if (oids.length > 0) await list(repository, ['--stdin', '--not', ...visible], oids, note, signal);
    return beyond;
  }

  /** Those folders, files and tag notes. With a bitmap most are proved in one step; the others by looking at everything. */
  async function othersBeyond(
    repository: string,
    oids: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<Set<string>> {
    const open = new Set(oids);
    if (open.size === 0) return open;
    if (await hasBitmap(repository)) {
      const unproved = new Set<string>();
      const note = (oid: string) => {
        if (open.has(oid)) unproved.add(oid);
        return false;
      };
      await list(repository, ['--objects', '--use-bitmap-index', '--stdin', '--not', ...visible], oids, note, signal);
      for (const oid of oids) if (!unproved.has(oid)) open.delete(oid);
      if (open.size === 0) return open;
    }
    await list(repository, ['--objects', ...visible], [], (oid) => open.delete(oid) && open.size === 0, signal);
    return open;
  }

  return {
    async firstBeyond(repository, oids, signal) {
      const known = await knownIds(repository);
      const unknown = [...new Set(oids)].filter((oid) => !known.has(oid));
      if (unknown.length === 0) return null;
      const [commits, others]: [string[], string[]] = [[], []];
      const beyond = new Set<string>();
      for (let start = 0; start < unknown.length; start += idsAtOnce) {
        const some = unknown.slice(start, start + idsAtOnce);
        const infos = await readers.use(repository, (reader) => reader.infos(some));
        some.forEach((oid, at) => {
          const type = infos[at]?.type;
          if (type === undefined) beyond.add(oid);
          else (type === 'commit' ? commits : others).push(oid);
        });
      }
      // What is not there at all needs no further look.
      if (beyond.size === 0) {
        const release = await (others.length > 0 ? slots : shortSlots).acquire({ repository }, signal);
        try {
          for (const oid of await commitsBeyond(repository, commits, signal)) beyond.add(oid);
          if (beyond.size === 0) for (const oid of await othersBeyond(repository, others, signal)) beyond.add(oid);
        } finally {
          release();
        }
      }
      if (beyond.size === 0 && known.size + unknown.length <= keptIds) for (const oid of unknown) known.add(oid);
      return unknown.find((oid) => beyond.has(oid)) ?? null;
    },
  };
}

async function hasBitmap(repository: string): Promise<boolean> {
  const names = await readdir(path.join(repository, 'objects', 'pack')).catch(() => []);
  return names.some((name) => name.endsWith('.bitmap'));
}
