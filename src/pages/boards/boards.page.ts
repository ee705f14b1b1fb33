import { boardPresets } from '../../issues/index.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply, Reply } from '../app/reply.ts';
import type { RequestContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import type { IssuesDeps } from '../issues/deps.ts';
import type { PlaceOfBoards } from './board-place.ts';

const readForm = ({ form }: RequestContext) => ({
  title: form.text('title').trim(),
  description: form.text('description'),
  isPublic: form.text('public') !== '',
});

/** The list of boards of a repository or an organisation, with the form of a new one. */
export function boardListPages<V extends RequestContext>(place: PlaceOfBoards<V>) {
  async function show(context: V, deps: IssuesDeps, refusal: FormRefusal | null = null): Promise<PageReply> {
    const { boards, mayEdit } = await deps.issues.boards.list(context.viewer, place.at(context));
    const given = context.form.text('preset');
    return page('boards/boards', {
      ...(await place.head(context, deps)),
      url: place.url(context),
      boards: boards.map(({ id, title, description, isPublic }) => ({
        url: `${place.url(context)}/${id}`,
        title,
        description,
        isPublic,
      })),
      mayEdit,
      form: readForm(context),
      preset: given === '' ? 'basic' : given,
      refusal,
      notice: viewFlashMessage(context.query),
    });
  }

  return {
    show: (context: V, deps: IssuesDeps): Promise<PageReply> => show(context, deps),
    /** Fields `title`, `description`, `public` (a checkbox, for organisations), `preset`. */
    add: (context: V, deps: IssuesDeps): Promise<Reply> =>
      submitForm(
        async () => {
          const preset = boardPresets.find((known) => known === context.form.text('preset')) ?? 'basic';
          const { id } = await deps.issues.boards.add(context.viewer, place.at(context), readForm(context), preset);
          return seeOther(withFlashMessage(`${place.url(context)}/${id}`, 'board-added'));
        },
        (refusal) => show(context, deps, refusal),
      ),
  };
}
