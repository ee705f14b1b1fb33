import type { Commit } from '../../git/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { PushForReview } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { limits } from '../limits.ts';
import { changeIdOf } from '../rounds/read-round.ts';
import type { PushForOptions } from './read-push-options.ts';

/** A commit of a stack, with its own pull request. */
export interface StackCommit {
  oid: string;
  changeId: string;
  subject: string;
  /** The commit of the stack below it; null for the lowest. */
  belowOid: string | null;
}

/**
 * The commits of a push with the option `stack`, lowest first: those of the pack, and below them those that the
 * repository has from an earlier push. Throws `stack_of_one` for options that only apply to one pull request,
 * `stack_merge`, `stack_too_long`, `no_change_id`, `same_change_id`, `no_commit`, `git_busy`.
 */
export async function readStack(
  { git }: Pick<PullDeps, 'git'>,
  path: string,
  {
    newId,
    arriving,
    options,
    topic,
  }: Pick<PushForReview, 'newId' | 'arriving'> & { options: PushForOptions; topic: string | null },
  baseTip: string,
): Promise<StackCommit[]> {
  const { title, description, pull } = options;
  if (title !== null || description !== null || pull !== null || (topic ?? options.topic) !== null)
    throw invalid(
      'stack_of_one',
      'a stack opens a pull request for each commit, so title, description, topic and pull cannot be set',
    );
  const commits: Commit[] = [];
  const add = (commit: Commit): void => {
    commits.push(commit);
    refuseUnfit(commits);
  };
  let oid: string | undefined = newId;
  while (oid !== undefined) {
    // A client without the tip of the branch also sends commits that the branch already has.
    if ((await git.objects.commit(path, oid).catch(() => null)) !== null) {
      const known = await git.queries.commitsBetween(path, baseTip, oid, { limit: limits.stack + 1 });
      known.forEach(add);
      break;
    }
    const commit = arriving.read(oid);
    if (commit === null)
      throw invalid('no_commit', `commit ${oid.slice(0, 10)} is neither in the repository nor in the push`);
    add(commit);
    [oid] = commit.parents;
  }
  const stack: StackCommit[] = [];
  for (const commit of commits.reverse()) {
    const changeId = changeIdOf(commit);
    const name = `commit ${commit.oid.slice(0, 10)} “${commit.subject.slice(0, 60)}”`;
    if (changeId === null)
      throw invalid(
        'no_change_id',
        `${name} has no change id: commit with Gerrit's commit-msg hook, which adds a Change-Id line, or with jj`,
      );
    if (stack.some((other) => other.changeId === changeId))
      throw invalid('same_change_id', `${name} has the change id of another commit of the stack`);
    stack.push({ oid: commit.oid, changeId, subject: commit.subject, belowOid: stack.at(-1)?.oid ?? null });
  }
  return stack;
}

/** Checks the last commit read. */
function refuseUnfit(commits: readonly Commit[]): void {
  const last = commits.at(-1)!;
  if (last.parents.length > 1)
    throw invalid('stack_merge', `commit ${last.oid.slice(0, 10)} is a merge: a stack must be linear`);
  if (commits.length > limits.stack)
    throw invalid(
      'stack_too_long',
      `a stack can have at most ${limits.stack} commits; rebase it onto its base branch first`,
    );
}
