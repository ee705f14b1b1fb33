import { queryNumber, repositoryUrl, viewCloneBox } from '../../http/index.ts';
import { allows } from '../../access/index.ts';
import { isDomainError, nullIfNotFound } from '../../kernel/index.ts';
import type { MergeBox, PullHead } from '../../pulls/index.ts';
import { translated } from '../../translation/index.ts';
import { viewFlashMessage } from '../app/flash-messages.view.ts';
import { viewName } from '../app/printable-names.ts';
import { movedTo, page } from '../app/reply.ts';
import type { PageReply, RedirectReply } from '../app/reply.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import { viewTime } from '../app/times.view.ts';
import { issueAt, pageStart, readConversation } from '../issues/conversation.reply.ts';
import type { ConversationForms } from '../issues/conversation.reply.ts';
import { showWith } from '../issues/issue.page.ts';
import { issueUrl } from '../issues/issue-urls.ts';
import { viewSomeone } from '../issues/people.view.ts';
import type { PullsDeps } from './deps.ts';
import { readConflicts } from './conflicts.view.ts';
import { viewClosedPull } from './closed-pull.view.ts';
import type { ChangesForms } from './comment-form.ts';
import { viewMergeBox } from './merge-box.view.ts';
import type { MergeForm } from './merge-box.view.ts';
import { viewPullEvent } from './pull-events.view.ts';
import { viewCodeOwners } from './code-owners.view.ts';
import { readPullHeader } from './pull-head.view.ts';
import { viewQueuePosition } from './queue-position.view.ts';
import { viewReviewForm } from './review-form.view.ts';
import type { ReviewFormInput } from './review-form.view.ts';
import { readApproval } from '../runs/read-approval.ts';
import { readDeployedAt } from '../code/read-deployments.ts';
import { readTalkThreads } from './talk-threads.ts';
import { reviewersIn, viewReviewers } from './reviewers.view.ts';

/** The submitted values of a form on the page. */
export interface PullForms extends ConversationForms {
  merge?: MergeForm;
  review?: ReviewFormInput;
  /** The entered branch. */
  base?: string;
  /** A reply to a thread, and an edited comment of one. */
  thread?: Pick<ChangesForms, 'reply' | 'edit'>;
}

/** The conversation page of a pull request; the number of an issue redirects to that. Throws `pull_not_found`. */
export async function pullPage(
  context: RepositoryContext,
  deps: PullsDeps,
  forms: PullForms = {},
): Promise<PageReply | RedirectReply> {
  const { viewer, found, query, origin, preferences } = context;
  const { pulls } = deps;
  const at = issueAt(context);
  const { kind } = await deps.issues.find(viewer, at);
  const repository = repositoryUrl(found.canonical);
  if (kind !== 'PULL') return movedTo(issueUrl(repository, at.number, kind));
  const { issue, described, head } = await readPullHeader(context, deps);
  const [box, rounds, mayPushBranch, reviews, requests, teams, rights, draft, approval, place] = await Promise.all([
    readBox(context, deps),
    pulls.rounds.list(viewer, at),
    mayPushTo(context, deps, described.head),
    pulls.reviews.list(viewer, at),
    pulls.attention.requested(viewer, at),
    pulls.attention.requestedTeams(viewer, at),
    pulls.rightsOn(viewer, at),
    context.person === null ? null : pulls.reviews.draftOf(viewer, at),
    readApproval(context, deps, at.number),
    issue.state === 'OPEN' ? pulls.queue.placeOf(viewer, at) : null,
  ]);
  const conflicts = issue.state === 'OPEN' ? readConflicts(context, deps, box) : null;
  const mayReview = rights('review') === null;
  const lastRound = rounds.at(-1);
  const talk = await readTalkThreads(context, deps, {
    reviews,
    from: pageStart(forms.from ?? queryNumber(query, 'from') ?? 0, issue.lastPosition),
    round: described.pull.lastRound,
    commit: lastRound?.headOid ?? '',
    mayReview,
    mayApply: issue.state === 'OPEN' && rights('add_round') === null,
    forms: forms.thread ?? {},
  });
  const { answered } = talk;
  const conversation = await readConversation(context, deps, forms, issue, {
    viewEvent: (entry, people) =>
      viewPullEvent(entry, { repositoryUrl: repository, pullUrl: head.url, people, answered }),
    people: [
      ...rounds.map(({ submitterId }) => submitterId),
      ...peopleOf(box),
      ...reviewersIn(reviews, requests),
      place?.addedBy ?? null,
    ].filter((id) => id !== null),
  });
  const review = viewReviewForm({ issue, described }, context.person?.id, { rights, draft, form: forms.review });
  const { people } = conversation;
  const now = deps.clock.now();
  const clone = viewCloneBox({
    origin,
    ...found.canonical,
    ssh: deps.ssh(),
    config: deps.config,
    preferred: preferences.clone,
  });
  return page('pulls/pull', {
    ...conversation,
    people: null,
    head,
    threads: talk.threads,
    areThreadsLeftOut: talk.isBusy,
    /** The submitted values of thread forms. */
    round: { number: described.pull.lastRound },
    rounds: rounds
      .map(({ round, change, commitCount, note, submitterId, submitterName, createdAt }) => ({
        round,
        change: roundWords[change],
        commits: commitCount,
        note,
        url: round === 1 ? `${head.url}/changes?to=1` : `${head.url}/changes?from=${round - 1}&to=${round}`,
        by: viewSomeone({ id: submitterId, name: submitterName }, people),
        at: viewTime(createdAt, now),
      }))
      .reverse(),
    box:
      issue.state === 'OPEN' && box !== null
        ? viewMergeBox(box, {
            url: head.url,
            people,
            described,
            clone,
            conflicts: await conflicts,
            sides: { base: head.base.name, head: viewName(described.head.label) },
            style: query.get('style'),
            form: forms.merge ?? null,
            queued: place && viewQueuePosition(place, { rights, repository, people, now }),
            repositoryUrl: repository,
            mayPushBranch,
          })
        : null,
    approval,
    deployments: (
      await readDeployedAt(
        context,
        deps,
        [lastRound?.headOid, described.pull.mergedOid].flatMap((oid) => oid ?? []),
      )
    ).views,
    lacksMerge: issue.state === 'OPEN' && (await lacksMerge(context, deps, box, head.base.name)),
    isBusy: box === null,
    reviewers: viewReviewers({ reviews, requests, teams, box }, rights, people),
    /** Only for a viewer with a verdict to give or pending comments; mere comments use the reply form. */
    review: review !== null && issue.state === 'OPEN' && (review.mayJudge || review.pending > 0) ? review : null,
    isReviewOpen: forms.review !== undefined || (review?.pending ?? 0) > 0,
    owners: box && viewCodeOwners(box, repository, described.pull.baseBranch),
    maintainers:
      described.pull.source === 'FORK' && issue.state === 'OPEN'
        ? { mayPush: described.pull.maintainersMayPush, mayChange: mayPushBranch }
        : null,
    finished:
      issue.state !== 'OPEN' && box !== null
        ? viewClosedPull(box, { issue, described, found, people, now, mayPushBranch })
        : null,
    retarget:
      box?.mayEdit === true && issue.state === 'OPEN' ? await readRetarget(context, deps, forms, head.base.name) : null,
    notice: viewFlashMessage(query),
  });
}

const roundWords = translated({
  first: 'pulls.pull.opened',
  added: 'pulls.pull.commits_added',
  rebased: 'pulls.pull.rebased',
  edited: 'pulls.pull.rewritten',
  unknown: 'pulls.pull.rewritten',
} as const);

/** Null if the server is busy: the conversation is then shown without the box. */
async function readBox(context: RepositoryContext, { pulls }: PullsDeps): Promise<MergeBox | null> {
  try {
    return await pulls.mergeBox(context.viewer, issueAt(context));
  } catch (error) {
    if (isDomainError(error) && error.code === 'unavailable') return null;
    throw error;
  }
}

/** Whether workflows would run if a test merge existed. */
async function lacksMerge(
  { found }: RepositoryContext,
  { ci }: PullsDeps,
  box: MergeBox | null,
  base: string,
): Promise<boolean> {
  const state = box?.state.mergeState;
  return (state === 'CONFLICT' || state === 'UNRELATED') && ci.pulls.hasWorkflows(found, base);
}

/** Whether the viewer can push to the head repository, whatever the state of the pull request. */
async function mayPushTo(
  { viewer }: RepositoryContext,
  { repositories }: PullsDeps,
  { repository }: PullHead,
): Promise<boolean> {
  if (repository === null) return false;
  const { owner, repository: there } = repository;
  const found = await repositories.find(viewer, owner.handle, there.name).catch(nullIfNotFound);
  return found !== null && allows(found.level, 'write') && there.archivedAt === null;
}

const peopleOf = (box: MergeBox | null): (string | null)[] =>
  box === null
    ? []
    : [
        ...box.verdict.approvedBy,
        ...box.verdict.blocks.flatMap((block) => (block.kind === 'changes_requested' ? block.by : [])),
        box.whenReady?.by ?? null,
      ];

/** Maximum number of suggested branches; any other name can be typed. */
const maxBranches = 200;

async function readRetarget({ found }: RepositoryContext, { git }: PullsDeps, forms: PullForms, base: string) {
  const refs = await git.queries.cachedRefs(found.path);
  const branches = refs.page('refs/heads/', 0, maxBranches);
  return { base: forms.base ?? base, branches: branches.map(({ name }) => name) };
}

export const showPull = showWith(pullPage);
