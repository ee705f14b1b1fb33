import { notFound } from '../../kernel/index.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import type { IssuesDeps } from './deps.ts';

const here = '/settings/replies';
/** Maximum length of a text in the list, in characters. */
const excerptLength = 120;

interface ReplyForm {
  id: string;
  title: string;
  body: string;
}

async function repliesPage(
  { viewer, query }: PersonContext,
  { issues }: IssuesDeps,
  typed: ReplyForm | null,
  refusal: FormRefusal | null = null,
): Promise<PageReply> {
  const replies = await issues.listSavedReplies(viewer);
  const wanted = query.get('edit');
  const edited = replies.find(({ id }) => id === wanted);
  if (typed === null && wanted !== null && edited === undefined) throw notFound();
  return page('issues/saved-replies', {
    replies: replies.map(({ id, title, body }) => ({
      id,
      title,
      excerpt: body.replace(/\s+/g, ' ').slice(0, excerptLength),
    })),
    form: typed ?? { id: edited?.id ?? '', title: edited?.title ?? '', body: edited?.body ?? '' },
    refusal,
  });
}

/** `/settings/replies`: a user's saved replies for comments; `?edit=` opens one of them in the form. */
export const showSavedReplies: Page<PersonContext, IssuesDeps> = (context, deps) => repliesPage(context, deps, null);

/** Fields `title`, `body`, and `id` of the changed reply. */
export const saveReply: Page<PersonContext, IssuesDeps> = (context, deps) => {
  const { viewer, form } = context;
  const typed = { id: form.text('id'), title: form.text('title'), body: form.text('body') };
  return submitForm(
    async () => {
      await deps.issues.saveReply(viewer, typed, typed.id === '' ? null : typed.id);
      return seeOther(withFlashMessage(here, 'reply-saved'));
    },
    (refusal) => repliesPage(context, deps, typed, refusal),
  );
};

/** Field `id`. */
export const removeReply: Page<PersonContext, IssuesDeps> = async ({ viewer, form }, deps) => {
  await deps.issues.removeSavedReply(viewer, form.text('id'));
  return seeOther(withFlashMessage(here, 'reply-removed'));
};
