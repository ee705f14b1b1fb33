import { isDomainError } from '../../kernel/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { movedTo, page } from '../app/reply.ts';
import type { Reply } from '../app/reply.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import type { IssuesDeps } from './deps.ts';
import { issueAt, readConversation } from './conversation.reply.ts';
import type { ShowConversation } from './conversation.reply.ts';
import { issueUrl } from './issue-urls.ts';
import { trashedIssuePage } from './trashed-issue.page.ts';

/** The page of an issue; the number of a pull request redirects to that. Throws `issue_not_found`. */
export const issuePage: ShowConversation<IssuesDeps> = async (context, deps, forms = {}) => {
  const issue = await deps.issues.find(context.viewer, issueAt(context));
  if (issue.kind !== 'ISSUE')
    return movedTo(issueUrl(repositoryUrl(context.found.canonical), issue.number, issue.kind));
  return page('issues/issue', await readConversation(context, deps, forms, issue));
};

/**
 * An issue with its timeline. Query: `from`, a position; `quote` and `edit`, the position of a text (`edit=title` the
 * title). A moved issue redirects to its new place; an issue in the trash is shown to users who may restore it.
 */
export const showIssue = showWith(issuePage);

/** The same for every kind of conversation. */
export function showWith<Deps extends IssuesDeps>(show: ShowConversation<Deps>): Page<RepositoryContext, Deps> {
  return (context, deps) => showOrFind(context, deps, () => show(context, deps));
}

async function showOrFind(context: RepositoryContext, deps: IssuesDeps, show: () => Promise<Reply>): Promise<Reply> {
  try {
    return await show();
  } catch (error) {
    if (!isDomainError(error) || (error.reason !== 'issue_not_found' && error.reason !== 'pull_not_found')) throw error;
    const redirect = (await movedPage(context, deps)) ?? (await trashedIssuePage(context, deps));
    if (redirect === null) throw error;
    return redirect;
  }
}

async function movedPage(context: RepositoryContext, { issues, repositories }: IssuesDeps): Promise<Reply | null> {
  const moved = await issues.findMoved(context.viewer, issueAt(context));
  const place = moved === null ? undefined : (await repositories.locate([moved.repositoryId])).get(moved.repositoryId);
  if (moved === null || place === undefined) return null;
  return movedTo(
    issueUrl(repositoryUrl({ owner: place.owner.handle, name: place.repository.name }), moved.number, moved.kind),
  );
}
