import { nullIfNotFound } from '../../kernel/index.ts';
import { reasons } from '../../notifications/index.ts';
import type { Change, InboxView, Reason, UndoableChange } from '../../notifications/index.ts';
import { returnTarget } from '../../http/index.ts';
import { t, translated } from '../../translation/index.ts';
import { listPage, pageLinks } from '../app/list-page.view.ts';
import { page, seeOther } from '../app/reply.ts';
import type { Reply } from '../app/reply.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { viewUnread } from '../app/unread.view.ts';
import type { NotificationsDeps } from './deps.ts';
import { viewAccessNews } from './access-news.view.ts';
import { reasonWords, viewNotificationRow } from './notification-row.view.ts';

const path = '/notifications';
type ShownView = Exclude<InboxView, 'feed'>;
const views: Readonly<Record<ShownView, string>> = translated({
  inbox: 'notifications.inbox.inbox',
  unread: 'notifications.inbox.unread_2',
  saved: 'notifications.inbox.saved',
  done: 'notifications.inbox.done',
});
const viewNames = Object.keys(views) as ShownView[];

/** Time for which a page offers to undo a change. */
const undoOfferedMs = 60_000;

/** The query of the list: `view`, `repository` (`owner/name`), `reason`. */
interface Chosen {
  view: ShownView;
  repository: string;
  reason: Reason | '';
}

function readChosen(query: URLSearchParams): Chosen {
  const repository = query.get('repository') ?? '';
  return {
    view: viewNames.find((view) => view === query.get('view')) ?? 'inbox',
    repository: /^[^/\s]{1,100}\/[^/\s]{1,100}$/.test(repository) ? repository : '',
    reason: reasons.find((reason) => reason === query.get('reason')) ?? '',
  };
}

function addressOf({ view, repository, reason }: Chosen): string {
  const parameters = new URLSearchParams({
    ...(view !== 'inbox' && { view }),
    ...(repository !== '' && { repository }),
    ...(reason !== '' && { reason }),
  });
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}

/** The repository id in a filter; null without one, and `none` for a repository that the viewer cannot see. */
async function repositoryIdOf(
  { viewer }: Pick<PersonContext, 'viewer'>,
  { repositories }: NotificationsDeps,
  repository: string,
): Promise<string | null> {
  if (repository === '') return null;
  const [owner, name] = repository.split('/') as [string, string];
  return (await repositories.find(viewer, owner, name).catch(nullIfNotFound))?.repository.id ?? 'none';
}

async function inboxPage(context: PersonContext, deps: NotificationsDeps, refusal: FormRefusal | null) {
  const { viewer, query } = context;
  const chosen = readChosen(query);
  const { view, repository, reason } = chosen;
  const filter = { view, repositoryId: await repositoryIdOf(context, deps, repository), reason: reason || null };
  const [{ rows, next, previous }, unread, news] = await Promise.all([
    listPage((paging) => deps.notifications.list(viewer, filter, paging), query),
    deps.notifications.countUnread(viewer),
    isAccessShown(chosen, query) ? deps.notifications.listAccessNews(viewer) : [],
  ]);
  const now = deps.clock.now();
  const shown = rows.map((row) => viewNotificationRow(row, now));
  const address = (change: Partial<Chosen>): string => addressOf({ ...chosen, ...change });
  const repositories = [
    ...new Set([...(repository === '' ? [] : [repository]), ...shown.map((row) => row.repository.name)]),
  ];
  return page('notifications/inbox', {
    view,
    here: address({}),
    rows: shown,
    news: news.map((each) => viewAccessNews(each, now)),
    isNarrowed: repository !== '' || reason !== '',
    everything: addressOf({ view, repository: '', reason: '' }),
    tabs: viewNames.map((each) => ({
      text: views[each],
      url: addressOf({ ...chosen, view: each }),
      isChosen: each === view,
      count: each === 'unread' && unread > 0 ? viewUnread(unread) : null,
    })),
    repositories: [
      { text: t('notifications.inbox.all'), url: address({ repository: '' }), isChosen: repository === '' },
      ...repositories
        .sort()
        .map((name) => ({ text: name, url: address({ repository: name }), isChosen: name === repository })),
    ],
    reasons: [
      { text: t('notifications.inbox.all'), url: address({ reason: '' }), isChosen: reason === '' },
      ...reasons.map((each) => ({
        text: reasonWords[each],
        url: address({ reason: each }),
        isChosen: each === reason,
      })),
    ],
    chosen,
    upTo: now,
    undo: readUndo(query, now),
    refusal,
    ...pageLinks(path, { next, previous }, { view: view === 'inbox' ? '' : view, repository, reason }),
  });
}

/** Access notices are above the first page of unread notifications. */
const isAccessShown = ({ view, repository, reason }: Chosen, query: URLSearchParams): boolean =>
  (view === 'inbox' || view === 'unread') && repository === '' && reason === '' && !query.has('after');

/** Field `id` of the notice, or none for all; `next` is the page with the form. */
export const readAccessNews: Page<PersonContext, NotificationsDeps> = async ({ viewer, form }, deps) => {
  const id = form.text('id');
  await deps.notifications.readAccessNews(viewer, id === '' ? { upTo: deps.clock.now() } : { id: Number(id) });
  return seeOther(returnTarget(form.text('next') || path));
};

/** `/notifications`: query `view`, `repository`, `reason`, `undo`. */
export const showInbox: Page<PersonContext, NotificationsDeps> = (context, deps) => inboxPage(context, deps, null);

const undoWords: Readonly<Record<UndoableChange, string>> = translated({
  done: 'notifications.inbox.marked_as_done',
  read: 'notifications.inbox.marked_as_read',
  save: 'notifications.inbox.saved_2',
});

/** `undo=done.<time>`: the text of the notice, and the fields of its button; null after the time limit. */
function readUndo(query: URLSearchParams, now: number) {
  const [, change, time] = /^(done|read|save)\.(\d{1,15})$/.exec(query.get('undo') ?? '') ?? [];
  const at = Number(time);
  if (change === undefined || now - at > undoOfferedMs) return null;
  return { change, at, text: undoWords[change as UndoableChange] };
}

const isUndoable = (change: Change): change is UndoableChange => change in undoWords;

/**
 * Fields `only` (an id, of the button of a row), or `id` (several, the checkboxes), or `all` with `up_to`, `repository`
 * and `reason`; `next` is the page with the form.
 */
export const changeNotifications =
  (change: Change): Page<PersonContext, NotificationsDeps> =>
  (context, deps): Promise<Reply> => {
    const { viewer, form } = context;
    return submitForm(
      async () => {
        const only = form.text('only');
        const ids = (only === '' ? form.all('id') : [only]).map(Number).filter(Number.isSafeInteger);
        const isAll = only === '' && form.text('all') === 'yes';
        const next = returnTarget(form.text('next') || path);
        if (!isAll && ids.length === 0) return seeOther(next);
        const chosen = readChosen(new URLSearchParams([...entriesOf(form)]));
        if (isAll && change === 'read' && isAccessShown(chosen, new URLSearchParams()))
          await deps.notifications.readAccessNews(viewer, { upTo: Number(form.text('up_to')) || 0 });
        const at = await deps.notifications.change(
          viewer,
          change,
          isAll
            ? {
                upTo: Number(form.text('up_to')) || 0,
                repositoryId: await repositoryIdOf(context, deps, chosen.repository),
                reason: chosen.reason || null,
              }
            : { ids },
        );
        if (!isUndoable(change)) return seeOther(next);
        return seeOther(`${next}${next.includes('?') ? '&' : '?'}undo=${change}.${at}`);
      },
      (refusal) => inboxPage(context, deps, refusal),
    );
  };

const entriesOf = (form: PersonContext['form']): [string, string][] =>
  ['repository', 'reason'].map((name) => [name, form.text(name)]);

/** Fields `change` and `at` of the notice, and `next`. */
export const undoChange: Page<PersonContext, NotificationsDeps> = (context, deps) => {
  const { viewer, form } = context;
  return submitForm(
    async () => {
      const change = (['done', 'read', 'save'] as const).find((each) => each === form.text('change')) ?? 'done';
      await deps.notifications.undo(viewer, { change, at: Number(form.text('at')) });
      return seeOther(returnTarget(form.text('next') || path));
    },
    (refusal) => inboxPage(context, deps, refusal),
  );
};
