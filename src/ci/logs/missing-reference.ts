import type { CiDeps } from '../deps.ts';
import { readLog } from './read-log.ts';

/** An action or workflow named by `uses` that a runner could not fetch. */
interface MissingReference {
  /** Repository URL as the runner wrote it. */
  url: string;
  /** A branch, tag or commit. */
  ref: string;
}

/** Number of rows read from the end of a log; a job whose action is missing ends soon after the error. */
const tail = 300;
/** Maximum number of rows between the fetch and the error; debug logging adds some. */
const between = 10;

/** The line that the runners of Gitea and Forgejo log for a fetch. */
const fetching = /git (?:clone|fetch) '(https?:\/\/[^'\s]{1,1000})' # ref=(\S{1,255})/;
const error = /\b(?:reference|repository) not found\.?\s*$/i;

/**
 * Finds the reference that was not found according to the rows of a log; the error itself does not name it. Null for
 * any other log.
 */
export function missingReferenceIn(rows: readonly string[]): MissingReference | null {
  for (let at = rows.length - 1; at >= 0; at -= 1) {
    if (!error.test(rows[at]!.slice(-500))) continue;
    for (let back = at - 1; back >= Math.max(0, at - between); back -= 1) {
      const [, url, ref] = fetching.exec(rows[back]!.slice(0, 2_000)) ?? [];
      if (url !== undefined && ref !== undefined) return { url, ref };
    }
  }
  return null;
}

/** Finds the missing reference in the log of a failed task. The caller checks access. */
export async function findMissingReference(
  deps: Pick<CiDeps, 'logs' | 'db' | 'notifier'>,
  taskId: number,
): Promise<MissingReference | null> {
  const total = (await deps.logs.log(taskId)).rows;
  const { rows } = await readLog(deps, taskId, Math.max(0, total - tail), tail);
  return missingReferenceIn(rows.map(({ content }) => content));
}
