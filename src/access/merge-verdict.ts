import { isNamedIn, mayByGrant } from './branch-rules.ts';
import type { ApprovalsSurvive, BranchRule, MergeConditions } from './branch-rules.ts';
import { allows } from './level.ts';
import { repositoryLevel } from './repository-level.ts';
import type { RepositoryFacts } from './repository-facts.ts';
import type { Viewer } from './viewer.ts';

/** A submitted review that was not dismissed. */
export interface ReviewFacts {
  authorId: string;
  round: number;
  verdict: 'COMMENT' | 'APPROVE' | 'REQUEST_CHANGES';
  /** Epoch milliseconds; a user's last verdict counts. */
  submittedAt: number;
  /** Whether the reviewer can currently write to the repository. */
  mayWrite: boolean;
}

/** A round, with its changes since the previous one. */
export interface RoundFacts {
  round: number;
  change: 'first' | 'added' | 'rebased' | 'edited' | 'unknown';
  submitterId: string | null;
}

/** A group of owners of changed files, one of whom must approve. */
export interface OwnerGroup {
  /** The pattern from the code owners file. */
  pattern: string;
  userIds: readonly string[];
}

/** All facts that decide whether a pull request may be merged. */
export interface MergeFacts {
  state: 'OPEN' | 'CLOSED' | 'MERGED';
  isDraft: boolean;
  authorId: string | null;
  mergeState: 'UNKNOWN' | 'CLEAN' | 'CONFLICT' | 'EMPTY' | 'UNRELATED';
  /** Whether the base branch exists, and whether the head contains its tip. */
  baseExists: boolean;
  isUpToDate: boolean;
  /** Whether the branch's merge queue asks, which tests the merge itself. */
  isByQueue?: boolean;
  /** Pull requests that must be merged first and are not yet: numbers, null for one of another repository. */
  needs?: readonly (number | null)[];
  /** All rounds, in any order. */
  rounds: readonly RoundFacts[];
  reviews: readonly ReviewFacts[];
  /** Groups that own files changed by the last round. */
  owners: readonly OwnerGroup[];
  openThreads: number;
  /** States of the statuses of the head, by context. */
  checks: ReadonlyMap<string, 'success' | 'pending' | 'failure' | 'error'>;
}

/** Why a pull request cannot be merged now. Administrators cannot override those of `isAbsolute`. */
export type MergeBlock =
  | { kind: 'not_open' | 'draft' | 'no_base' | 'conflict' | 'unknown' | 'empty' | 'unrelated' }
  | { kind: 'level' }
  | { kind: 'style'; styles: readonly string[] }
  /** With `isNamed`, the rule names whose approvals count. */
  | { kind: 'approvals'; have: number; need: number; isNamed: boolean }
  | { kind: 'owners'; missing: readonly OwnerGroup[] }
  | { kind: 'changes_requested'; by: readonly string[] }
  | { kind: 'threads'; open: number }
  | { kind: 'checks'; missing: readonly { context: string; state: 'missing' | 'pending' | 'failure' | 'error' }[] }
  | { kind: 'needs'; numbers: readonly (number | null)[] }
  | { kind: 'behind' | 'queue' };

export interface MergeVerdict {
  blocks: MergeBlock[];
  /** Reviewers whose approval currently stands; the rule may name whose count for the number that it requires. */
  approvedBy: string[];
  /** Whether the viewer may merge despite the blocks, which the log then records. */
  mayBypass: boolean;
}

const absolute: readonly MergeBlock['kind'][] = [
  'not_open',
  'draft',
  'no_base',
  'conflict',
  'unknown',
  'empty',
  'unrelated',
  'level',
  'needs',
];

/** Whether a block applies to administrators regardless of the rule. */
export const isAbsolute = ({ kind }: MergeBlock): boolean => absolute.includes(kind);

/**
 * The merge policy: everything that blocks merging the last round. Pure, so that tests state it as a table.
 * @param rule of the base branch; null for none
 * @param style null before one is chosen
 */
export function mergeVerdict(
  viewer: Viewer,
  repository: RepositoryFacts,
  rule: BranchRule | null,
  facts: MergeFacts,
  style: string | null = null,
): MergeVerdict {
  const blocks: MergeBlock[] = [];
  if (facts.state !== 'OPEN') return { blocks: [{ kind: 'not_open' }], approvedBy: [], mayBypass: false };
  if (facts.isDraft) blocks.push({ kind: 'draft' });
  if (facts.needs !== undefined && facts.needs.length > 0) blocks.push({ kind: 'needs', numbers: facts.needs });
  if (!facts.baseExists) blocks.push({ kind: 'no_base' });
  if (facts.mergeState !== 'CLEAN')
    blocks.push({
      kind: ({ CONFLICT: 'conflict', UNKNOWN: 'unknown', EMPTY: 'empty', UNRELATED: 'unrelated' } as const)[
        facts.mergeState
      ],
    });
  const mayWrite = allows(repositoryLevel(viewer, repository), 'write');
  const merging = rule?.merging ?? null;
  const isAllowed =
    merging === null ? mayWrite && viewer.kind === 'person' : mayByGrant(viewer, repository, merging.grant);
  if (!isAllowed) blocks.push({ kind: 'level' });
  const approvedBy = countingApprovals(facts, merging?.approvalsSurvive ?? 'rebase');
  const against = requestedChanges(facts);
  if (against.length > 0) blocks.push({ kind: 'changes_requested', by: against });
  if (merging !== null) {
    if (style !== null && !merging.styles.includes(style)) blocks.push({ kind: 'style', styles: merging.styles });
    const have = approvedBy.filter((id) => countsByRule(merging, id)).length;
    if (have < merging.approvals)
      blocks.push({ kind: 'approvals', have, need: merging.approvals, isNamed: merging.approvers !== null });
    const missing = merging.ownersApprove
      ? facts.owners.filter(({ userIds }) => !userIds.some((id) => approvedBy.includes(id)))
      : [];
    if (missing.length > 0) blocks.push({ kind: 'owners', missing });
    if (merging.threadsResolved && facts.openThreads > 0) blocks.push({ kind: 'threads', open: facts.openThreads });
    const failing = checksOfHead(merging).flatMap((check) => missingCheck(check, facts.checks));
    if (failing.length > 0) blocks.push({ kind: 'checks', missing: failing });
    if (merging.upToDate === 'yes' && !facts.isUpToDate) blocks.push({ kind: 'behind' });
    if (merging.upToDate === 'queue' && facts.isByQueue !== true) blocks.push({ kind: 'queue' });
  }
  const isAdministrator = allows(repositoryLevel(viewer, repository), 'admin');
  const mayBypass =
    blocks.length > 0 && isAdministrator && !blocks.some(isAbsolute) && (merging === null || !merging.adminsToo);
  return { blocks, approvedBy, mayBypass };
}

const ofQueue = ' (merge_group)';

/** The checks that a head must have passed: if a queue merges, it checks its own runs on the commit that it tests. */
const checksOfHead = ({ checks, upToDate }: MergeConditions): readonly string[] =>
  upToDate === 'queue' ? checks.filter((check) => !check.endsWith(ofQueue)) : checks;

/**
 * The state of required checks at a commit tested by the queue: checks of the queue's runs must exist and be
 * successful; others count if reported.
 * @param states states of the commit's statuses, by context
 */
export function checksOfCandidate(
  { checks }: Pick<MergeConditions, 'checks'>,
  states: MergeFacts['checks'],
): 'success' | 'pending' | 'failure' {
  const asked = checks
    .flatMap((check) => missingCheck(check, states).map((missing) => ({ ...missing, check })))
    .filter(({ state, check }) => state !== 'missing' || check.endsWith(ofQueue));
  if (asked.some(({ state }) => state === 'failure' || state === 'error')) return 'failure';
  return asked.length === 0 ? 'success' : 'pending';
}

/** The last verdict of each reviewer; comments do not replace an earlier verdict. */
function lastVerdicts(reviews: readonly ReviewFacts[]): ReviewFacts[] {
  const last = new Map<string, ReviewFacts>();
  for (const review of reviews) {
    if (review.verdict === 'COMMENT') continue;
    const before = last.get(review.authorId);
    if (before === undefined || before.submittedAt <= review.submittedAt) last.set(review.authorId, review);
  }
  return [...last.values()];
}

/**
 * The reviewers whose approval counts for the last round: they can write now, are not the author and did not push the
 * round that they approve, and their approval survives the later rounds.
 */
export function countingApprovals(
  { reviews, rounds, authorId }: Pick<MergeFacts, 'reviews' | 'rounds' | 'authorId'>,
  survive: ApprovalsSurvive,
): string[] {
  const survives = (from: number): boolean => {
    const later = rounds.filter(({ round }) => round > from);
    if (survive === 'anything') return true;
    return survive === 'nothing' ? later.length === 0 : later.every(({ change }) => change === 'rebased');
  };
  const pushers = (from: number) => rounds.filter(({ round }) => round >= from).map(({ submitterId }) => submitterId);
  return lastVerdicts(reviews)
    .filter(
      ({ verdict, mayWrite, authorId: reviewer, round }) =>
        verdict === 'APPROVE' &&
        mayWrite &&
        reviewer !== authorId &&
        !pushers(round).includes(reviewer) &&
        survives(round),
    )
    .map((review) => review.authorId);
}

/** Whether a rule counts an approval of a user, who can write, for the number that it requires. @param id UUID */
const countsByRule = ({ approvers }: Pick<MergeConditions, 'approvers'>, id: string): boolean =>
  approvers === null || isNamedIn(approvers, id);

/** The reviewers whose approval meets a condition of a rule: the number of approvals, or that of the code's owners. */
export const countedApprovals = (
  facts: Pick<MergeFacts, 'reviews' | 'rounds' | 'authorId' | 'owners'>,
  merging: MergeConditions,
): string[] =>
  countingApprovals(facts, merging.approvalsSurvive).filter(
    (id) =>
      countsByRule(merging, id) || (merging.ownersApprove && facts.owners.some(({ userIds }) => userIds.includes(id))),
  );

/** Reviewers with write access whose last verdict requests changes. A later round does not resolve it. */
export function requestedChanges({ reviews }: Pick<MergeFacts, 'reviews'>): string[] {
  return lastVerdicts(reviews)
    .filter(({ verdict, mayWrite }) => verdict === 'REQUEST_CHANGES' && mayWrite)
    .map(({ authorId }) => authorId);
}

/** The problem with one required check; `build*` requires every context with this prefix, and at least one. */
function missingCheck(
  check: string,
  states: MergeFacts['checks'],
): { context: string; state: 'missing' | 'pending' | 'failure' | 'error' }[] {
  const isPrefix = check.endsWith('*');
  const contexts = isPrefix
    ? [...states.keys()].filter((context) => context.startsWith(check.slice(0, -1)))
    : states.has(check)
      ? [check]
      : [];
  if (contexts.length === 0) return [{ context: check, state: 'missing' }];
  return contexts.flatMap((context) => {
    const state = states.get(context)!;
    return state === 'success' ? [] : [{ context, state }];
  });
}
