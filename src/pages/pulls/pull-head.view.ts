import type { DescribedPull, PullHead, StackedPull } from '../../pulls/index.ts';
import type { ListedIssue } from '../../issues/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { codeUrl } from '../app/code-urls.ts';
import { viewName } from '../app/printable-names.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import { viewCount } from '../app/format-numbers.ts';
import { issueAt } from '../issues/conversation.reply.ts';
import { issueUrl } from '../issues/issue-urls.ts';
import { viewAuthor, viewSomeone } from '../issues/people.view.ts';
import type { PersonView } from '../issues/people.view.ts';
import type { PullsDeps } from './deps.ts';

/** The header of every page of a pull request, with its tabs. */
interface PullHeaderView {
  url: string;
  number: number;
  title: string;
  state: 'open' | 'draft' | 'merged' | 'closed';
  isLocked: boolean;
  isHeld: boolean;
  /** The author, or the user who merged it. */
  person: PersonView;
  /** `wants to merge`, `merged`. */
  /** Variant of the message `pulls.pull_head.merged`. */
  verb: 'wants' | 'merged' | 'wanted';
  commits: string;
  base: { name: string; url: string };
  /** `url` is null for a push, and for a branch that was deleted or is hidden from the viewer. */
  head: { name: string; url: string | null };
  counts: { comments: number; commits: number };
  /** Null for a pull request outside of a stack. */
  stack: StackView | null;
}

/** The pull requests of a stack; the first to be merged is at the top. */
interface StackView {
  place: number;
  rows: {
    number: number;
    title: string;
    url: string;
    state: PullHeaderView['state'];
    isCurrent: boolean;
    isBehind: boolean;
  }[];
}

/** A pull request with the common content of all its pages. */
interface FoundPull {
  issue: ListedIssue;
  described: DescribedPull;
  head: PullHeaderView;
}

/** Throws `pull_not_found`, also for the number of an issue; `issue_not_found`. */
export async function readPullHeader(
  context: RepositoryContext,
  deps: Pick<PullsDeps, 'issues' | 'pulls' | 'owners'>,
): Promise<FoundPull> {
  const { viewer, found } = context;
  const at = issueAt(context);
  await deps.pulls.find(viewer, at);
  const issue = await deps.issues.find(viewer, at);
  const [all, round, stack] = await Promise.all([
    deps.pulls.describe(viewer, [issue]),
    deps.pulls.rounds.find(viewer, at),
    deps.pulls.stack(viewer, at),
  ]);
  const described = all.get(issue.id)!;
  const { mergedBy, mergedByName } = described.pull;
  const people = await deps.owners.ownersById([issue.authorId, mergedBy].flatMap((id) => id ?? []));
  const url = repositoryUrl(found.canonical);
  const isMerged = issue.state === 'MERGED';
  const { baseBranch, isDraft } = described.pull;
  return {
    issue,
    described,
    head: {
      url: issueUrl(url, issue.number, 'PULL'),
      number: issue.number,
      title: viewName(issue.title),
      state: stateOf({ state: issue.state, isDraft }),
      isLocked: issue.lockedAt !== null,
      isHeld: issue.heldAt !== null,
      person:
        (isMerged ? viewSomeone({ id: mergedBy, name: mergedByName }, people) : null) ?? viewAuthor(issue, people),
      verb: issue.state === 'OPEN' ? 'wants' : isMerged ? 'merged' : 'wanted',
      commits: viewCount(round.commitCount, 'commit'),
      base: { name: viewName(baseBranch), url: codeUrl(url, 'tree', baseBranch) },
      head: viewHead(described.head),
      counts: { comments: issue.commentCount, commits: round.commitCount },
      stack: viewStack(stack, issue.number, url),
    },
  };
}

const stateOf = ({ state, isDraft }: Pick<StackedPull, 'state' | 'isDraft'>): PullHeaderView['state'] =>
  state === 'MERGED' ? 'merged' : state === 'CLOSED' ? 'closed' : isDraft ? 'draft' : 'open';

function viewStack(stack: readonly StackedPull[], current: number, url: string): StackView | null {
  const place = stack.findIndex(({ number }) => number === current) + 1;
  if (stack.length < 2 || place === 0) return null;
  const rows = stack.map(({ number, title, isBehind, ...pull }) => ({
    number,
    title: viewName(title),
    url: issueUrl(url, number, 'PULL'),
    state: stateOf(pull),
    isCurrent: number === current,
    isBehind,
  }));
  return { place, rows };
}

function viewHead({ label, repository, branch }: PullHead): PullHeaderView['head'] {
  if (repository === null || branch === null) return { name: viewName(label), url: null };
  const at = { owner: repository.owner.handle, name: repository.repository.name };
  return { name: viewName(label), url: codeUrl(repositoryUrl(at), 'tree', branch) };
}
