import { explainRefusal, noFilter } from '../../issues/index.ts';
import type { IssueAt, IssueKind, IssueRights, ListedEntry, ListedIssue, OtherIssue } from '../../issues/index.ts';
import { repositoryUrl, queryNumber } from '../../http/index.ts';
import { t } from '../../translation/index.ts';
import { viewName } from '../app/printable-names.ts';
import type { PageReply, RedirectReply } from '../app/reply.ts';
import { renderText, renderTexts } from '../markdown/render-text.ts';
import type { TextToRender } from '../markdown/render-text.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import { viewTime } from '../app/times.view.ts';
import type { IssuesDeps } from './deps.ts';
import { hideChoices, viewEntry } from './entry.view.ts';
import type { EventView, OtherIssueView } from './event-parts.view.ts';
import { issueListUrl } from './issue-filter.view.ts';
import { viewState } from './issue-row.view.ts';
import { viewIssueSidebar } from './issue-side.view.ts';
import { entriesPerPage, pageUrl } from '../app/entry-urls.ts';
import { issueName, issueNumber, issueUrl } from './issue-urls.ts';
import { viewAuthor } from './people.view.ts';
import type { People } from './people.view.ts';
import { quoteText } from './quote-text.ts';

/** The submitted values of a form on the page, so that it is shown again unchanged. */
export interface ConversationForms {
  refusal?: FormRefusal | null;
  /** The text of the reply form; without it a draft or a quotation fills the form. */
  reply?: string;
  /** Shows a preview of the reply, or of the edited entry. */
  isPreview?: boolean;
  /** The text that is being edited. `current` is set when another user changed it during the edit. */
  edit?: { position: number; body: string; revision: number; current?: string };
  /** The title in its form. */
  title?: string;
  /** The first position of the page that the form was sent from. */
  from?: number;
  /** The values entered in the sidebar, by field name. */
  side?: Readonly<Record<string, string>>;
}

export const issueAt = ({ found: { canonical }, params }: RepositoryContext): IssueAt => ({
  ...canonical,
  number: issueNumber(params['number']),
});

/** Whether the path of a request is below `B/pulls`. */
const kindInPath = ({ path }: RepositoryContext): IssueKind =>
  /^\/repos\/[^/]+\/[^/]+\/pulls\//i.test(path) ? 'PULL' : 'ISSUE';

/** The URL of the issue or pull request that a request path names. */
export const urlOfIssue = (context: RepositoryContext): string =>
  issueUrl(repositoryUrl(context.found.canonical), issueNumber(context.params['number']), kindInPath(context));

/** Shows the page of a conversation with the submitted values of its forms. Throws `issue_not_found`. */
export type ShowConversation<Deps> = (
  context: RepositoryContext,
  deps: Deps,
  forms?: ConversationForms,
) => Promise<PageReply | RedirectReply>;

interface ConversationOptions {
  /** Entries that only pull requests have; null for other entries. */
  viewEvent?: (entry: ListedEntry, people: People) => EventView | null;
  /** Users that the page names besides those of the conversation. */
  people?: readonly string[];
}

/**
 * The content of an issue page, and of a pull request page without its code: one range of the timeline, the forms that
 * the viewer can use, and the sidebar.
 */
export async function readConversation(
  context: RepositoryContext,
  deps: IssuesDeps,
  forms: ConversationForms,
  issue: ListedIssue,
  { viewEvent = () => null, people: named = [] }: ConversationOptions = {},
) {
  const { found, viewer, query } = context;
  const { issues, clock } = deps;
  const at = issueAt(context);
  const head = viewRepositoryHeader(found);
  const url = issueUrl(head.url, at.number, issue.kind);
  const list = `${head.url}/${issue.kind === 'PULL' ? 'pulls' : 'issues'}`;
  const rights = await issues.rightsOn(viewer, at);
  const from = pageStart(forms.edit?.position ?? forms.from ?? queryNumber(query, 'from') ?? 0, issue.lastPosition);
  const { entries } = await issues.listEntries(viewer, at, { from, limit: entriesPerPage });
  const [around, { texts }, files] = await Promise.all([
    gather(context, deps, at, { entries, rights, issue, named }),
    renderTexts(
      context,
      deps,
      entries.flatMap((entry) => textToRender(entry, url, rights)),
    ),
    // Only imported texts have files that they do not show.
    issue.origin === null ? [] : issues.followed.listFiles(issue.id, { from, limit: entriesPerPage }),
  ]);
  const rendered = texts.values();
  const viewOther = viewOtherOf(around.places, found.canonical);
  const now = clock.now();
  const entryAround = {
    repositoryId: found.repository.id,
    repositoryUrl: head.url,
    issueUrl: url,
    openerId: issue.authorId,
    people: around.people,
    viewOther,
    viewEvent: (entry: ListedEntry) => viewEvent(entry, around.people),
    rights,
    files: Map.groupBy(files, ({ position }) => position),
    now,
  };
  const isLast = from + entriesPerPage > issue.lastPosition;
  await deps.notifications.markIssueSeen(viewer, issue.id, isLast ? issue.lastPosition : from + entriesPerPage - 1);
  const mayReply = rights('contribute') === null;
  const reply = await replyOf(context, deps, forms, { issueId: issue.id, entries, mayReply });
  const edit = editOf(context, entries, rights, forms);
  return {
    repository: head,
    issue: {
      url,
      /** The noun for it in sentences. */
      noun: issue.kind === 'PULL' ? t('issues.conversation.pull_request') : t('issues.conversation.issue'),
      isPull: issue.kind === 'PULL',
      list,
      number: issue.number,
      title: viewName(issue.title),
      isOpen: issue.state === 'OPEN',
      closeReason: issue.closeReason,
      isLocked: issue.lockedAt !== null,
      isHeld: issue.heldAt !== null,
      author: viewAuthor(issue, around.people),
      opened: viewTime(issue.createdAt, now),
      commentCount: issue.commentCount,
    },
    titleForm:
      rights('edit_issue') === null && (forms.title !== undefined || query.get('edit') === 'title')
        ? (forms.title ?? issue.title)
        : null,
    mayEditTitle: rights('edit_issue') === null,
    entries: entries.map((entry) =>
      viewEntry(entry, textsOf(entry).length === 1 ? rendered.next().value! : null, entryAround),
    ),
    /** The position of the first entry. */
    from,
    pages: viewPages(url, from, issue.lastPosition),
    edit: edit && {
      ...edit,
      preview: forms.isPreview && forms.edit ? await renderText(context, deps, edit.body) : null,
    },
    reply: {
      text: reply.text,
      isDraft: reply.isDraft,
      saved: reply.saved,
      preview:
        mayReply && forms.isPreview && forms.reply !== undefined && reply.text.trim() !== ''
          ? await renderText(context, deps, reply.text)
          : null,
      mayComment: mayReply,
      mayClose: rights('close') === null,
      why: mayReply ? null : explainRefusal(rights('contribute')!, issue.kind),
      isSignedOut: rights('contribute') === 'sign_in',
    },
    side: viewIssueSidebar({
      ...around,
      repositoryUrl: head.url,
      labelUrl: (name) => issueListUrl(list, { ...noFilter, labels: [name] }),
      labels: issue.labels,
      assignees: issue.assignees,
      milestoneId: issue.milestoneId,
      isLocked: issue.lockedAt !== null,
      isPinned: issue.pinnedAt !== null,
      rights,
      viewerId: context.person?.id ?? null,
      viewOther,
    }),
    sideForm: forms.side ?? {},
    hideChoices: hideChoices(),
    refusal: forms.refusal ?? null,
    /** Used by the parts that only a pull request has. */
    people: around.people,
  };
}

/** A review without a text is only an event. */
const textsOf = ({ kind, body }: ListedEntry): string[] =>
  body !== null && (kind === 'opened' || kind === 'comment' || (kind === 'review' && body !== '')) ? [body] : [];

/** Users who can edit a text can change its task-list checkboxes. */
function textToRender(entry: ListedEntry, url: string, rights: IssueRights): TextToRender[] {
  const { position, revision } = entry;
  const mayEdit = rights('edit_entry', entry) === null;
  const taskForm = mayEdit ? { action: `${url}/tasks`, position, revision } : null;
  return textsOf(entry).map((body) => ({ body, taskForm }));
}

/** The first position of the page that contains this one. */
export const pageStart = (position: number, last: number): number =>
  Math.floor(Math.min(Math.max(0, position), last) / entriesPerPage) * entriesPerPage;

function viewPages(url: string, from: number, last: number) {
  if (last < entriesPerPage) return null;
  const lastStart = pageStart(last, last);
  return {
    first: from,
    last: Math.min(from + entriesPerPage - 1, last),
    count: last,
    earlier: from === 0 ? null : pageUrl(url, from - entriesPerPage),
    later: from >= lastStart ? null : pageUrl(url, from + entriesPerPage),
    newest: from >= lastStart ? null : `${pageUrl(url, last)}#e${last}`,
  };
}

/** All content of the page besides the entries, queried together. */
async function gather(
  { viewer, person }: RepositoryContext,
  { issues, owners, repositories }: IssuesDeps,
  at: IssueAt,
  {
    entries,
    rights,
    issue,
    named,
  }: {
    entries: readonly ListedEntry[];
    rights: IssueRights;
    issue: { assignees: string[]; authorId: string | null; milestoneId: string | null };
    named: readonly string[];
  },
) {
  const mayTriage = rights('triage') === null;
  const mayContribute = rights('contribute') === null;
  const [links, participants, subscription, allLabels, milestones] = await Promise.all([
    issues.listLinks(viewer, at),
    issues.listParticipants(viewer, at),
    person === null ? null : issues.subscriptionOf(viewer, at),
    mayTriage ? issues.listLabels(viewer, at) : [],
    mayTriage || issue.milestoneId !== null ? issues.listMilestones(viewer, at) : [],
  ]);
  const others = [...links.map((link) => link.issue), ...entries.flatMap(({ other }) => other ?? [])];
  const [people, places] = await Promise.all([
    owners.ownersById([
      ...peopleIn(entries),
      ...participants,
      ...named,
      ...issue.assignees,
      ...(issue.authorId === null ? [] : [issue.authorId]),
    ]),
    repositories.locate(others.map(({ repositoryId }) => repositoryId)),
  ]);
  return {
    links,
    participants,
    isSubscribed: mayContribute || subscription?.isOn === true ? (subscription?.isOn ?? false) : null,
    allLabels,
    milestones,
    people,
    places,
  };
}

const peopleIn = (entries: readonly ListedEntry[]): string[] =>
  entries.flatMap(({ authorId, details }) => [
    ...(authorId === null ? [] : [authorId]),
    ...(Array.isArray(details['users']) ? (details['users'] as string[]) : []),
    ...(typeof details['userId'] === 'string' ? [details['userId']] : []),
  ]);

type Places = Awaited<ReturnType<IssuesDeps['repositories']['locate']>>;

const viewOtherOf =
  (places: Places, home: { owner: string; name: string }) =>
  ({ repositoryId, number, title, state, kind }: OtherIssue): OtherIssueView => {
    const place = places.get(repositoryId);
    const at = place === undefined ? home : { owner: place.owner.handle, name: place.repository.name };
    return {
      url: issueUrl(repositoryUrl(at), number, kind),
      name: issueName(at, number, home),
      title: viewName(title),
      isOpen: state === 'OPEN',
      state: viewState({ kind, state, closeReason: null }),
    };
  };

/** A saved reply in the menu of the form; a long one has no text here, and its link loads it. */
interface SavedReplyView {
  id: string;
  title: string;
  text: string | null;
}

/** Limit in characters on a saved reply that the page embeds for its script. */
const maxInsertedText = 2_000;

/** The text of the reply form: the submitted text, or the draft with the quotation. */
async function replyOf(
  { viewer, query, person }: RepositoryContext,
  { issues }: IssuesDeps,
  { reply }: ConversationForms,
  { issueId, entries, mayReply }: { issueId: string; entries: readonly ListedEntry[]; mayReply: boolean },
): Promise<{ text: string; isDraft: boolean; saved: SavedReplyView[] }> {
  if (person === null) return { text: reply ?? '', isDraft: false, saved: [] };
  const replies = mayReply ? await issues.listSavedReplies(viewer) : [];
  const saved = replies.map(({ id, title, body }) => ({
    id,
    title,
    text: body.length > maxInsertedText ? null : body,
  }));
  if (reply !== undefined) return { text: reply, isDraft: false, saved };
  // Users who may no longer reply can still copy their draft.
  const draft = await issues.findDraft(viewer, replyDraft(issueId));
  const quoted = mayReply ? entries.find(({ position }) => position === queryNumber(query, 'quote')) : undefined;
  const quotation = quoted?.body == null || quoted.heldAt !== null ? '' : quoteText(quoted.body);
  return {
    text: [draft?.body, quotation, replies.find(({ id }) => id === query.get('saved'))?.body]
      .filter((text) => text !== undefined && text !== '')
      .join('\n\n'),
    isDraft: draft !== null,
    saved,
  };
}

/** Key under which the draft of a reply is stored. */
export const replyDraft = (issueId: string): string => `issue:${issueId}`;

/** The entry whose text is in a form: the submitted one, or the one that `?edit=` names. */
function editOf(
  { query }: RepositoryContext,
  entries: readonly ListedEntry[],
  rights: IssueRights,
  forms: ConversationForms,
) {
  const position = forms.edit?.position ?? queryNumber(query, 'edit');
  const entry = entries.find((each) => each.position === position);
  if (entry?.body == null || textsOf(entry).length === 0 || rights('edit_entry', entry) !== null) return null;
  return {
    position: entry.position,
    body: forms.edit?.body ?? entry.body,
    revision: forms.edit?.revision ?? entry.revision,
    current: forms.edit?.current ?? null,
  };
}
