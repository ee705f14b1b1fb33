import { invalid, isDomainError } from '../../kernel/index.ts';
import type { CardTarget } from '../../issues/index.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { page, seeOther } from '../app/reply.ts';
import type { PageReply, Reply } from '../app/reply.ts';
import type { RequestContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import type { IssuesDeps } from '../issues/deps.ts';
import { readIssueReference } from '../issues/issue-urls.ts';
import { readBoardFilter, viewColumns } from './board.view.ts';
import type { PlaceOfBoards } from './board-place.ts';

/** Number of cards of one column on a page. */
const cardsPerPage = 100;
/** Maximum number of label names that the field of a column suggests. */
const maxLabels = 200;

/** The refused form of the page. */
interface Again {
  refusal: FormRefusal;
  /** `edit`, `card`, `move`, `column`, or the id of a column. */
  form: string;
}

/** A board of a repository or an organisation, with its forms. */
export function boardPages<V extends RequestContext>(place: PlaceOfBoards<V>) {
  const boardId = ({ params }: V): string => params['board'] ?? '';
  const columnId = ({ params }: V): string => params['column'] ?? '';
  const boardUrl = (context: V): string => `${place.url(context)}/${boardId(context)}`;

  async function show(context: V, deps: IssuesDeps, again: Again | null = null): Promise<PageReply> {
    const { viewer, query, form } = context;
    const { text, filter, unknown } = readBoardFilter(
      again === null ? query : new URLSearchParams({ q: form.text('q') }),
    );
    const column = again === null ? query.get('column') : null;
    const only = column === null ? null : { columnId: column, after: query.get('after'), limit: cardsPerPage };
    const [head, board] = await Promise.all([
      place.head(context, deps),
      deps.issues.boards.read(viewer, place.at(context), boardId(context), { filter, only }),
    ]);
    const url = boardUrl(context);
    return page('boards/board', {
      ...head,
      url,
      listUrl: place.url(context),
      title: board.title,
      description: board.description,
      isPublic: board.isPublic,
      mayEdit: board.mayEdit,
      query: text,
      unknown,
      isPart: only !== null,
      columns: await viewColumns(deps, board, { url, query: text, isOfMany: head.organisation !== null }),
      labels: board.mayEdit ? (await place.labels(context, deps)).slice(0, maxLabels).map(({ name }) => name) : [],
      typed: again === null ? null : { form: again.form, ...readColumn(context), issue: form.text('issue') },
      edited: again?.form === 'edit' ? readBoard(context) : { ...board, title: board.title },
      refusal: again?.refusal ?? null,
      refused: again?.form ?? null,
      notice: viewFlashMessage(query),
    });
  }

  const readBoard = ({ form }: V) => ({
    title: form.text('title').trim(),
    description: form.text('description'),
    isPublic: form.text('public') !== '',
  });
  const readColumn = ({ form }: V) => ({
    name: form.text('column_name').trim(),
    limit: form.text('limit').trim(),
    rule: form.text('rule'),
    label: form.text('label').trim(),
  });
  const back = (context: V, fragment = ''): Reply => {
    const q = context.form.text('q');
    return seeOther(`${boardUrl(context)}${q === '' ? '' : `?${new URLSearchParams({ q })}`}${fragment}`);
  };
  const act = (context: V, deps: IssuesDeps, form: string, work: () => Promise<Reply>): Promise<Reply> =>
    submitForm(work, (refusal) => show(context, deps, { refusal, form }));
  const at = (context: V) => ({ boardId: boardId(context), columnId: columnId(context) });
  const cardsOf = ({ form }: V): string[] => {
    const cards = form.all('card');
    if (cards.length === 0) throw invalid('no_cards', 'Select at least one card.', { field: 'move' });
    return cards;
  };
  /** A missing issue is an invalid value of the form, not a 404. */
  const refuseGone = (error: unknown): never => {
    if (isDomainError(error) && error.code === 'not_found' && error.reason !== 'board_not_found')
      throw invalid('unknown_card', 'This item no longer exists. The board now shows its current state.', {
        field: 'move',
      });
    throw error;
  };

  return {
    /** `?q=` a filter; `?column=&after=` further cards of one column. */
    show: (context: V, deps: IssuesDeps): Promise<PageReply> => show(context, deps),
    /** Fields `title`, `description`, `public`. */
    edit: (context: V, deps: IssuesDeps) =>
      act(context, deps, 'edit', async () => {
        await deps.issues.boards.edit(context.viewer, place.at(context), boardId(context), readBoard(context));
        return seeOther(withFlashMessage(boardUrl(context), 'board-saved'));
      }),
    remove: async (context: V, deps: IssuesDeps) => {
      await deps.issues.boards.delete(context.viewer, place.at(context), boardId(context));
      return seeOther(withFlashMessage(place.url(context), 'board-removed'));
    },
    /** Fields `column_name`, `limit`, `rule`, `label`. */
    addColumn: (context: V, deps: IssuesDeps) =>
      act(context, deps, 'column', async () => {
        await deps.issues.boards.addColumn(context.viewer, place.at(context), boardId(context), readColumn(context));
        return back(context, '#columns');
      }),
    /** The same fields. */
    editColumn: (context: V, deps: IssuesDeps) =>
      act(context, deps, columnId(context), async () => {
        await deps.issues.boards.editColumn(context.viewer, place.at(context), at(context), readColumn(context));
        return back(context, '#columns');
      }),
    /** Field `direction`: `left` or `right`. */
    moveColumn: async (context: V, deps: IssuesDeps) => {
      const direction = context.form.text('direction') === 'left' ? 'left' : 'right';
      await deps.issues.boards.moveColumn(context.viewer, place.at(context), at(context), direction);
      return back(context, '#columns');
    },
    removeColumn: async (context: V, deps: IssuesDeps) => {
      await deps.issues.boards.deleteColumn(context.viewer, place.at(context), at(context));
      return back(context, '#columns');
    },
    /** Field `issue`: `#7`, `owner/name#7` or a URL; `to`, a column, or empty to let the rules place it. */
    addCard: (context: V, deps: IssuesDeps) =>
      act(context, deps, 'card', async () => {
        const where = place.at(context);
        const home = 'organisation' in where ? { owner: where.organisation, name: '' } : where;
        const to = readIssueReference(context.form.text('issue'), home, context.origin);
        if (to === null || to.name === '') throw noSuchIssue();
        const column = context.form.text('to') || null;
        const id = await deps.issues.boards
          .addCard(context.viewer, where, boardId(context), to, column)
          .catch((error: unknown): never => {
            throw isDomainError(error) && error.code === 'not_found' && error.reason !== 'board_not_found'
              ? noSuchIssue()
              : error;
          });
        return back(context, `#card-${id}`);
      }),
    /**
     * Fields `card` (several), `column`, and `to` (`top`, `bottom`; `up`, `down` within the column) or `above`, a card.
     */
    moveCards: (context: V, deps: IssuesDeps) =>
      act(context, deps, 'move', async () => {
        const issueIds = cardsOf(context);
        await deps.issues.boards
          .moveCards(context.viewer, place.at(context), { boardId: boardId(context), issueIds }, targetIn(context))
          .catch(refuseGone);
        return back(context, `#card-${issueIds[0]}`);
      }),
    /** Field `card` (several). */
    removeCards: (context: V, deps: IssuesDeps) =>
      act(context, deps, 'move', async () => {
        const issueIds = cardsOf(context);
        await deps.issues.boards.removeCards(context.viewer, place.at(context), {
          boardId: boardId(context),
          issueIds,
        });
        return back(context);
      }),
  };
}

function targetIn({ form }: RequestContext): CardTarget {
  const [columnId, above, to] = [form.text('column'), form.text('above'), form.text('to')];
  if (to === 'up' || to === 'down') return { to };
  return above === '' ? { columnId, to: to === 'top' ? 'top' : 'bottom' } : { columnId, above };
}

const noSuchIssue = () => invalid('unknown_issue', 'This issue does not exist.', { field: 'issue' });
