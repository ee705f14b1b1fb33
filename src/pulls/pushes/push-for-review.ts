import { personIdOf, refusalInRepository } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import { isForReview, isWellFormedRef, reviewFolder } from '../../git/index.ts';
import { nextNumber } from '../../issues/index.ts';
import { branchOf, conflict, forbidden, invalid, isDomainError, waitAtMost } from '../../kernel/index.ts';
import type { PushForReview, ReviewPort, ReviewVerdict } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { listenerName } from '../rounds/pending-push.ts';
import { changeIdOf } from '../rounds/read-round.ts';
import { acceptedPush, admitPush } from './accept-push.ts';
import type { ReadPush } from './accept-push.ts';
import { pullPageUrl, pushOutput } from './push-output.ts';
import { readPushOptions } from './read-push-options.ts';
import { decideStack } from './decide-stack.ts';
import { readStack } from './read-stack.ts';
import type { StackCommit } from './read-stack.ts';
import { isBeingPushedTo, choosePull } from './choose-pull.ts';

/** Data about a push to `refs/for/…`, read before the write that decides on it. */
interface PreparedPush extends ReadPush {
  topic: string | null;
  changeId: string | null;
  /** Commits of a push with the option `stack`, lowest first. */
  stack: StackCommit[] | null;
}

type Prepared = PreparedPush | { refused: string };

/** Time in milliseconds that a client waits for its round; a large one takes a second. */
const recordWaitMs = 10_000;

/**
 * Handles pushes to `refs/for/<branch>[/<topic>]`: rewrites the ref to that of a pull request, which the push listener
 * opens or gives a new round.
 */
export function acceptPushesForReview(deps: PullDeps): ReviewPort<Prepared> {
  return {
    async mayPush(viewer, { repository }) {
      if (viewer.kind !== 'person') return false;
      const { facts } = await deps.issues.pulls.contextOf(deps.db.lookup, viewer, repository);
      return refusalInRepository(viewer, facts, 'contribute') === null;
    },
    prepare: (push) => preparePush(deps, push).catch(asRefusal((refused) => ({ refused }))),
    async decide(tx, push, prepared) {
      if ('refused' in prepared) return { accept: false, reason: prepared.refused };
      const { stack } = prepared;
      const decided =
        stack === null ? decide(deps, tx, push, prepared) : decideStack(deps, tx, push, { ...prepared, stack });
      return decided.catch(asRefusal((reason) => ({ accept: false, reason })));
    },
    async whenRecorded(repositoryId) {
      const work = deps.repositories.pushes.recordAhead(listenerName, repositoryId).then(
        () => true,
        (error: unknown) => deps.logger.warn('pull.push_recorded_late', { repositoryId, error }),
      );
      return (await waitAtMost(work, recordWaitMs)) === true
        ? null
        : 'The push is taken; its pull request shows it in a moment.';
    },
    async remarkOnBranch(viewer, opened, branch) {
      const page = pullPageUrl(deps, opened, `new?head=${encodeURIComponent(branch)}`);
      if (viewer.kind !== 'person') return null;
      const { facts } = await deps.issues.pulls.contextOf(deps.db.lookup, viewer, opened.repository);
      if (refusalInRepository(viewer, facts, 'contribute') !== null) return null;
      return `Open a pull request for ${branch}: ${page}`;
    },
  };
}

/** Turns an error into the message next to the ref; temporary and internal errors are thrown again. */
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
    throw invalid('two_topics', `the push has two topics: ${topic} and ${options.topic}`);
  const theTopic = topic ?? options.topic;
  if (theTopic !== null && (theTopic.length > 200 || !isWellFormedRef(`${reviewFolder}${theTopic}`)))
    throw invalid('bad_topic', 'a topic must be a valid branch name of at most 200 characters');
  if (arriving.tip === null) throw invalid('no_commit', 'only commits can be proposed, and this is not a commit');
  const base = refs.get(`refs/heads/${baseBranch}`)!;
  if (arriving.isKnown && (await deps.git.refs.isForward(opened.path, newId, base)))
    throw invalid('nothing_to_merge', `${baseBranch} has this commit already`);
  const stack = options.isStack ? await readStack(deps, opened.path, { newId, arriving, options, topic }, base) : null;
  return { refs, baseBranch, topic: theTopic, options, changeId: changeIdOf(arriving.tip), stack };
}

/** Limit of branches named on one line. */
const maxNamed = 10;

/** Splits the name into the longest matching branch and the topic after it. Throws `no_branch`. */
function readTarget(
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
  const branches = [...refs.keys()].flatMap((each) => branchOf(each) ?? []);
  if (branches.length === 0) throw invalid('no_branch', 'this repository has no branch yet');
  const sorted = branches.sort((a, b) => Number(b === defaultBranch) - Number(a === defaultBranch));
  const rest = sorted.length > maxNamed ? ` and ${sorted.length - maxNamed} more` : '';
  throw invalid('no_branch', `there is no branch ${name}; there are ${sorted.slice(0, maxNamed).join(', ')}${rest}`);
}

async function decide(deps: PullDeps, tx: Tx, push: PushForReview, prepared: PreparedPush): Promise<ReviewVerdict> {
  const { viewer, opened, newId, arriving } = push;
  const userId = personIdOf(viewer);
  if (userId === null) throw forbidden('only_people', 'only users can open pull requests by a push');
  const repositoryId = opened.repository.id;
  const { baseBranch, topic, options, changeId } = prepared;
  const answer = await choosePull(tx.before, {
    repositoryId,
    userId,
    baseBranch,
    topic,
    number: options.pull,
    headOid: newId,
    changeId,
  });
  const known = answer !== null && 'known' in answer ? answer.known : null;
  const maxPackBytes = await admitPush(deps, tx, push, {
    userId,
    known: known === null ? [] : [known],
    added: known === null,
    opened: answer === null ? 1 : 0,
  });
  const named = known?.issue.number ?? (answer !== null && 'pending' in answer ? answer.pending : null);
  if (named !== null && (await isBeingPushedTo(tx.before, repositoryId, named)))
    throw conflict('push_running', `another push to pull request #${named} is under way; push again when it has ended`);
  const number = named ?? (await nextNumber(tx, repositoryId));
  return acceptedPush(tx, push, prepared, {
    userId,
    placed: [{ number, topic, position: 0, oid: null, belowOid: null }],
    maxPackBytes,
    remarks: () => pushOutput(deps, viewer, opened, { number, known, headOid: newId, arriving, options }),
  });
}
