import { allows, mergeVerdict, refusalOnPull, repositoryLevel } from '../../access/index.ts';
import type { BranchRule, MergeFacts, MergeVerdict, Viewer } from '../../access/index.ts';
import type { MergeStyle } from '../../git/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import type { CommitStatus } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { factsOfPull } from '../find-pull.ts';
import type { findPull } from '../find-pull.ts';
import { findShownPull } from '../rounds/current-head.ts';
import { headOf } from '../head-label.ts';
import type { PullHead } from '../head-label.ts';
import { mergeStateOf } from '../mergeability/compute-merge-state.ts';
import { publishHead } from '../rounds/publish-head.ts';
import type { ComputedMergeState } from '../mergeability/compute-merge-state.ts';
import type { OwnersOfPull } from '../code-owners/owners-of-files.ts';
import { readRound } from '../rounds/read-round.ts';
import { mergeBaseOf } from '../stacks/stacked-pulls.ts';
import { gatherFacts, gitFacts } from './merge-facts.ts';
import { messagesOf } from './merge-template.ts';
import { mergeStyles } from './merge-message.ts';
import type { MergeMessage } from './merge-message.ts';

/** Data of the merge box of a page. */
export interface MergeBox {
  verdict: MergeVerdict;
  state: ComputedMergeState;
  facts: MergeFacts;
  owners: OwnersOfPull;
  rule: BranchRule | null;
  /** Styles allowed by the rule, default first. */
  styles: MergeStyle[];
  /** Initial values of the merge form; null for a viewer who cannot merge. */
  messages: Record<MergeStyle, MergeMessage> | null;
  /** Statuses of the head. */
  checks: CommitStatus[];
  head: PullHead;
  /** The tip of the head branch; null if the branch was deleted. */
  headTip: string | null;
  /** Whether the viewer has the permission to merge, now or later. */
  mayMerge: boolean;
  mayEdit: boolean;
  /** Whether the viewer can push to the head. */
  mayPushHead: boolean;
  /** Whether the head lacks commits of the base branch. */
  isBehind: boolean;
  deletesBranch: boolean;
  whenReady: { by: string | null; round: number; style: MergeStyle } | null;
}

/**
 * Gathers the merge box for a viewer; computes the merge state unless it is known. Throws the errors of `findPull` and
 * `git_busy`.
 */
export async function mergeBox(deps: PullDeps, viewer: Viewer, at: IssueAt): Promise<MergeBox> {
  const found = await deps.repositories.find(viewer, at.owner, at.name);
  const context = await findShownPull(deps, viewer, at);
  const { issue, pull, repository, facts, settings } = context;
  await publishHead(deps, found.path, { ...pull, number: issue.number });
  const state = await mergeStateOf(deps, found.path, pull);
  const git = await gitFacts(deps, found.path, repository, pull, state);
  const gathered = await gatherFacts(deps, deps.db.read, context, git);
  const verdict = mergeVerdict(viewer, facts, gathered.rule, gathered.facts);
  const head = await headOf(deps, viewer, repository, pull);
  const may = (act: 'merge' | 'edit'): boolean => refusalOnPull(viewer, facts, factsOfPull(issue, pull), act) === null;
  const mayMerge = may('merge') && issue.state === 'OPEN' && !verdict.blocks.some(({ kind }) => kind === 'level');
  // Reads the commits only for viewers who can merge, which most cannot.
  const tip = state.mergeStateOnto ?? pull.baseOid;
  const round = mayMerge
    ? await readRound(deps, found.path, pull.headOid, tip, await mergeBaseOf(deps, found.path, pull, tip))
    : null;
  const headTip = await tipOfHead(deps, head);
  const ready = pull.mergeWhenReady === null ? null : (JSON.parse(pull.mergeWhenReady) as { style: MergeStyle });
  return {
    verdict,
    state,
    facts: gathered.facts,
    owners: git.owners,
    rule: gathered.rule,
    styles: mergeStyles.filter((style) => gathered.rule === null || gathered.rule.merging.styles.includes(style)),
    messages:
      round &&
      (await messagesOf(deps, found, {
        ...{ issue, pull, headLabel: head.label, commits: round.commits },
        tip,
      })),
    checks: gathered.statuses,
    head,
    headTip,
    mayMerge,
    mayEdit: may('edit'),
    mayPushHead: await mayPushHead(deps, viewer, context, head),
    isBehind: issue.state === 'OPEN' && state.mergeStateOnto !== null && !git.isUpToDate,
    deletesBranch: settings.deletesMergedBranches,
    whenReady:
      ready === null || pull.mergeWhenReadyRound === null
        ? null
        : { by: pull.mergeWhenReadyBy, round: pull.mergeWhenReadyRound, style: ready.style },
  };
}

/** The tip of the head branch; null if it was deleted, and for a pull request made by a push. */
export async function tipOfHead(
  { git }: Pick<PullDeps, 'git'>,
  { repository, branch }: PullHead,
): Promise<string | null> {
  return repository === null || branch === null ? null : git.refs.tip(repository.path, `refs/heads/${branch}`);
}

/**
 * Whether a viewer can push to the head: users who can push to its repository, users of this repository if the author
 * allows it, and, for a pull request made by a push, users who can add a round. The push itself checks the rules of the
 * head repository.
 */
export async function mayPushHead(
  deps: Pick<PullDeps, 'repositories'>,
  viewer: Viewer,
  { issue, pull, facts }: Awaited<ReturnType<typeof findPull>>,
  head: PullHead,
): Promise<boolean> {
  if (viewer.kind !== 'person' || issue.state !== 'OPEN') return false;
  if (pull.source === 'PUSH') return refusalOnPull(viewer, facts, factsOfPull(issue, pull), 'add_round') === null;
  if (await mayWriteTo(deps, viewer, head)) return true;
  return isThere(head) && pull.maintainersMayPush && allows(repositoryLevel(viewer, facts), 'write');
}

const isThere = ({ repository }: PullHead): boolean => repository !== null && repository.repository.archivedAt === null;

/** Whether the access level of a viewer in the head repository allows pushes. */
export async function mayWriteTo(
  { repositories }: Pick<PullDeps, 'repositories'>,
  viewer: Viewer,
  head: PullHead,
): Promise<boolean> {
  if (viewer.kind !== 'person' || !isThere(head)) return false;
  const there = await repositories.factsOf(viewer.via === 'local' ? null : viewer.id, head.repository!.repository);
  return allows(repositoryLevel(viewer, there), 'write');
}
