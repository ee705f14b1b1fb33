import { isDomainError } from '../../kernel/index.ts';
import { pathBytes } from '../../pulls/index.ts';
import type { Verdict } from '../../pulls/index.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import { seeOther } from '../app/reply.ts';
import type { Reply } from '../app/reply.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import { pageUrl } from '../app/entry-urls.ts';
import { createChangesUrlBuilder, changesUrl, pullAt, readChangesQuery, urlOfPull } from './changes-urls.ts';
import type { ChangesQuery, CommentPosition } from './changes-urls.ts';
import type { PullsDeps } from './deps.ts';
import { changesPage } from './changes-page.reply.ts';
import type { ChangesForms } from './comment-form.ts';
import { fileAnchor } from './changed-files.view.ts';
import { pullPage } from './pull.page.ts';
import { threadAnchor } from './thread.view.ts';

type FormPage = Page<RepositoryContext, PullsDeps>;

/** The page that a form was sent from: the field `shown` has its query. */
function shownBy(context: RepositoryContext): {
  query: ChangesQuery;
  back(fragment?: string, notice?: string): string;
} {
  const query = { ...readChangesQuery({ query: new URLSearchParams(context.form.text('shown')) }), comment: null };
  const talk = urlOfPull(context);
  const timeline = pageUrl(talk, count(context.form.text('from')) ?? 0);
  const address = isOnTalk(context)
    ? (change: { done?: string }) => (change.done === undefined ? timeline : withFlashMessage(timeline, change.done))
    : createChangesUrlBuilder(changesUrl(talk), query);
  return {
    query,
    back: (fragment = '', notice) =>
      `${address(notice === undefined ? {} : { done: notice })}${fragment === '' ? '' : `#${fragment}`}`,
  };
}

/** The form that submits a review is also on the conversation page, and its fields tell which page sent it. */
const isOnTalk = ({ form }: RepositoryContext): boolean => form.text('page') === 'talk';

/** Runs the action of a form; a refusal is shown on the page that it was sent from, with the entered values. */
function act(
  context: RepositoryContext,
  deps: PullsDeps,
  work: () => Promise<Reply>,
  forms: (reason: { isOutdated: boolean }) => ChangesForms = () => ({}),
): Promise<Reply> {
  let isOutdated = false;
  return submitForm(
    () =>
      work().catch((error: unknown) => {
        isOutdated = isDomainError(error) && error.reason === 'round_changed';
        throw error;
      }),
    (refusal) => {
      const typed = { ...forms({ isOutdated }), refusal };
      return isOnTalk(context)
        ? pullPage(context, deps, {
            refusal,
            from: count(context.form.text('from')) ?? 0,
            ...(typed.review && { review: typed.review }),
            thread: { ...(typed.reply && { reply: typed.reply }), ...(typed.edit && { edit: typed.edit }) },
          })
        : changesPage(context, deps, { query: shownBy(context).query, forms: typed });
    },
  );
}

const count = (text: string): number | null => (/^\d{1,9}$/.test(text) ? Number(text) : null);

/** The place in the fields of a form; without lines it is the whole file. */
function placeOf({ form }: RepositoryContext) {
  const path = form.text('path');
  const side = form.text('side') === 'OLD' ? ('OLD' as const) : ('NEW' as const);
  const [first, last] = [form.text('first').trim(), form.text('last').trim()];
  const place: CommentPosition =
    path === ''
      ? { kind: 'round' }
      : form.text('line') === ''
        ? { kind: 'file', path: pathBytes(path) }
        : { kind: 'lines', path: pathBytes(path), side, line: count(form.text('line')) ?? 1 };
  const lines =
    path === '' || first === ''
      ? { firstLine: null, lastLine: null }
      : { firstLine: count(first) ?? 0, lastLine: last === '' ? (count(first) ?? 0) : (count(last) ?? 0) };
  return { place, wanted: { path: path === '' ? null : path, side, ...lines }, typed: { side, first, last } };
}

/**
 * Fields `round`, `path`, `side`, `first`, `last`, `body`, `thread` (for a reply), `shown` and `action`: `add` to the
 * review, `now`, or `preview`.
 */
export const postReviewComment: FormPage = (context, deps) => {
  const { viewer, form } = context;
  const threadId = form.text('thread');
  const body = form.text('body');
  const { place, wanted, typed } = placeOf(context);
  const isPreview = form.text('action') === 'preview';
  const forms = (): ChangesForms =>
    threadId === '' ? { comment: { place, ...typed, body, isPreview } } : { reply: { threadId, body } };
  const { query, back } = shownBy(context);
  if (isPreview && threadId === '') return changesPage(context, deps, { query, forms: forms() });
  return act(
    context,
    deps,
    async () => {
      const comment = await deps.pulls.reviews.addComment(viewer, pullAt(context), {
        ...(threadId === '' ? wanted : { path: null, threadId }),
        round: count(form.text('round')) ?? 0,
        body,
        sendNow: form.text('action') === 'now',
      });
      return seeOther(back(`${threadAnchor(comment.threadId)}-${comment.position}`));
    },
    forms,
  );
};

const commentOf = ({ form }: RepositoryContext) => ({
  threadId: form.text('thread'),
  position: count(form.text('position')) ?? -1,
});

/** Fields `thread`, `position`, `body` and `shown`. */
export const editReviewComment: FormPage = (context, deps) => {
  const comment = { ...commentOf(context), body: context.form.text('body') };
  return act(
    context,
    deps,
    async () => {
      await deps.pulls.reviews.editComment(context.viewer, pullAt(context), comment);
      return seeOther(shownBy(context).back(`${threadAnchor(comment.threadId)}-${comment.position}`));
    },
    () => ({ edit: comment }),
  );
};

/** Fields `thread`, `position` and `shown`. */
export const deleteReviewComment: FormPage = (context, deps) =>
  act(context, deps, async () => {
    await deps.pulls.reviews.deleteComment(context.viewer, pullAt(context), commentOf(context));
    return seeOther(shownBy(context).back());
  });

/** Field `resolved`, `1` or `0`, and `shown`. */
export const resolveThread: FormPage = (context, deps) =>
  act(context, deps, async () => {
    const threadId = context.params['thread'] ?? '';
    const resolved = context.form.text('resolved') === '1';
    await deps.pulls.threads.resolve(context.viewer, pullAt(context), { threadId, resolved });
    return seeOther(shownBy(context).back(threadAnchor(threadId)));
  });

/**
 * Fields `verdict`, `body`, `round`, `shown`, `page` (`talk` where that page has the form), `confirm` (to keep the
 * review at a round that is not the last), and `action`: `discard` deletes the draft.
 */
export const submitReview: FormPage = (context, deps) => {
  const { viewer, form } = context;
  const [verdict, body] = [form.text('verdict'), form.text('body')];
  return act(
    context,
    deps,
    async () => {
      const { back } = shownBy(context);
      if (form.text('action') === 'discard') {
        await deps.pulls.reviews.discard(viewer, pullAt(context));
        return seeOther(back('', 'review-discarded'));
      }
      await deps.pulls.reviews.submit(viewer, pullAt(context), {
        // The use-case refuses an invalid verdict.
        verdict: verdict as Verdict,
        body,
        round: count(form.text('round')) ?? 0,
        confirm: form.text('confirm') === '1',
      });
      return seeOther(back('', 'review-submitted'));
    },
    ({ isOutdated }) => ({ review: { verdict, body, isOutdated } }),
  );
};

/** Fields `path`, `old`, `new` (the ids of both contents), `round`, `viewed` (`1` or `0`) and `shown`. */
export const markViewed: FormPage = (context, deps) => {
  const { form } = context;
  const path = form.text('path');
  return act(context, deps, async () => {
    await deps.pulls.viewed.set(context.viewer, pullAt(context), {
      path,
      oldBlob: form.text('old'),
      newBlob: form.text('new'),
      round: count(form.text('round')) ?? 0,
      isViewed: form.text('viewed') === '1',
    });
    return seeOther(shownBy(context).back(fileAnchor(pathBytes(path))));
  });
};

/** Fields `comment`, once for each suggestion, `<thread>:<position>`; `round` and `shown`. */
export const applySuggestions: FormPage = (context, deps) => {
  const { form } = context;
  const comments = form.all('comment').map((text) => {
    const [threadId = '', position = ''] = text.split(':', 2);
    return { threadId, position: count(position) ?? -1 };
  });
  return act(context, deps, async () => {
    const round = count(form.text('round')) ?? 0;
    await deps.pulls.suggestions.apply(context.viewer, pullAt(context), { comments, round });
    return seeOther(shownBy(context).back('', 'suggestions-applied'));
  });
};

/** Fields `review`, an id, `reason`, and `page` or `shown` as for a review. */
export const dismissReview: FormPage = (context, deps) => {
  const { form } = context;
  const asked = { reviewId: form.text('review'), reason: form.text('reason') };
  return act(context, deps, async () => {
    await deps.pulls.reviews.dismiss(context.viewer, pullAt(context), asked);
    return seeOther(shownBy(context).back('', 'review-dismissed'));
  });
};
