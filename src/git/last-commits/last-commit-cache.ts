import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createLru } from '../../kernel/index.ts';

/** A commit in the last-commit column. */
export interface LastCommit {
  oid: string;
  subject: string;
  /** Committer date in epoch milliseconds. */
  at: number;
}

/** Rows of one folder at one commit, keyed by name with one character per byte. */
export type Table = ReadonlyMap<string, LastCommit>;

/**
 * Tables on disk, below `cache/`: derived data that can be deleted. The key is the commit and the path, not the tree:
 * the same tree can recur in history with other last commits.
 */
export interface LastCommitCache {
  read(repository: string, folder: Buffer, oid: string): Promise<Table | null>;
  /** Commits for which this folder has a table. */
  storedAt(repository: string, folder: Buffer): Promise<Set<string>>;
  write(repository: string, folder: Buffer, oid: string, table: Table): Promise<void>;
  forget(repository: string): Promise<void>;
}

/** Limits: bytes of all tables in memory, and commits per folder on disk. */
const maxRememberedBytes = 16 * 1024 * 1024;
/** Bytes of a row with its name, and with the text of a commit that rows may share. */
const rowBytes = 200;
const maxTablesPerFolder = 8;

interface Stored {
  commits: LastCommit[];
  rows: [name: string, commit: number][];
}

export function createLastCommitCache(root: string): LastCommitCache {
  const remembered = createLru<string, Table>({
    name: 'last commits',
    maxWeight: maxRememberedBytes,
    unit: 'bytes',
    weigh: (table, file) => file.length + rowBytes * (table.size + 1),
  });

  const placeOf = (repository: string, folder: Buffer): string =>
    // The folder is named by the repository's id, which stays when its owner changes.
    path.join(root, path.basename(repository, '.git'), createHash('sha256').update(folder).digest('hex').slice(0, 32));

  return {
    async read(repository, folder, oid) {
      const file = path.join(placeOf(repository, folder), oid);
      const known = remembered.get(file);
      if (known) return known;
      const table = parse(await readFile(file, 'utf8').catch(() => ''));
      if (table) remembered.set(file, table);
      return table;
    },
    async storedAt(repository, folder) {
      const names = await readdir(placeOf(repository, folder)).catch(() => []);
      return new Set(names.filter((name) => /^[0-9a-f]{40,64}$/.test(name)));
    },
    async write(repository, folder, oid, table) {
      const place = placeOf(repository, folder);
      remembered.set(path.join(place, oid), table);
      await mkdir(place, { recursive: true, mode: 0o700 });
      const unfinished = path.join(place, `${randomUUID()}.new`);
      await writeFile(unfinished, serialize(table));
      await rename(unfinished, path.join(place, oid));
      await removeOldest(place);
    },
    async forget(repository) {
      await rm(path.join(root, path.basename(repository, '.git')), { recursive: true, force: true });
    },
  };
}

function serialize(table: Table): string {
  const commits = [...new Map([...table.values()].map((commit) => [commit.oid, commit])).values()];
  const numbers = new Map(commits.map(({ oid }, index) => [oid, index]));
  const stored: Stored = { commits, rows: [...table].map(([name, { oid }]) => [name, numbers.get(oid)!]) };
  return JSON.stringify(stored);
}

/** A file truncated by a crash counts as absent. */
function parse(text: string): Table | null {
  if (text === '') return null;
  try {
    const { commits, rows } = JSON.parse(text) as Stored;
    return new Map(rows.map(([name, commit]) => [name, commits[commit]!]));
  } catch {
    return null;
  }
}

async function removeOldest(place: string): Promise<void> {
  const names = await readdir(place);
  if (names.length <= maxTablesPerFolder) return;
  const files = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(path.join(place, name)).catch(() => null))?.mtimeMs ?? 0 })),
  );
  const old = files.sort((a, b) => b.at - a.at).slice(maxTablesPerFolder);
  await Promise.all(old.map(({ name }) => rm(path.join(place, name), { force: true })));
}
