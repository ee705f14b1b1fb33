import { isDomainError } from '../../kernel/index.ts';
import type { ListedThread, ReviewRow } from '../../pulls/index.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import { readTabClasses } from '../code/read-editor-configs.ts';
import { entriesPerPage } from '../app/entry-urls.ts';
import { pullAt, urlOfPull } from './changes-urls.ts';
import type { ChangesForms } from './comment-form.ts';
import type { PullsDeps } from './deps.ts';
import { readEdited } from './read-threads.ts';
import { threadAnchor, viewThreads, whereOf } from './thread.view.ts';
import type { ThreadView } from './thread.view.ts';

/** A thread in the conversation; resolved and outdated threads are folded, unless a form in them is open. */
interface TalkThreadView extends ThreadView {
  isOpen: boolean;
  /** URL of its place in the changes; null if the last round does not contain its file. */
  changesUrl: string | null;
}

/** A thread that a review replies to. */
export interface AnsweredThread {
  where: string;
  url: string;
}

interface TalkThreads {
  /** By the anchor of the entry of the review that started them. */
  threads: Record<string, TalkThreadView[]>;
  /** By the id of a review: the threads of earlier reviews that it replies to. */
  answered: ReadonlyMap<string, AnsweredThread[]>;
  /** Whether git was too busy to place the threads, so that none is shown. */
  isBusy: boolean;
}

/** Inputs of the threads in a conversation besides their places. */
interface TalkContext {
  reviews: readonly ReviewRow[];
  /** The first position of the page of the timeline. */
  from: number;
  /** The last round, and its commit. */
  round: number;
  commit: string;
  mayReview: boolean;
  mayApply: boolean;
  forms: Pick<ChangesForms, 'reply' | 'edit'>;
}

/** The threads that reviews on one page of the timeline started, without those of the viewer's draft. */
export async function readTalkThreads(
  context: RepositoryContext,
  deps: PullsDeps,
  { reviews, from, round, commit, mayReview, mayApply, forms }: TalkContext,
): Promise<TalkThreads> {
  const all = await listPlaced(context, deps, round);
  if (all === null) return { threads: {}, answered: new Map(), isBusy: true };
  const positions = new Map(reviews.map(({ id, position }) => [id, position]));
  const isOnPage = (position: number | null | undefined): position is number =>
    typeof position === 'number' && position >= from && position < from + entriesPerPage;
  const begun = all.filter(({ comments }) => isOnPage(positions.get(comments[0]!.reviewId))).sort(byPlace);
  const url = urlOfPull(context);
  const editing = forms.edit ?? readEdited(context);
  const views = await viewThreads(context, deps, begun, {
    address: (change = {}) =>
      `${url}?${new URLSearchParams({ ...(from > 0 && { from: String(from) }), ...dropNull(change) })}`,
    editing,
    replying: forms.reply ?? null,
    mayReview,
    mayApply,
    tabsOf: await readTabClasses(
      context,
      deps,
      commit,
      begun.flatMap(({ path }) => path ?? []),
    ),
    linesNow: new Map(),
  });
  const threads: Record<string, TalkThreadView[]> = {};
  for (const [at, view] of views.entries()) {
    const { id, comments, place } = begun[at]!;
    const isOutdated = place === null || place.state === 'changed' || place.state === 'gone';
    const hasForm = editing?.threadId === id || forms.reply?.threadId === id;
    (threads[`e${positions.get(comments[0]!.reviewId)}`] ??= []).push({
      ...view,
      isOpen: hasForm || !(view.isResolved || isOutdated),
      changesUrl: isOutdated ? null : `${url}/changes#${view.anchor}`,
    });
  }
  return { threads, answered: answersIn(all), isBusy: false };
}

/** In reading order: threads of the round first, then by file and line. */
const byPlace = (one: ListedThread, other: ListedThread): number =>
  (one.path ?? '').localeCompare(other.path ?? '', 'en') || (one.firstLine ?? 0) - (other.firstLine ?? 0);

const dropNull = (change: Readonly<Record<string, string | null>>): Record<string, string> =>
  Object.fromEntries(Object.entries(change).filter((entry): entry is [string, string] => entry[1] !== null));

/** Threads that others can see; null if git is busy. */
async function listPlaced(
  context: RepositoryContext,
  { pulls }: PullsDeps,
  round: number,
): Promise<ListedThread[] | null> {
  try {
    return (await pulls.threads.list(context.viewer, pullAt(context), { round })).filter(({ isDraft }) => !isDraft);
  } catch (error) {
    if (isDomainError(error) && error.code === 'unavailable') return null;
    throw error;
  }
}

/** The threads that each review replies to, without those that it started. */
function answersIn(threads: readonly ListedThread[]): Map<string, AnsweredThread[]> {
  const answered = new Map<string, AnsweredThread[]>();
  for (const thread of threads) {
    const [first, ...replies] = thread.comments;
    const by = new Set(replies.filter(({ isDraft }) => !isDraft).map(({ reviewId }) => reviewId));
    by.delete(first!.reviewId);
    for (const reviewId of by) {
      const place = { where: whereOf(thread), url: `#${threadAnchor(thread.id)}` };
      answered.set(reviewId, [...(answered.get(reviewId) ?? []), place]);
    }
  }
  return answered;
}
