import { notFound } from '../../kernel/index.ts';
import { explainRefusal } from '../../issues/index.ts';
import { pullLimits } from '../../pulls/index.ts';
import type { ReviewRow, RoundRow } from '../../pulls/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { t } from '../../translation/index.ts';
import { encodePath } from '../app/code-urls.ts';
import { viewName } from '../app/printable-names.ts';
import { page } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import { renderText } from '../markdown/render-text.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import { contextSteps } from '../code/context-lines.ts';
import { viewCount } from '../app/format-numbers.ts';
import { createChangesUrlBuilder, changesUrl, pullAt, readChangesQuery, urlOfPull } from './changes-urls.ts';
import type { ChangesUrlBuilder, ChangesQuery } from './changes-urls.ts';
import { fileAnchor, viewFiles } from './changed-files.view.ts';
import { commentFormAt } from './comment-form.ts';
import type { ChangesForms } from './comment-form.ts';
import type { PullsDeps } from './deps.ts';
import { viewFileTree } from './file-tree.view.ts';
import { ThreadPlacements } from './place-threads.ts';
import { readPullHeader } from './pull-head.view.ts';
import { readChanges } from './read-changes.ts';
import type { ReadChanges } from './read-changes.ts';
import { readThreads } from './read-threads.ts';
import { reviewersIn, viewReviewers } from './reviewers.view.ts';
import { viewReviewForm } from './review-form.view.ts';
import type { ThreadView } from './thread.view.ts';
import { viewPairs, viewRound, viewRoundChoice } from './rounds.view.ts';

const maxListed = 300;
/** The step of unchanged lines that shows whole files. */
const wholeFile = contextSteps.at(-1)!;

/** The page of changes of a pull request. Throws `pull_not_found`, `round_not_found`, `git_busy`. */
export async function changesPage(
  context: RepositoryContext,
  deps: PullsDeps,
  { query = readChangesQuery(context), forms = {} }: { query?: ChangesQuery; forms?: ChangesForms } = {},
): Promise<PageReply> {
  const { found, viewer } = context;
  const { pulls, clock } = deps;
  const at = pullAt(context);
  const [{ issue, described, head }, rounds, rights, reviews, requests, teams, draft, viewed] = await Promise.all([
    readPullHeader(context, deps),
    pulls.rounds.list(viewer, at),
    pulls.rightsOn(viewer, at),
    pulls.reviews.list(viewer, at),
    pulls.attention.requested(viewer, at),
    pulls.attention.requestedTeams(viewer, at),
    context.person === null ? null : pulls.reviews.draftOf(viewer, at),
    context.person === null ? [] : pulls.viewed.list(viewer, at),
  ]);
  const url = urlOfPull(context);
  const address = createChangesUrlBuilder(changesUrl(url), query);
  const chosen = chooseRounds(rounds, query);
  const changes = await readChanges(context, deps, query, chosen);
  const mayReview = rights('review') === null;
  const isWhole = chosen.older === null;
  const isExpanded = query.contextLines === wholeFile;
  const threads = await readThreads(context, deps, {
    round: chosen.shown.round,
    commit: chosen.shown.headOid,
    files: changes.files,
    address,
    forms,
    mayReview,
    mayApply: issue.state === 'OPEN' && chosen.shown.round === described.pull.lastRound && rights('add_round') === null,
  });
  const preview =
    forms.comment?.isPreview === true && forms.comment.body.trim() !== ''
      ? await renderText(context, deps, forms.comment.body)
      : null;
  const form = mayReview ? commentFormAt(context, query, address, forms, preview) : null;
  const places = new ThreadPlacements(threads, form, isWhole);
  const { files, hidden } = await viewFiles(context, deps, changes, {
    query,
    address,
    mayComment: mayReview,
    isWhole,
    inFile: (file) => places.ofFile(file),
    viewed: context.person === null || !isWhole ? null : viewed,
  });
  const now = clock.now();
  const people = await deps.owners.ownersById(reviewersIn(reviews, requests));
  return page('pulls/changes', {
    repository: viewRepositoryHeader(found),
    head,
    round: viewRound(chosen.shown, now),
    choice: viewRoundChoice(rounds, chosen, lastReviewed(reviews, context.person?.id), { query, address }),
    comparison:
      chosen.older && (await viewComparison(context, deps, { ...chosen, older: chosen.older }, changes, address)),
    summary: viewSummary(changes),
    tree: viewFileTree(
      changes.files.slice(0, maxListed).map((file) => ({
        path: viewName(file.newPath.toString()),
        url: linkTo(file.newPath, files, address),
        status: file.status,
        added: file.added,
        removed: file.removed,
        isViewed: files.some(({ anchor, viewed }) => anchor === fileAnchor(file.newPath) && viewed?.state === 'viewed'),
      })),
    ),
    fileCount: changes.files.length,
    unlisted: Math.max(0, changes.files.length - maxListed),
    files,
    hidden,
    cutShort: changes.cutShort,
    layout: query.layout,
    ignoreWhitespace: query.ignoreWhitespace,
    isExpanded,
    isOneFile: query.only !== null,
    isUnknownFile: query.only !== null && files.length === 0,
    loadAll:
      query.only === null && !query.isAll && files.some(({ reason, load }) => reason !== null && load !== null)
        ? address({ all: '1' })
        : null,
    /** Threads without a file on this page. */
    top: places.rest(),
    viewedFiles: files.filter((file) => file.viewed?.state === 'viewed').length,
    suggestions: threads.flatMap(({ view }) => view.comments.flatMap(({ suggestion }) => suggestion ?? [])).length,
    suggestedBy: viewSuggestedBy(threads.map(({ view }) => view)),
    openThreads: threads.filter(({ view }) => !view.isResolved && !view.isDraft).map(({ view }) => view),
    resolvedThreads: threads.filter(({ view }) => view.isResolved).length,
    mayReview,
    whyNot: mayReview || context.person === null ? null : explainRefusal(rights('review')!),
    reviewers: viewReviewers({ reviews, requests, teams, box: null }, rights, people).reviewers,
    review: viewReviewForm({ issue, described }, context.person?.id, { rights, draft, form: forms.review }),
    mayCommentOld: isWhole,
    /** A refused comment form shows its own refusal. */
    refusal: forms.comment === undefined ? (forms.refusal ?? null) : null,

    /** The query of the shown page, so that its forms can return to it. */
    shown: address().split('?')[1] ?? '',
    urls: {
      comment: `${address({ comment: 'round' })}#comment`,
      all: address({ file: null, context: null }),
      unified: address({ view: null }),
      split: address({ view: 'split' }),
      expand: address({ context: isExpanded ? null : String(wholeFile) }),
      whitespace: address({ w: query.ignoreWhitespace ? null : '1' }),
      diff: patchUrl(`${url}.diff`, query),
      patch: patchUrl(`${url}.patch`, query),
    },
  });
}

/** URL of the shown round as a file. */
const patchUrl = (url: string, { to }: ChangesQuery): string => (to === null ? url : `${url}?to=${to}`);

/** Reviews with several applicable suggestions in unresolved threads, for a button that applies them all. */
function viewSuggestedBy(threads: readonly ThreadView[]) {
  const comments = threads.flatMap((thread) =>
    thread.isResolved ? [] : thread.comments.filter(({ suggestion }) => suggestion !== null),
  );
  return [...Map.groupBy(comments, ({ reviewId }) => reviewId).values()]
    .filter((own) => own.length > 1 && own.length <= pullLimits.suggestionsAtOnce)
    .map((own) => ({ by: own[0]!.author, comments: own.map(({ suggestion }) => suggestion) }));
}

/** The rounds that a page compares: a `from` that is not older than `to` is ignored. */
function chooseRounds(rounds: readonly RoundRow[], { from, to }: ChangesQuery) {
  const last = rounds.at(-1);
  const shown = to === null ? last : rounds.find(({ round }) => round === to);
  if (last === undefined || shown === undefined) throw notFound('round_not_found', 'There is no such round.');
  if (from === null) return { older: null, shown };
  const older = rounds.find(({ round }) => round === from);
  if (older === undefined) throw notFound('round_not_found', 'There is no such round.');
  return { older: older.round < shown.round ? older : null, shown };
}

/** The last round that a user has reviewed; null for none. */
function lastReviewed(reviews: readonly ReviewRow[], personId: string | undefined): number | null {
  const own = reviews.filter(({ authorId }) => personId !== undefined && authorId === personId);
  return own.length === 0 ? null : Math.max(...own.map(({ round }) => round));
}

/** Links to a file on this page by its anchor, to other files by a separate page. */
function linkTo(path: Buffer, files: readonly { anchor: string }[], address: ChangesUrlBuilder): string {
  const anchor = fileAnchor(path);
  return files.some((file) => file.anchor === anchor)
    ? `#${anchor}`
    : `${address({ file: encodePath(path), context: null, all: null })}#${anchor}`;
}

function viewSummary({ files, truncated }: ReadChanges) {
  const sum = (field: 'added' | 'removed') => files.reduce((total, file) => total + (file[field] ?? 0), 0);
  return {
    files: truncated
      ? t('pulls.changes_page.files_or_more', { files: viewCount(files.length, 'changed file') })
      : viewCount(files.length, 'changed file'),
    added: sum('added'),
    removed: sum('removed'),
  };
}

/** The text about two rounds: how they were compared, and their commits side by side. */
async function viewComparison(
  context: RepositoryContext,
  { pulls, clock }: PullsDeps,
  { older, shown }: { older: RoundRow; shown: RoundRow },
  changes: ReadChanges,
  address: ChangesUrlBuilder,
) {
  const pairs = await pulls.rounds.pairCommits(context.viewer, pullAt(context), {
    from: older.round,
    to: shown.round,
  });
  return {
    older: viewRound(older, clock.now()),
    kind: changes.kind,
    isRebased: older.baseOid !== shown.baseOid,
    conflicts: changes.conflicts.map(({ path }) => viewName(path)),
    pairs: pairs && viewPairs(pairs, repositoryUrl(context.found.canonical)),
    plainUrl: address({ plain: '1', file: null }),
    carriedUrl: address({ plain: null, file: null }),
  };
}
