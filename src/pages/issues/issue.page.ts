import { isDomainError } from '../../kernel/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { movedTo } from '../app/reply.ts';
import type { Reply } from '../app/reply.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import type { IssuesDeps } from './deps.ts';
import { issueAt, issuePage } from './issue-page.reply.ts';
import { issueUrl } from './issue-urls.ts';
import { trashedIssuePage } from './trashed-issue.page.ts';

/**
 * An issue with its timeline. Query: `from`, a position; `quote` and `edit`, the position of a text (`edit=title` the
 * title). An issue that has moved leads to where it is; one in the trash is shown to those who may restore it.
 */
export const showIssue: Page<RepositoryContext, IssuesDeps> = async (context, deps) => {
  try {
    return await issuePage(context, deps);
  } catch (error) {
    if (!isDomainError(error) || error.reason !== 'issue_not_found') throw error;
    const redirect = (await movedPage(context, deps)) ?? (await trashedIssuePage(context, deps));
    if (redirect === null) throw error;
    return redirect;
  }
};

async function movedPage(context: RepositoryContext, { issues, repositories }: IssuesDeps): Promise<Reply | null> {
  const moved = await issues.findMoved(context.viewer, issueAt(context));
  const place = moved === null ? undefined : (await repositories.locate([moved.repositoryId])).get(moved.repositoryId);
  if (moved === null || place === undefined) return null;
  return movedTo(issueUrl(repositoryUrl({ owner: place.owner.handle, name: place.repository.name }), moved.number));
}
