import { anonymous, viewerWithCredential } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import { issueSchema } from '../issues/index.ts';
import type { EntryLog } from '../issues/index.ts';
import { branchOf, noRef, visitAll } from '../kernel/index.ts';
import type { AnnouncedPush, PushListener } from '../repositories/index.ts';
import type { PullDeps } from './deps.ts';
import { limits } from './limits.ts';
import { closingTargets } from './merging/land-merge.ts';
import { recordMerged } from './merging/record-merged.ts';
import type { RecordedMerge } from './merging/record-merged.ts';
import { contributedBytes, isOverBudget } from './rounds/contribution-quota.ts';
import { isBeingMerged, listenerName } from './rounds/pending-push.ts';
import { changedBy } from './rounds/followed-heads.ts';
import { publishHeadOf } from './rounds/publish-head.ts';
import { prepareNextRound } from './rounds/prepare-next-round.ts';
import { recordRound } from './rounds/record-round.ts';
import type { PreparedRound } from './rounds/record-round.ts';
import { prepareRetargets, recordRetarget } from './lifecycle/retarget-on-base-deletion.ts';
import type { Retarget } from './lifecycle/retarget-on-base-deletion.ts';
import { pullSchema } from './schema/pull-schema.ts';
import type { PullRow } from './schema/pull-schema.ts';
import { fetchBranch } from './sources/find-head.ts';
import { applyPushOptions } from './pushes/apply-push-options.ts';
import { pullByNumber } from './pushes/choose-pull.ts';
import { preparePushedRounds, recordPushedRounds } from './pushes/record-pushed-round.ts';
import type { PushedRound } from './pushes/record-pushed-round.ts';

/** A new round of a pull request whose head branch was pushed. */
interface NextRound {
  issueId: string;
  prepared: PreparedRound;
  bytes: number;
}

interface Prepared {
  rounds: NextRound[];
  merged: RecordedMerge[];
  /** Rounds of a push to `refs/for/…`: one, or one per commit of a stack. */
  pushed: PushedRound[];
  retargets: Retarget[];
  /** Open pull requests whose base branch has moved, newest first. */
  onto: PullRow[];
  /** Logs appended by `record`, for `recorded`. */
  logs: EntryLog[];
}

const heads = 'refs/heads/';

/**
 * Push listener: a push to the head branch of an open pull request creates a round; a push to its base branch may have
 * merged it, and invalidates its merge state. Awaited, so that the user who pushed finds the round on the page.
 */
export function onPush(deps: PullDeps): PushListener<Prepared> {
  return {
    name: listenerName,
    isAwaited: true,
    async prepare(push) {
      const prepared = await prepare(deps, push);
      const { rounds, merged, pushed, retargets } = prepared;
      if (rounds.length + merged.length + pushed.length + retargets.length > 0) return prepared;
      tryOnto(deps, push, prepared.onto);
      wakeQueues(deps, push);
      return null;
    },
    async record(tx, push, prepared) {
      const viewer = viewerOf(push);
      const log = deps.issues.pulls.logIn(tx, viewer);
      for (const { issueId, prepared: round, bytes } of prepared.rounds) {
        const issue = await tx.manager.findOneBy(issueSchema, { id: issueId });
        const pull = await tx.manager.findOneBy(pullSchema, { issueId });
        if (issue?.state !== 'OPEN' || pull === null || issue.deletedAt !== null) continue;
        // The merge knows its round; if the merge fails, a later round is found through the branch.
        if (await isBeingMerged(tx.manager, pull)) continue;
        // A use-case that could not wait has already recorded it.
        if (pull.headOid === round.headOid && pull.lastRound !== round.after?.round) continue;
        const origin = { submitterId: push.pusherId, pushId: push.id, bytes, via: 'git' } as const;
        await recordRound(log, issue, pull, round, origin);
      }
      // After the rounds, because a merge by hand may merge one of the last.
      for (const merged of prepared.merged) await recordMerged(deps, log, viewer, push.repository, merged);
      if (prepared.pushed.length > 0) await recordPushedRounds(log, push, prepared.pushed);
      for (const retarget of prepared.retargets) await recordRetarget(log, push, retarget);
      prepared.logs = [log];
    },
    async recorded(push, { rounds, pushed, retargets, onto, logs }) {
      await publishRecorded(deps, push, rounds, pushed);
      for (const log of logs) deps.issues.pulls.announce(log);
      wakeQueues(deps, push);
      const next = pushed.flatMap((one) => one.next ?? []);
      deps.mergeStates.add([...rounds, ...next, ...retargets].map(({ issueId }) => issueId));
      tryOnto(deps, push, onto);
      if (pushed.length > 0) await applyPushOptions(deps, push, pushed);
    },
  };
}

/** Sets the refs of new rounds before they are announced; for a push to `refs/for/…`, git has already set them. */
async function publishRecorded(
  deps: PullDeps,
  { repository }: AnnouncedPush,
  rounds: readonly NextRound[],
  pushed: readonly PushedRound[],
): Promise<void> {
  const ids = rounds.map(({ issueId }) => issueId);
  for (const { at } of pushed) {
    const known = await pullByNumber(deps.db.read, repository.id, at.number);
    if (known !== null) ids.push(known.issue.id);
  }
  for (const id of ids)
    await publishHeadOf(deps, id).catch((error: unknown) =>
      deps.logger.warn('pull.head_not_published', { issueId: id, error }),
    );
}

/** The queue must merge onto a new tip. */
function wakeQueues({ queue }: PullDeps, { repository, updates }: AnnouncedPush): void {
  for (const { ref } of updates.slice(0, limits.wokenQueues)) {
    const branch = branchOf(ref);
    if (branch !== null) queue.wakeSoon(repository.id, branch);
  }
}

/** The user who pushed, with the limits of the credential; for an entry by the server, nobody. */
const viewerOf = ({ pusherId, credential, repository }: AnnouncedPush): Viewer =>
  pusherId === null ? anonymous : viewerWithCredential(pusherId, credential, repository.id);

async function prepare(deps: PullDeps, push: AnnouncedPush): Promise<Prepared> {
  const branches = new Map<string, AnnouncedPush['updates'][number]>();
  await visitAll(push.updates, (update) => {
    const branch = branchOf(update.ref);
    if (branch !== null) branches.set(branch, update);
  });
  const pushed = await preparePushedRounds(deps, push);
  const prepared: Prepared = { rounds: [], merged: [], pushed, retargets: [], onto: [], logs: [] };
  if (branches.size === 0) return prepared;
  const { withHead, withBase } = await openPulls(deps, push.repository.id, branches);
  const onto = await changedBy(deps, push, withBase);
  for (const pull of await changedBy(deps, push, withHead)) {
    const { newId } = branches.get(pull.headBranch!)!;
    if (noRef.test(newId) || pull.lastRound >= limits.rounds) continue;
    const next = await prepareNext(deps, push, pull, newId);
    if (next !== null) prepared.rounds.push(next);
  }
  prepared.merged = await findMerged(deps, push, { withBase: onto, branches, rounds: prepared.rounds });
  const deleted = [...branches].flatMap(([branch, { newId }]) => (noRef.test(newId) ? [branch] : []));
  if (deleted.length > 0 && onto.length > 0) prepared.retargets = await findRetargets(deps, push, deleted, onto);
  const merged = new Set(prepared.merged.map(({ issueId }) => issueId));
  prepared.onto = withBase.filter(({ issueId }) => !merged.has(issueId)).slice(0, limits.mergeStates);
  return prepared;
}

/** Schedules the merge states of pull requests onto moved branches, grouped by branch. */
function tryOnto(deps: PullDeps, push: AnnouncedPush, pulls: readonly PullRow[]): void {
  if (pulls.length === 0) return;
  const tips = new Map(push.updates.map(({ ref, newId }) => [ref, newId]));
  for (const [branch, some] of Map.groupBy(pulls, ({ baseBranch }) => baseBranch)) {
    const tip = tips.get(`${heads}${branch}`);
    const ids = some.map(({ issueId }) => issueId);
    // A stacked pull request is merged from the commit where it left the one below.
    const tried = new Set(some.flatMap(({ headOid, stackedOnOid }) => (stackedOnOid === null ? [headOid] : [])));
    if (tried.size < 2 || tip === undefined || noRef.test(tip)) deps.mergeStates.add(ids);
    else
      deps.mergeStates.addAfter(async () => {
        const at = (await deps.repositories.locate([push.repository.id])).get(push.repository.id);
        if (at !== undefined) await deps.git.merges.tryMerges(at.path, tip, [...tried]);
      }, ids);
  }
}

async function findRetargets(
  deps: PullDeps,
  push: AnnouncedPush,
  deleted: readonly string[],
  withBase: readonly PullRow[],
): Promise<Retarget[]> {
  const located = (await deps.repositories.locate([push.repository.id])).get(push.repository.id);
  return located === undefined ? [] : prepareRetargets(deps, located, deleted, withBase);
}

/** Open pull requests from these branches and into them. */
async function openPulls(
  { db }: PullDeps,
  repositoryId: string,
  branches: ReadonlyMap<string, unknown>,
): Promise<{ withHead: PullRow[]; withBase: PullRow[] }> {
  // A push by a mirror may have thousands of refs; a repository has fewer open pull requests.
  const names = branches.size > 100 ? null : [...branches.keys()];
  const ofColumn = (column: 'head' | 'base') => {
    const query = db.read
      .createQueryBuilder(pullSchema, 'p')
      .where(`p.${column === 'head' ? 'head_repository_id' : 'repository_id'} = :repositoryId`, { repositoryId })
      .andWhere('p.is_open = :open', { open: true });
    if (names !== null) query.andWhere(`p.${column}_branch IN (:...names)`, { names });
    return query.getMany();
  };
  const [withHead, withBase] = await Promise.all([ofColumn('head'), ofColumn('base')]);
  // Row order is irrelevant here.
  return {
    withHead: withHead.filter(({ headBranch }) => headBranch !== null && branches.has(headBranch)),
    withBase: withBase.filter(({ baseBranch }) => branches.has(baseBranch)).reverse(),
  };
}

/**
 * Null if the head is already the last round, if the repository was deleted or rejects writes, and if the rounds of the
 * user exceed their limit: `catchUpWithHead` creates the round once there is space.
 */
async function prepareNext(
  deps: PullDeps,
  push: AnnouncedPush,
  pull: PullRow,
  newId: string,
): Promise<NextRound | null> {
  if (pull.headOid === newId) return null;
  const ids = [pull.repositoryId, push.repository.id];
  const located = await deps.repositories.locate(ids);
  const [base, head] = ids.map((id) => located.get(id));
  if (base === undefined || head === undefined || base.repository.archivedAt !== null) return null;
  const tip = await deps.git.refs.tip(head.path, `${heads}${pull.headBranch!}`);
  // A later push was recorded first, or has deleted the branch of the fork.
  if (pull.headOid === tip || (tip === null && base.path !== head.path)) return null;
  const coming = {
    submitterId: push.pusherId,
    headOid: newId,
    known: [pull.baseOid, pull.headOid],
    from: head.path,
  };
  const bytes = await contributedBytes(deps, base, coming);
  if (await isOverBudget(deps, base.repository.id, push.pusherId, bytes)) return null;
  const headOid =
    base.repository.id === head.repository.id ? newId : await fetchBranch(deps, head.path, pull.headBranch!, base.path);
  if (headOid === pull.headOid) return null;
  return { issueId: pull.issueId, prepared: await prepareNextRound(deps, base, pull, headOid), bytes };
}

/** Pull requests that this push has merged, through a merge here or by hand, by bringing their head to the base. */
async function findMerged(
  deps: PullDeps,
  push: AnnouncedPush,
  {
    withBase,
    branches,
    rounds,
  }: {
    withBase: readonly PullRow[];
    branches: ReadonlyMap<string, { oldId: string; newId: string }>;
    /** Receives the rounds that a merge by hand brings before the push of their branch is announced. */
    rounds: NextRound[];
  },
): Promise<RecordedMerge[]> {
  if (withBase.length === 0) return [];
  const located = (await deps.repositories.locate([push.repository.id])).get(push.repository.id);
  if (located === undefined) return [];
  const merged: RecordedMerge[] = [];
  for (const [branch, pulls] of Map.groupBy(withBase, ({ baseBranch }) => baseBranch)) {
    const { oldId, newId } = branches.get(branch)!;
    const own = pulls.filter(({ mergePushId }) => mergePushId === push.id);
    for (const pull of own) merged.push(await mergeOf(deps, push, pull));
    if (noRef.test(newId) || noRef.test(oldId)) continue;
    const others = pulls.filter((pull) => !own.includes(pull)).slice(0, limits.mergeStates);
    const heads = await Promise.all(others.map(async (pull) => ({ pull, head: await headNow(deps, pull) })));
    for (const { pull, head } of await broughtBy(deps, located.path, { oldId, newId }, heads)) {
      if (head !== pull.headOid && !rounds.some(({ issueId }) => issueId === pull.issueId)) {
        const prepared = await prepareNextRound(deps, located, pull, head);
        rounds.push({ issueId: pull.issueId, prepared, bytes: 0 });
      }
      merged.push({
        ...(await mergeOf(deps, push, pull)),
        byHand: { oid: newId, onto: oldId, mergedBy: push.pusherId },
      });
    }
  }
  return merged;
}

async function mergeOf(deps: PullDeps, push: AnnouncedPush, pull: PullRow): Promise<RecordedMerge> {
  const issue = await deps.db.read.findOneByOrFail(issueSchema, { id: pull.issueId });
  const closing = await closingTargets(deps, viewerOf(push), { issue, pull, repository: push.repository });
  return { issueId: pull.issueId, pushId: push.id, closing };
}

interface WithHead {
  pull: PullRow;
  head: string;
}

/** The tip of the head branch, which may be ahead of the last round; without a branch, the head of that round. */
async function headNow(deps: PullDeps, { headRepositoryId, headBranch, headOid }: PullRow): Promise<string> {
  if (headRepositoryId === null || headBranch === null) return headOid;
  const located = (await deps.repositories.locate([headRepositoryId])).get(headRepositoryId);
  return located === undefined
    ? headOid
    : ((await deps.git.refs.tip(located.path, `${heads}${headBranch}`)) ?? headOid);
}

/** Pull requests whose head this move added to the branch; similar changes do not count. */
async function broughtBy(
  { git }: PullDeps,
  path: string,
  move: { oldId: string; newId: string },
  pulls: readonly WithHead[],
): Promise<WithHead[]> {
  if (pulls.length === 0) return [];
  const gained = await git.refs.gainedCommits(path, move);
  if (gained !== null) {
    const oids = new Set(gained.map(({ oid }) => oid));
    return pulls.filter(({ head }) => oids.has(head));
  }
  const brought: WithHead[] = [];
  for (const each of pulls) if (await git.refs.isForward(path, each.head, move.newId)) brought.push(each);
  return brought;
}
