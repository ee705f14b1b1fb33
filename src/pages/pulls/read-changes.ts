import type { ChangedFile, ConflictedFile, Patch, PatchLimits } from '../../git/index.ts';
import type { RoundRow } from '../../pulls/index.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import { pullAt } from './changes-urls.ts';
import type { ChangesQuery } from './changes-urls.ts';
import type { PullsDeps } from './deps.ts';

/** Limits of a page with all files; a single file, and all files on request, have much higher limits. */
const pageLimits: PatchLimits = { files: 100, linesPerFile: 600, bytesPerLine: 5_100, bytes: 320 * 1024 };
const wholeLimits: PatchLimits = { files: 300, linesPerFile: 5_000, bytesPerLine: 5_100, bytes: 2 * 1024 * 1024 };
const fileLimits: PatchLimits = { files: 2, linesPerFile: 20_000, bytesPerLine: 5_100, bytes: 4 * 1024 * 1024 };

/** The files of a page with their differences. */
export interface ReadChanges {
  /** The kind of comparison: a whole round, a round with an earlier one that was carried, or two heads directly. */
  kind: 'round' | 'carried' | 'conflict' | 'plain' | 'failed' | 'unrelated';
  /** The older side, if it is a commit of the repository. */
  from: string | null;
  to: string;
  files: ChangedFile[];
  truncated: boolean;
  /** Patches of the files that are read. */
  patches: Patch[];
  cutShort: boolean;
  /** Conflicts of the merge that carries the older round. */
  conflicts: ConflictedFile[];
}

/** Reads the content of a page of changes, within its limits. Throws `round_not_found`, `git_busy`. */
export async function readChanges(
  context: RepositoryContext,
  deps: PullsDeps,
  query: ChangesQuery,
  { older, shown }: { older: RoundRow | null; shown: RoundRow },
): Promise<ReadChanges> {
  const limits = query.only !== null ? fileLimits : query.isAll ? wholeLimits : pageLimits;
  const { only, ignoreWhitespace, contextLines } = query;
  if (older !== null && !query.isPlain) {
    const diff = await deps.pulls.rounds.compare(
      context.viewer,
      pullAt(context),
      { from: older.round, to: shown.round },
      { ...(only === null ? {} : { only }), ignoreWhitespace, contextLines, limits },
    );
    if (diff.kind === 'clean' || diff.kind === 'conflict')
      return { ...diff, kind: diff.kind === 'clean' ? 'carried' : 'conflict', from: null, to: shown.headOid };
    return { ...(await readPlain(context, deps, query, older.headOid, shown.headOid, limits)), kind: diff.kind };
  }
  const from = older?.headOid ?? shown.baseOid;
  return {
    ...(await readPlain(context, deps, query, from, shown.headOid, limits)),
    kind: older === null ? 'round' : 'plain',
  };
}

async function readPlain(
  { found }: RepositoryContext,
  { git }: PullsDeps,
  { only, ignoreWhitespace, contextLines }: ChangesQuery,
  from: string,
  to: string,
  limits: PatchLimits,
): Promise<Omit<ReadChanges, 'kind'>> {
  const request = { from, to, ignoreWhitespace, contextLines, only: only ?? undefined };
  return { from, to, conflicts: [], ...(await git.queries.readDiff(found.path, request, limits)) };
}
