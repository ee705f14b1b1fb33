import { personIdOf } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { refusalError } from '../../issues/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import { bindDeps, invalid } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { findPull, pullInWrite } from '../find-pull.ts';
import { limits } from '../limits.ts';
import { getRoundRow } from '../get-round-row.ts';
import { viewedFileSchema } from '../schema/attention-schema.ts';
import type { ViewedFileRow } from '../schema/attention-schema.ts';

/** A file of a comparison, identified by its content on both sides: other content is not viewed. */
interface ViewedFile {
  /** The new path, encoded by `pathText`. */
  path: string;
  /** Full ids; zeros for a side without the file. */
  oldBlob: string;
  newBlob: string;
  round: number;
}

const objectId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
/** Limit in characters; no system supports longer paths. */
const maxPathLength = 4_096;

/** The files that the viewer has marked as viewed; empty for anonymous clients. Throws the errors of `findPull`. */
async function listViewed(deps: PullDeps, viewer: Viewer, at: IssueAt): Promise<ViewedFileRow[]> {
  const { issue } = await findPull(deps, viewer, at);
  const userId = personIdOf(viewer);
  return userId === null ? [] : deps.db.read.findBy(viewedFileSchema, { userId, issueId: issue.id });
}

/**
 * Marks a file as viewed, or removes the mark, for the viewer alone; requires read access. Throws `sign_in_required`,
 * `invalid_viewed_file`, `round_not_found`, `too_many_viewed_files`, and the errors of `findPull`.
 */
async function setViewed(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  { isViewed, path, oldBlob, newBlob, round }: ViewedFile & { isViewed: boolean },
): Promise<void> {
  const userId = personIdOf(viewer);
  if (userId === null) throw refusalError(viewer.kind === 'anonymous' ? 'sign_in' : 'level', 'PULL');
  const isPath = path !== '' && path.length <= maxPathLength && path.isWellFormed() && !path.includes('\0');
  if (!isPath || !objectId.test(oldBlob) || !objectId.test(newBlob))
    throw invalid('invalid_viewed_file', 'This file is not part of a pull request.', { field: 'path' });
  const { issue } = await findPull(deps, viewer, at);
  await getRoundRow(deps.db.read, issue.id, round);
  await deps.db.write(
    async (tx) => {
      await pullInWrite(deps, tx, viewer, issue, 'read');
      const key = { userId, issueId: issue.id, path };
      if (!isViewed) {
        await tx.manager.delete(viewedFileSchema, key);
        return;
      }
      const { userId: person, issueId } = key;
      const count = await tx.manager.countBy(viewedFileSchema, { userId: person, issueId });
      if (count >= limits.viewedFiles && !(await tx.manager.existsBy(viewedFileSchema, key)))
        throw invalid('too_many_viewed_files', `At most ${limits.viewedFiles} files can be marked as viewed.`);
      await tx.manager.upsert(viewedFileSchema, { ...key, oldBlob, newBlob, round }, ['userId', 'issueId', 'path']);
    },
    { durable: 'with-the-next' },
  );
}

/** Files that users mark as viewed. */
export function createViewedService(deps: PullDeps) {
  const bind = bindDeps(deps);
  return { list: bind(listViewed), set: bind(setViewed) };
}
