import type { EntryFacts, IssueAct, Viewer } from '../access/index.ts';
import type { IssueDeps } from './deps.ts';
import { writeEntries } from './entries/write-entries.ts';
import type { EntryLog } from './entries/write-entries.ts';
import { findIssue, issueInWrite } from './find-issue.ts';
import type { IssueAt, IssueContext } from './issue-context.ts';

/**
 * Runs a transaction on one issue: finds it, and checks permission both before and inside the transaction.
 * @param entry the subject of `edit_entry` and `delete_entry`, read in the transaction
 */
export async function withIssueWrite<T>(
  deps: IssueDeps,
  viewer: Viewer,
  at: IssueAt,
  act: IssueAct,
  work: (log: EntryLog, context: IssueContext) => Promise<T>,
  entry: EntryFacts | null = null,
): Promise<T> {
  const { issue } = await findIssue(deps, viewer, at);
  return writeEntries(deps, viewer, async (log) =>
    work(log, await issueInWrite(deps, log.tx, viewer, issue, act, entry)),
  );
}
