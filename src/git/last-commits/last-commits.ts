import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../kernel/index.ts';
import { readCommit } from '../browse.ts';
import type { BrowseDeps } from '../browse.ts';
import type { LastCommit, Table, Tables } from './tables.ts';
import { walkLastCommits } from './walk.ts';

export interface LastCommitsRequest {
  oid: string;
  folder: Buffer;
  /** The folder's entries. */
  names: readonly Buffer[];
  /** How long the page waits for rows that nobody has asked for before, in milliseconds. */
  waitMs: number;
}

export interface LastCommits {
  /** By name, one character per byte; entries that are not known yet are missing. */
  rows: Table;
  /** Whether all are there. Otherwise they are being looked for, and the next page has them. */
  isComplete: boolean;
}

interface Search {
  /** Filled as the walk finds them. */
  found: Map<string, string>;
  table: Promise<Table | null>;
}

/** A walk may outlive the page that began it, but not for ever. */
const searchLimitMs = 60_000;
/** Walks at the same time; each is two processes. */
const maxSearches = 2;

/**
 * The column that says which commit last touched each entry of a folder. A page never
 * waits longer than it says: the search goes on without it and is stored.
 */
export function createLastCommits(deps: BrowseDeps, tables: Tables, logger: Logger): (path: string, request: LastCommitsRequest) => Promise<LastCommits> {
  const searches = new Map<string, Search>();

  async function search(path: string, { oid, folder, names }: LastCommitsRequest, found: Map<string, string>): Promise<Table | null> {
    const stored = await tables.storedAt(path, folder);
    const isWhole = await walkLastCommits(deps, path, {
      oid,
      folder,
      names: names.map((name) => name.toString('latin1')),
      stored: (at) => (stored.has(at) ? tables.read(path, folder, at).then((table) => table && idsOf(table)) : null),
      found: (name, commit) => found.set(name, commit),
      timeLimitMs: searchLimitMs,
    });
    if (!isWhole) return null;
    const table = await describe(deps, path, found);
    await tables.write(path, folder, oid, table);
    return table;
  }

  function begin(path: string, key: string, request: LastCommitsRequest): Search | null {
    if (searches.size >= maxSearches) return null;
    const found = new Map<string, string>();
    const table = search(path, request, found)
      .catch((error: unknown) => {
        logger.warn('git.last_commits_failed', { path, error });
        return null;
      })
      .finally(() => searches.delete(key));
    const begun = { found, table };
    searches.set(key, begun);
    return begun;
  }

  return async (path, request) => {
    const known = await tables.read(path, request.folder, request.oid);
    if (known) return { rows: known, isComplete: true };
    const key = `${path} ${request.oid} ${request.folder.toString('latin1')}`;
    const running = searches.get(key) ?? begin(path, key, request);
    if (running === null) return { rows: new Map(), isComplete: false };
    const inTime = new AbortController();
    const table = await Promise.race([running.table, sleep(request.waitMs, null, { signal: inTime.signal }).catch(() => null)]);
    inTime.abort();
    if (table) return { rows: table, isComplete: true };
    return { rows: await describe(deps, path, running.found), isComplete: false };
  };
}

const idsOf = (table: Table): Map<string, string> => new Map([...table].map(([name, { oid }]) => [name, oid]));

const maxSubject = 300;

/** What a row says about its commit. Many rows share one. */
async function describe({ readers }: BrowseDeps, path: string, found: ReadonlyMap<string, string>): Promise<Table> {
  const rows = [...found];
  const ids = [...new Set(rows.map(([, oid]) => oid))];
  const commits = await readers.use(path, (reader) => Promise.all(ids.map((oid) => readCommit(reader, oid))));
  const byId = new Map<string, LastCommit>(commits.map(({ oid, subject, committer }) => [oid, { oid, subject: subject.slice(0, maxSubject), at: committer.at }]));
  return new Map(rows.map(([name, oid]) => [name, byId.get(oid)!]));
}
