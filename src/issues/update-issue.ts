import { refusalOnIssue } from '../access/index.ts';
import type { EntryFacts, IssueAct, Viewer } from '../access/index.ts';
import { replaceText, textInWrite } from './comments/edit-text.ts';
import type { IssueDeps } from './deps.ts';
import { findIssue } from './find-issue.ts';
import { factsOfIssue } from './issue-context.ts';
import { refuse, revisionConflict } from './issue-errors.ts';
import type { IssueAt } from './issue-context.ts';
import { parseBody, parseTitle } from './parse-texts.ts';
import { chargeRateLimit } from './moderation/hold-newcomers.ts';
import { withIssueWrite } from './with-issue-write.ts';
import { resolveReferences } from './references/resolve-references.ts';
import type { Issue } from './schema/issue-schema.ts';
import { apply, resolveChange, retitle } from './lifecycle/change-issue.ts';
import type { IssueChange } from './lifecycle/change-issue.ts';

/** Omitted fields stay. */
export interface IssueUpdate extends IssueChange {
  title?: unknown;
  /** Text of the issue. */
  body?: unknown;
  /** Revision of the text that the caller saw; if omitted, any. */
  revision?: number;
}

/**
 * Changes several fields of an issue in one transaction: all, or none if one fails. Throws `text_changed_meanwhile` for
 * another revision, and what `setTitle`, `editText`, `triage` and `close` throw.
 */
export async function updateIssue(
  deps: IssueDeps,
  viewer: Viewer,
  at: IssueAt,
  { title: givenTitle, body: givenBody, revision, ...given }: IssueUpdate,
): Promise<Issue> {
  const title = givenTitle === undefined ? null : parseTitle(givenTitle);
  const body = givenBody === undefined ? null : parseBody(givenBody);
  const found = await findIssue(deps, viewer, at);
  if (given.state !== undefined) chargeRateLimit(deps, viewer, found);
  const references = body === null ? null : await resolveReferences(deps, viewer, found.repository, body);
  const change = await resolveChange(deps, given);
  const { state, ...triaged } = change;
  const updated = await withIssueWrite(deps, viewer, at, 'read', async (log, context) => {
    const { issue, facts } = context;
    const requireRight = (act: IssueAct, entry: EntryFacts | null = null): void =>
      refuse(refusalOnIssue(viewer, facts, factsOfIssue(issue), act, entry));
    const entry = await textInWrite(log.tx, issue.id, 0);
    if (Object.values(triaged).some((value) => value !== undefined)) requireRight('triage');
    if (title !== null) requireRight('edit_issue');
    if (state !== undefined) requireRight('close');
    if (body !== null) requireRight('edit_entry', entry);
    if (revision !== undefined && revision !== entry.revision) throw revisionConflict();
    if (title !== null) await retitle(log, issue, title);
    if (body !== null && references !== null)
      await replaceText(deps, log, viewer, { ...context, entry }, { body, references });
    return apply(deps, log, context, change);
  });
  if (body !== null) deps.textWritten({ repositoryId: found.repository.id, body });
  return updated;
}
