import { isAbsolute, isLocalAdministrator, mergeVerdict, personIdOf, refusalOnPull } from '../../access/index.ts';
import type { MergeBlock, MergeVerdict, Viewer } from '../../access/index.ts';
import type { MergeOutcome, MergeStyle } from '../../git/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import { conflict } from '../../kernel/index.ts';
import type { Found } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { factsOfPull, refuse } from '../find-pull.ts';
import type { PullContext } from '../find-pull.ts';
import { findCurrentPull } from '../rounds/current-head.ts';
import { headOf } from '../head-label.ts';
import { mergeStateOf } from '../mergeability/compute-merge-state.ts';
import { commitsOnto } from '../rounds/read-round.ts';
import type { RoundCommit } from '../rounds/read-round.ts';
import { roundChanged } from '../rounds/record-round.ts';
import { explainBlock } from './explain-block.ts';
import { gatherFacts, gitFacts } from './merge-facts.ts';
import type { GatheredFacts } from './merge-facts.ts';
import { landMerge } from './land-merge.ts';
import type { Merged } from './land-merge.ts';
import { messagesOf } from './merge-template.ts';
import { mergeBaseOf } from '../stacks/stacked-pulls.ts';
import { addressesOf, coAuthorsOf, formatMessage, parseStyle } from './merge-message.ts';

export interface MergeInput {
  /** `merge`, `squash`, `rebase` or `forward`. */
  style: string;
  /** The round that the user has seen. */
  round: number;
  /** Message of the new commit; omitted parts get the default of the form. */
  title?: string | undefined;
  body?: string | undefined;
  /** Whether an administrator bypasses the requirements of the rule, if it permits that. */
  bypasses?: boolean;
}

/** Number of attempts to compute the merge while the base branch moves. */
const maxAttempts = 3;

/**
 * Merges the last round of a pull request into its base branch, as a journalled push. All conditions are checked again
 * in the write. Throws `pull_not_found`, `round_changed`, `merge_blocked` with the reasons, `merge_conflict` with the
 * files, `branch_moves_too_fast`, `branch_protected` for commits that the rule rejects, `git_busy`, and the errors of
 * `refusalOnPull`.
 */
export async function mergePull(deps: PullDeps, viewer: Viewer, at: IssueAt, input: MergeInput): Promise<Merged> {
  const style = parseStyle(input.style);
  for (let attempt = 1; ; attempt += 1) {
    const merged = await tryOnce(deps, viewer, at, style, input);
    if (merged !== null) return merged;
    if (attempt === maxAttempts)
      throw conflict('branch_moves_too_fast', 'The base branch is changing too quickly. Try again in a moment.');
  }
}

/** Null if the base branch has moved since its tip was read. */
async function tryOnce(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  style: MergeStyle,
  input: MergeInput,
): Promise<Merged | null> {
  const found = await deps.repositories.find(viewer, at.owner, at.name);
  const context = await findCurrentPull(deps, viewer, at);
  const { issue, pull, repository } = context;
  refuse(refusalOnPull(viewer, context.facts, factsOfPull(issue, pull), 'merge'));
  if (issue.state === 'OPEN' && pull.lastRound !== input.round) throw roundChanged();
  const fromGit = await gitFacts(deps, found.path, repository, pull, await mergeStateOf(deps, found.path, pull));
  const judge = (gathered: GatheredFacts, now: PullContext): MergeBlock[] =>
    requireVerdict(mergeVerdict(viewer, now.facts, gathered.rule, gathered.facts, style), input.bypasses === true);
  judge(await gatherFacts(deps, deps.db.read, context, fromGit), context);
  const onto = fromGit.state.mergeStateOnto!;
  const base = await mergeBaseOf(deps, found.path, pull, onto);
  // Only a squash names the commits and their authors.
  const commits = style === 'SQUASH' ? await commitsOnto(deps.git, found.path, base ?? onto, pull.headOid) : [];
  const outcome = await computeMerge(deps, viewer, found, context, { style, onto, base, commits, input });
  const oid = oidOf(outcome, pull.baseBranch);
  let bypassed: MergeBlock[] = [];
  const landed = await landMerge(deps, viewer, found, context, {
    onto,
    oid,
    style,
    round: input.round,
    async authorize(tx, now) {
      bypassed = judge(await gatherFacts(deps, tx.before, now, fromGit), now);
    },
    bypassed: () => bypassed.map(explainBlock),
  });
  if (landed === null) return null;
  if (bypassed.length > 0)
    deps.logger.warn('pull.rule_bypassed', {
      repositoryId: repository.id,
      pull: issue.number,
      blocks: bypassed.map(({ kind }) => kind),
      by: isLocalAdministrator(viewer) ? 'local' : personIdOf(viewer),
    });
  return landed;
}

/** Returns the blocks that an administrator bypasses. Throws `merge_blocked`. */
function requireVerdict({ blocks, mayBypass }: MergeVerdict, bypasses: boolean): MergeBlock[] {
  if (blocks.length === 0 || (bypasses && mayBypass)) return blocks;
  const worst = blocks.some(isAbsolute) ? blocks.filter(isAbsolute) : blocks;
  throw conflict('merge_blocked', worst.map(explainBlock).join(' '));
}

/** Computes the commit that merges the last round into a commit; writes its objects, but moves no ref. */
export async function computeMerge(
  deps: PullDeps,
  viewer: Viewer,
  found: Found,
  { issue, pull }: PullContext,
  {
    style,
    onto,
    base,
    commits,
    input,
  }: {
    style: MergeStyle;
    onto: string;
    /** Result of `mergeBaseOf`. */
    base: string | undefined;
    commits: readonly RoundCommit[];
    input: Pick<MergeInput, 'title' | 'body'>;
  },
): Promise<MergeOutcome> {
  const { path, repository } = found;
  const time = { at: deps.clock.now(), offsetMinutes: 0 };
  const committer = { ...(await deps.accounts.addresses.identityOrServer(personIdOf(viewer))), ...time };
  const author =
    style === 'SQUASH' && issue.authorId !== null
      ? { ...(await deps.accounts.addresses.identityOrServer(issue.authorId)), ...time }
      : committer;
  const { label } = await headOf(deps, viewer, repository, pull);
  const begun = (await messagesOf(deps, found, { issue, pull, headLabel: label, commits, tip: onto }))[style];
  const body = input.body ?? begun.body;
  const people = await deps.accounts.addresses.peopleByAddress([...addressesOf(commits), author.email]);
  const personId = style === 'SQUASH' && issue.authorId !== null ? issue.authorId : personIdOf(viewer);
  const message = formatMessage(
    { title: input.title?.trim() || begun.title, body },
    style === 'SQUASH' ? coAuthorsOf(commits, { email: author.email, personId }, people, body) : [],
  );
  return deps.git.merges.merge(path, {
    style,
    onto,
    head: pull.headOid,
    base,
    message,
    author,
    committer,
    sign: deps.signCommit,
  });
}

/** Limit of files named in a message. */
const namedFiles = 5;

/** The new tip. Throws if the merge failed. */
export function oidOf(outcome: MergeOutcome, branch: string): string {
  switch (outcome.kind) {
    case 'merged':
      return outcome.oid;
    case 'conflict': {
      const names = outcome.files.slice(0, namedFiles).map((file) => file.path);
      const more = outcome.files.length - names.length;
      const where = outcome.commit === null ? '' : ` in commit ${outcome.commit.slice(0, 10)}`;
      throw conflict(
        'merge_conflict',
        `There are conflicts${where}: ${names.join(', ')}${more > 0 ? ` and ${more} more files` : ''}.`,
      );
    }
    case 'nothing':
      throw conflict('merge_blocked', `${branch} already contains all of its commits.`);
    case 'not_forward':
      throw conflict(
        'merge_blocked',
        `${branch} has commits that the head branch does not have, so it cannot be fast-forwarded.`,
      );
    case 'unrelated':
      throw conflict('merge_blocked', 'The two branches have no common history.');
    case 'too_many_commits':
      throw conflict('merge_blocked', `Hearth cannot rebase more than ${outcome.limit} commits.`);
  }
}
