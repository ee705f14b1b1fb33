import type { LastCommitCache } from '../last-commits/last-commit-cache.ts';
import { walkPathHistory } from '../last-commits/path-history.ts';
import { checked, readCommit } from '../objects/browse.ts';
import type { BrowseDeps } from '../objects/browse.ts';
import type { Commit } from '../objects/parse-objects.ts';
import { pathArgument } from './history.ts';
import { lineSplitter, readGit } from './read-git.ts';

/** Time in milliseconds after which git walks instead, because it reads history faster. */
const walkLimitMs = 500;

/**
 * The commit that last changed one file or folder: `git log -1 -- <file>`; null if there is none, or git ran out of
 * time. It comes from the stored row of its folder, else from a walk of the commit-graph without a process, and without
 * a commit-graph from git. Throws `git_busy`.
 */
export async function lastChange(
  deps: BrowseDeps,
  tables: LastCommitCache,
  path: string,
  oid: string,
  file: Buffer,
): Promise<Commit | null> {
  const found =
    (await fromTable(tables, path, oid, file)) ??
    (await fromGraph(deps, path, oid, file)) ??
    (await fromGit(deps, path, oid, file));
  return found === null ? null : deps.readers.use(path, (reader) => readCommit(reader, found));
}

/** Null if the row of the folder was not stored. */
async function fromTable(tables: LastCommitCache, path: string, oid: string, file: Buffer): Promise<string | null> {
  if (file.length === 0) return null;
  const slash = file.lastIndexOf(0x2f);
  const [folder, name] = [file.subarray(0, Math.max(slash, 0)), file.subarray(slash + 1).toString('latin1')];
  return (await tables.read(path, folder, oid))?.get(name)?.oid ?? null;
}

/** Null if the commit-graph cannot tell. */
async function fromGraph(deps: BrowseDeps, path: string, oid: string, file: Buffer): Promise<string | null> {
  let found: string | null = null;
  if (file.length > 0)
    await walkPathHistory(deps, path, { oid, file, timeLimitMs: walkLimitMs }, (commit) => ((found = commit), false));
  return found;
}

async function fromGit(deps: BrowseDeps, path: string, oid: string, file: Buffer): Promise<string | null> {
  let found: string | null = null;
  const lines = lineSplitter(0x0a, (line) => ((found = line.toString('latin1')), true));
  await readGit(
    deps,
    path,
    ['rev-list', '--max-count=1', checked(oid), '--', ...(file.length === 0 ? [] : [pathArgument(file)])],
    lines.feed,
  );
  return found;
}
