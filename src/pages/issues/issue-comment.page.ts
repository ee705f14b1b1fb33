import { isDomainError } from '../../kernel/index.ts';
import type { CloseReason } from '../../issues/index.ts';
import { seeOther } from '../app/reply.ts';
import { submit } from '../app/submit.ts';
import { withNotice } from '../app/notices.view.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import type { IssuesDeps } from './deps.ts';
import { issueAt, issuePage, replyDraft, urlOfIssue } from './issue-page.ts';
import { entryUrl } from './issue-urls.ts';

/** The value of `reason`; what is none is refused by the use-case. */
const closeReason = (text: string): CloseReason => (text === '' ? 'completed' : (text as CloseReason));

/**
 * Fields `body`, and `action`: `comment`, `close` (with `reason`), `reopen`, `preview` or `draft`. Closing and reopening
 * need no text.
 */
export const postComment: Page<RepositoryContext, IssuesDeps> = (context, deps) => {
  const { viewer, form } = context;
  const { issues } = deps;
  const at = issueAt(context);
  const url = urlOfIssue(context);
  const body = form.text('body');
  const action = form.text('action');
  if (action === 'preview') return issuePage(context, deps, { reply: body, isPreview: true });
  const state = action === 'close' ? closeReason(form.text('reason')) : action === 'reopen' ? 'open' : undefined;
  return submit(
    async () => {
      const { id } = await issues.find(viewer, at);
      if (action === 'draft') {
        await issues.saveDraft(viewer, replyDraft(id), body);
        return seeOther(`${withNotice(url, 'draft-saved')}#reply`);
      }
      if (state !== undefined && body.trim() === '') {
        await (state === 'open' ? issues.reopen(viewer, at) : issues.close(viewer, at, state));
        const { lastPosition } = await issues.find(viewer, at);
        return seeOther(entryUrl(url, lastPosition));
      }
      const entry = await issues.comment(viewer, at, { body, ...(state === undefined ? {} : { state }) });
      await issues.saveDraft(viewer, replyDraft(id), '').catch(ignoreRefusal);
      return seeOther(entryUrl(url, entry.position));
    },
    (refusal) => issuePage(context, deps, { reply: body, refusal }),
    { body: 'reply', reason: 'reply' },
  );
};

/** The comment is there: a draft that stays is no reason to say that something failed. */
function ignoreRefusal(error: unknown): void {
  if (!isDomainError(error)) throw error;
}
