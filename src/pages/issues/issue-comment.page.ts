import { forbidden, isDomainError, unauthenticated } from '../../kernel/index.ts';
import { explainRefusal } from '../../issues/index.ts';
import type { CloseReason, NewComment } from '../../issues/index.ts';
import { seeOther } from '../app/reply.ts';
import { submitForm } from '../app/submit-form.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import type { IssuesDeps } from './deps.ts';
import { issueAt, replyDraft, urlOfIssue } from './conversation.reply.ts';
import type { ShowConversation } from './conversation.reply.ts';
import { entryUrl } from '../app/entry-urls.ts';

/** The value of `reason`; the use-case refuses invalid values. */
const closeReason = (text: string): CloseReason => (text === '' ? 'completed' : (text as CloseReason));

/**
 * Fields `body`, `files`, and `action`: `comment`, `close` (with `reason`), `reopen`, `preview` or `draft`. Closing
 * and reopening need no text.
 */
export const postComment =
  <Deps extends IssuesDeps>(show: ShowConversation<Deps>): Page<RepositoryContext, Deps> =>
  (context, deps) => {
    const { viewer, form } = context;
    const { issues } = deps;
    const at = issueAt(context);
    const url = urlOfIssue(context);
    const body = form.text('body');
    const action = form.text('action');
    const state: NewComment['state'] =
      action === 'close' ? closeReason(form.text('reason')) : action === 'reopen' ? 'open' : undefined;
    return submitForm(
      async () => {
        context.takeFiles();
        if (action === 'preview') return show(context, deps, { reply: body, isPreview: true });
        const { id } = await issues.find(viewer, at);
        if (action === 'draft') {
          const refusal = (await issues.rightsOn(viewer, at))('contribute');
          if (refusal === 'sign_in') throw unauthenticated('sign_in_required', 'Sign in to continue.');
          if (refusal !== null) throw forbidden('not_allowed_on_issue', explainRefusal(refusal));
          await issues.saveDraft(viewer, replyDraft(id), body);
          return seeOther(`${withFlashMessage(url, 'draft-saved')}#reply`);
        }
        if (state !== undefined && body.trim() === '') {
          await (state === 'open' ? issues.reopen(viewer, at) : issues.close(viewer, at, state));
          const { lastPosition } = await issues.find(viewer, at);
          return seeOther(entryUrl(url, lastPosition));
        }
        const comment = { body, ...(state === undefined ? {} : { state }) };
        const entry = await issues.comment(viewer, at, comment).catch(keepText);
        await issues.saveDraft(viewer, replyDraft(id), '').catch(ignoreRefusal);
        return seeOther(entryUrl(url, entry.position));
      },
      (refusal) => show(context, deps, { reply: body, refusal }),
      { body: 'reply', reason: 'reply', files: 'reply-files' },
    );
  };

/** For a `catch`: a redirect to the sign-in page would lose the text of a user whose session has ended. */
export function keepText(error: unknown): never {
  if (!isDomainError(error) || error.code !== 'unauthenticated') throw error;
  throw forbidden('signed_out', 'You are signed out. Sign in from another tab, then send this again.');
}

/** The comment was added: failing to delete the draft is not an error. */
function ignoreRefusal(error: unknown): void {
  if (!isDomainError(error)) throw error;
}
