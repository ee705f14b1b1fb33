import type { CiDeps } from '../deps.ts';
import { readLog } from './read-log.ts';

/** What a runner asked a repository for in vain: an action or a workflow that `uses` names. */
interface MissingReference {
  /** Address of the repository, as the runner wrote it. */
  url: string;
  /** A branch, tag or commit. */
  ref: string;
}

/** Rows at the end of a log that are read; a job whose action is missing ends soon after it. */
const tail = 300;
/** Rows between what is fetched and the error; debug logging has some. */
const between = 10;

/** As Gitea's and Forgejo's runners log what they fetch. */
const fetching = /git (?:clone|fetch) '(https?:\/\/[^'\s]{1,1000})' # ref=(\S{1,255})/;
const error = /\b(?:reference|repository) not found\.?\s*$/i;

/** The reference that rows of a log say was not found; the error itself does not name it. Null for any other log. */
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

/** The same of the log of a task that has failed. The caller checks access. */
export async function findMissingReference(
  deps: Pick<CiDeps, 'logs' | 'db' | 'notifier'>,
  taskId: number,
): Promise<MissingReference | null> {
  const total = (await deps.logs.log(taskId)).rows;
  const { rows } = await readLog(deps, taskId, Math.max(0, total - tail), tail);
  return missingReferenceIn(rows.map(({ content }) => content));
}
