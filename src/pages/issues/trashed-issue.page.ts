import { isRefusal } from '../../kernel/index.ts';
import { viewName } from '../app/printable-names.ts';
import { page } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import { viewTime } from '../app/times.view.ts';
import type { IssuesDeps } from './deps.ts';
import { issueAt, urlOfIssue } from './conversation.reply.ts';

/** An issue in the trash, for users who may restore it; null for all others. */
export async function trashedIssuePage(
  context: RepositoryContext,
  { issues, clock, owners }: IssuesDeps,
): Promise<PageReply | null> {
  const { viewer, found } = context;
  const issue = await issues.findTrashed(viewer, issueAt(context)).catch(nullIfRefused);
  if (issue === null) return null;
  const people = await owners.ownersById(issue.deletedBy === null ? [] : [issue.deletedBy]);
  return page('issues/trashed-issue', {
    repository: viewRepositoryHeader(found),
    issue: {
      url: urlOfIssue(context),
      number: issue.number,
      isPull: issue.kind === 'PULL',
      title: viewName(issue.title),
      deleted: viewTime(issue.deletedAt!, clock.now()),
      deletedBy: people.get(issue.deletedBy ?? '')?.handle ?? null,
    },
  });
}

function nullIfRefused(error: unknown): null {
  if (isRefusal(error)) return null;
  throw error;
}
