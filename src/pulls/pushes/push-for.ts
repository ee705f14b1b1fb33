import type { EntityManager } from 'typeorm';
import { allows, personIdOf, refusalInRepository, refusalOnPull, repositoryLevel } from '../../access/index.ts';
import type { IssueRepositoryFacts, Viewer } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import { isForReview, isWellFormedRef, reviewFolder } from '../../git/index.ts';
import { nextNumber, refusalError } from '../../issues/index.ts';
import { conflict, forbidden, invalid, isDomainError, notFound } from '../../kernel/index.ts';
import type { PushForReview, ReviewPort, ReviewVerdict } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { factsOfPull } from '../find-pull.ts';
import { limits } from '../limits.ts';
import { contributedBytesLeft, contributedTooMuch } from '../rounds/contributed-bytes.ts';
import { changeIdOf } from '../rounds/read-round.ts';
import { pullPushSchema, pullSchema } from '../schema/pull-schema.ts';
import { pullPageOf, remarksOnPush } from './push-remarks.ts';
import { readPushOptions } from './read-push-options.ts';
import type { PushForOptions } from './read-push-options.ts';
import { isBeingPushedTo, whichPull } from './which-pull.ts';
import type { KnownPull } from './which-pull.ts';

/** What is read of a push to `refs/for/…` before the write that decides about it. */
interface PreparedPush {
  refs: ReadonlyMap<string, string>;
  baseBranch: string;
  topic: string | null;
  options: PushForOptions;
  changeId: string | null;
}

type Prepared = PreparedPush | { refused: string };

/**
 * Takes pushes to `refs/for/<branch>[/<topic>]`: the ref is rewritten to that of a pull request, which the listener of
 * the push opens, or gives its next round.
 */
export function acceptPushesFor(deps: PullDeps): ReviewPort<Prepared> {
  return {
    async mayPush(viewer, { repository }) {
      if (viewer.kind !== 'person') return false;
      const { facts } = await deps.issues.pulls.contextOf(deps.db.lookup, viewer, repository);
      return refusalInRepository(viewer, facts, 'contribute') === null;
    },
    prepare: (push) => preparePush(deps, push).catch(asRefusal((refused) => ({ refused }))),
    async decide(tx, push, prepared) {
      if ('refused' in prepared) return { accept: false, reason: prepared.refused };
      return decide(deps, tx, push, prepared).catch(asRefusal((reason) => ({ accept: false, reason })));
    },
    async remarkOnBranch(viewer, opened, branch) {
      const page = pullPageOf(deps, opened.canonical, `new?head=${encodeURIComponent(branch)}`);
      if (page === null || viewer.kind !== 'person') return null;
      const { facts } = await deps.issues.pulls.contextOf(deps.db.lookup, viewer, opened.repository);
      if (refusalInRepository(viewer, facts, 'contribute') !== null) return null;
      return `Open a pull request for ${branch}: ${page}`;
    },
  };
}

/** A refusal becomes the line beside the ref; a temporary obstacle and a fault go on. */
const asRefusal =
  <T>(make: (reason: string) => T) =>
  (error: unknown): T => {
    if (!isDomainError(error) || error.code === 'unavailable' || error.code === 'internal') throw error;
    return make(error.message.replace(/\.$/, ''));
  };

async function preparePush(
  deps: PullDeps,
  { opened, ref, newId, arriving, ...push }: PushForReview,
): Promise<Prepared> {
  const options = readPushOptions(push.options);
  const refs = await deps.git.refs.list(opened.path);
  const { baseBranch, topic } = readTarget(ref, refs, opened.repository.defaultBranch);
  if (topic !== null && options.topic !== null && options.topic !== topic)
    throw invalid('two_topics', `the push names two topics: ${topic} and ${options.topic}`);
  const theTopic = topic ?? options.topic;
  if (theTopic !== null && (theTopic.length > 200 || !isWellFormedRef(`${reviewFolder}${theTopic}`)))
    throw invalid('bad_topic', 'a topic is a name like that of a branch, with at most 200 characters');
  if (arriving.tip === null) throw invalid('no_commit', 'only commits can be proposed, and this is none');
  const base = refs.get(`refs/heads/${baseBranch}`)!;
  if (arriving.isKnown && (await deps.git.refs.isForward(opened.path, newId, base)))
    throw invalid('nothing_to_merge', `${baseBranch} has this commit already`);
  return { refs, baseBranch, topic: theTopic, options, changeId: changeIdOf(arriving.tip) };
}

/** Branches that one line names. */
const maxNamed = 10;

/** The longest branch that the name begins with, and the topic behind it. Refuses `no_branch`. */
export function readTarget(
  ref: string,
  refs: ReadonlyMap<string, string>,
  defaultBranch: string,
): { baseBranch: string; topic: string | null } {
  const name = isForReview(ref) ? ref.slice(reviewFolder.length) : ref;
  const parts = name.split('/');
  for (let length = parts.length; length > 0; length -= 1) {
    const baseBranch = parts.slice(0, length).join('/');
    if (!refs.has(`refs/heads/${baseBranch}`)) continue;
    return { baseBranch, topic: length === parts.length ? null : parts.slice(length).join('/') };
  }
  const branches = [...refs.keys()].filter((each) => each.startsWith('refs/heads/')).map((each) => each.slice(11));
  if (branches.length === 0) throw invalid('no_branch', 'this repository has no branch yet');
  const sorted = branches.sort((a, b) => Number(b === defaultBranch) - Number(a === defaultBranch));
  const rest = sorted.length > maxNamed ? ` and ${sorted.length - maxNamed} more` : '';
  throw invalid('no_branch', `there is no branch ${name}; there are ${sorted.slice(0, maxNamed).join(', ')}${rest}`);
}

async function decide(
  deps: PullDeps,
  tx: Tx,
  { id, viewer, opened, newId, arriving }: PushForReview,
  { refs, baseBranch, topic, options, changeId }: PreparedPush,
): Promise<ReviewVerdict> {
  const userId = personIdOf(viewer);
  if (userId === null) throw forbidden('only_people', 'only people open pull requests by a push');
  const repositoryId = opened.repository.id;
  const context = await deps.issues.pulls.contextOf(tx.before, viewer, opened.repository);
  const answer = await whichPull(tx.before, {
    repositoryId,
    userId,
    baseBranch,
    topic,
    number: options.pull,
    headOid: newId,
    changeId,
  });
  const known = answer !== null && 'known' in answer ? answer.known : null;
  if (known !== null) refuseRound(viewer, context.facts, known);
  else {
    const refusal = refusalInRepository(viewer, context.facts, 'contribute');
    if (refusal !== null) throw refusalError(refusal, 'PULL');
  }
  const isMember = allows(repositoryLevel(viewer, context.facts), 'write');
  if (answer === null) {
    if (!isMember) await refuseTooManyOf(tx.before, repositoryId, userId);
    deps.issues.pulls.charge(viewer, context);
  }
  const named = known?.issue.number ?? (answer !== null && 'pending' in answer ? answer.pending : null);
  const left = isMember ? Number.MAX_SAFE_INTEGER : await contributedBytesLeft(deps, tx.before, repositoryId, userId);
  if (left === 0) throw contributedTooMuch(deps);
  if (named !== null && (await isBeingPushedTo(tx.before, repositoryId, named)))
    throw conflict('push_running', `another push to pull request #${named} is under way; push again when it has ended`);
  const number = named ?? (await nextNumber(tx, repositoryId));
  const to = `refs/pull/${number}/head`;
  const row = { pushId: id, repositoryId, number, baseBranch, topic, userId, createdAt: tx.now };
  return {
    accept: true,
    to,
    oldId: refs.get(to) ?? '0'.repeat(newId.length),
    maxPackBytes: isMember ? null : Math.min(deps.contributedPushBytes ?? left, left),
    others: options.others,
    record: async () => {
      await tx.manager.insert(pullPushSchema, row);
    },
    remarks: () => remarksOnPush(deps, viewer, opened, { number, known, headOid: newId, arriving, options }),
  };
}

function refuseRound(viewer: Viewer, facts: IssueRepositoryFacts, { issue, pull }: KnownPull): void {
  const refusal = refusalOnPull(viewer, facts, factsOfPull(issue, pull), 'add_round');
  if (refusal === 'hidden') throw notFound('pull_not_found', `there is no pull request #${issue.number} here`);
  if (refusal === 'level')
    throw forbidden('not_your_pull', `pull request #${issue.number} is not yours; open one of your own with a topic`);
  if (refusal !== null) throw refusalError(refusal, 'PULL');
  if (pull.source !== 'PUSH')
    throw invalid(
      'pull_of_branch',
      `pull request #${issue.number} follows ${pull.headBranch ?? 'a branch'}; push to that`,
    );
  if (issue.state !== 'OPEN')
    throw invalid(
      'pull_not_open',
      `pull request #${issue.number} is ${issue.state === 'MERGED' ? 'merged' : 'closed'}`,
    );
  if (pull.lastRound >= limits.rounds)
    throw invalid('too_many_rounds', `a pull request has at most ${limits.rounds} rounds; open another with a topic`);
}

/** Those whose push is not recorded yet count, too; a push that git refused does not, and a next round neither. */
async function refuseTooManyOf(source: EntityManager, repositoryId: string, userId: string): Promise<void> {
  const open = await source.countBy(pullSchema, { submitterId: userId, repositoryId, isOpen: true });
  const coming: { n: number } | undefined = await source
    .createQueryBuilder(pullPushSchema, 'f')
    // One row of each: `getCount` would sort them to tell them apart.
    .select('count(*)', 'n')
    .innerJoin('pushes', 'p', 'p.id = f.push_id')
    .where('f.user_id = :userId AND f.repository_id = :repositoryId', { userId, repositoryId })
    .andWhere('p.announced_at IS NULL AND p.parked_at IS NULL')
    .andWhere('NOT EXISTS (SELECT 1 FROM issues i WHERE i.repository_id = f.repository_id AND i.number = f.number)')
    .getRawOne();
  if (open + Number(coming?.n ?? 0) >= limits.openPerContributor)
    throw invalid('too_many_pulls', `you have ${limits.openPerContributor} open pull requests here; close one first`);
}
