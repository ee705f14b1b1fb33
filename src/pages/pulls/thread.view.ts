import { parseSuggestion } from '../../pulls/index.ts';
import type { ListedComment, ListedThread } from '../../pulls/index.ts';
import { t } from '../../translation/index.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import { viewCodeText, viewName } from '../app/printable-names.ts';
import { viewTime } from '../app/times.view.ts';
import { viewAuthor } from '../issues/people.view.ts';
import type { People } from '../issues/people.view.ts';
import { renderTexts } from '../markdown/render-text.ts';
import type { RenderedText } from '../markdown/render-text.ts';
import type { TabClasses } from '../code/read-editor-configs.ts';
import type { ChangesUrlBuilder } from './changes-urls.ts';
import type { PullsDeps } from './deps.ts';
import { splitSuggestions } from './suggestion-text.ts';

/** Maximum length of a comment in the list of open threads, in characters. */
const excerptLength = 100;

/** Maximum number of lines shown side by side; longer ranges are cut. */
const maxQuotedLines = 20;

export const threadAnchor = (threadId: string): string => `t-${threadId}`;

export type ThreadView = ReturnType<typeof viewThread>;

interface ThreadsContext {
  address: ChangesUrlBuilder;
  /** The comment whose text is in a form. */
  editing: { threadId: string; position: number; body: string | null } | null;
  /** The thread and text of a refused reply. */
  replying: { threadId: string; body: string } | null;
  mayReview: boolean;
  /** Whether suggestions can be applied on this page, if the place of each allows it. */
  mayApply: boolean;
  /** The tab width of a file. */
  tabsOf: TabClasses;
  /** The current lines at a changed place; null where unknown. */
  linesNow: ReadonlyMap<string, readonly string[]>;
}

/** Threads with their texts rendered, in their order. */
export async function viewThreads(
  context: RepositoryContext,
  deps: PullsDeps,
  threads: readonly ListedThread[],
  around: ThreadsContext,
): Promise<ThreadView[]> {
  const comments = threads.flatMap((thread) => thread.comments.filter(({ deletedAt }) => deletedAt === null));
  const bodies = comments.flatMap(({ body }) =>
    splitSuggestions(body).flatMap((part) => (part.kind === 'text' ? [part.text] : [])),
  );
  const [{ texts }, people] = await Promise.all([
    renderTexts(
      context,
      deps,
      bodies.map((body) => ({ body })),
    ),
    deps.owners.ownersById([
      ...new Set(threads.flatMap((thread) => thread.comments.flatMap(({ authorId }) => authorId ?? []))),
    ]),
  ]);
  const rendered = texts.values();
  const now = deps.clock.now();
  const personId = context.person?.id ?? null;
  return threads.map((thread) => viewThread(thread, { ...around, rendered, people, now, personId }));
}

interface ThreadContext extends ThreadsContext {
  /** The parts of all comments in their order. */
  rendered: Iterator<RenderedText, undefined>;
  people: People;
  now: number;
  personId: string | null;
}

function viewThread(thread: ListedThread, around: ThreadContext) {
  const { id, place, quoted, resolvedAt, comments } = thread;
  const [first] = comments;
  return {
    id,
    anchor: threadAnchor(id),
    isResolved: resolvedAt !== null,
    isDraft: thread.isDraft,
    round: thread.round,
    state: place?.state ?? null,
    tabs: thread.path === null ? null : around.tabsOf(thread.path),
    where: whereOf(thread),
    was: place?.state === 'changed' || place?.state === 'gone' ? quotedLines(quoted) : null,
    /** The original lines of a thread that is not at its line, from `firstLine` on. */
    quoted: quotedLines(quoted),
    firstLine: (place === null || place.state === 'gone' ? null : place.firstLine) ?? thread.firstLine,
    is: place?.state === 'changed' ? (around.linesNow.get(id) ?? null) : null,
    author: first === undefined ? null : viewAuthor(first, around.people),
    excerpt: first === undefined ? '' : viewName(first.body.replace(/\s+/g, ' ').slice(0, excerptLength)),
    comments: comments.map((comment) => viewComment(thread, comment, around)),
    mayReply: around.mayReview,
    mayResolve: thread.mayResolve,
    reply: around.replying?.threadId === id ? around.replying.body : null,
  };
}

function viewComment(thread: ListedThread, comment: ListedComment, around: ThreadContext) {
  const { threadId, position, body } = comment;
  const isOwn = around.personId !== null && comment.authorId === around.personId;
  const isGone = comment.deletedAt !== null;
  const edit = around.editing?.threadId === threadId && around.editing.position === position && isOwn && !isGone;
  return {
    position,
    reviewId: comment.reviewId,
    anchor: `${threadAnchor(threadId)}-${position}`,
    author: viewAuthor(comment, around.people),
    at: viewTime(comment.createdAt, around.now),
    isEdited: comment.editedAt !== null,
    isDraft: comment.isDraft,
    isGone,
    appliedId: comment.appliedOid?.slice(0, 10) ?? null,
    parts: isGone ? [] : viewParts(body, thread.quoted, around.rendered),
    suggestion: !isGone && around.mayApply && isApplicable(thread, comment) ? `${threadId}:${position}` : null,
    mayEdit: isOwn && !isGone && around.mayReview,
    edit: edit ? (around.editing?.body ?? body) : null,
    editUrl: `${around.address({ edit: `${threadId}:${position}` })}#${threadAnchor(threadId)}-${position}`,
  };
}

function viewParts(body: string, quoted: string, rendered: Iterator<RenderedText, undefined>) {
  return splitSuggestions(body).map((part) =>
    part.kind === 'text'
      ? { text: rendered.next().value! }
      : { suggestion: { removed: quotedLines(quoted), added: part.lines.map(viewCodeText) } },
  );
}

/** Whether a suggestion can replace the lines that it was made for. */
const isApplicable = (
  { place, side, isDraft }: ListedThread,
  { body, appliedOid, ...comment }: ListedComment,
): boolean =>
  side === 'NEW' &&
  place?.firstLine != null &&
  (place.state === 'same' || place.state === 'moved') &&
  !isDraft &&
  !comment.isDraft &&
  appliedOid === null &&
  parseSuggestion(body) !== null;

const quotedLines = (quoted: string): string[] =>
  quoted === '' ? [] : quoted.split('\n').slice(0, maxQuotedLines).map(viewCodeText);

/** The text of a thread's place. */
export function whereOf({ path, side, firstLine, lastLine, place }: ListedThread): string {
  const now = place !== null && place.state !== 'gone' ? place : { path, firstLine, lastLine };
  if (now.path === null) return t('pulls.thread.the_round_as_a_whole');
  const name = viewName(now.path);
  if (now.firstLine === null) return name;
  // Text, because line numbers have no thousands separators.
  const first = String(now.firstLine);
  const where =
    now.firstLine === now.lastLine
      ? t('pulls.thread.line', { name, line: first })
      : t('pulls.thread.lines', { name, first, last: String(now.lastLine) });
  return side === 'OLD' ? t('pulls.thread.before', { where }) : where;
}
