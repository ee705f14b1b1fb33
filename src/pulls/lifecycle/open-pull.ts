import { allows, maySync, personIdOf, repositoryLevel } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { isUniqueViolation } from '../../db/index.ts';
import type { EntryLog, Issue, NewIssue, RepositoryAt } from '../../issues/index.ts';
import { conflict, invalid } from '../../kernel/index.ts';
import type { Found } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { limits } from '../limits.ts';
import { contributedBytes, contributedTooMuch, isOverBudget } from '../rounds/contribution-quota.ts';
import { publishHead } from '../rounds/publish-head.ts';
import { prepareRound, recordRound } from '../rounds/record-round.ts';
import type { PreparedRound, RoundOrigin } from '../rounds/record-round.ts';
import { pullSchema, unknownState } from '../schema/pull-schema.ts';
import type { PullRow } from '../schema/pull-schema.ts';
import { findHead } from '../sources/find-head.ts';

interface NewPull extends Pick<NewIssue, 'title' | 'body' | 'labels' | 'assignees' | 'milestone' | 'dueOn'> {
  /** Base branch; the default branch if omitted. */
  base?: string | undefined;
  /** `branch`, `owner:branch` or `owner/name:branch`: a branch of the repository or of one of its forks. */
  head: string;
  isDraft?: boolean;
  maintainersMayPush?: boolean;
  /** Whether commits of a private fork may become visible to all readers of this repository. */
  publishes?: boolean;
}

export interface OpenedPull {
  issue: Issue;
  pull: PullRow;
}

/**
 * Opens a pull request from a branch. Throws the errors of opening an issue, with `pulls_off` and `members_only` by the
 * setting for pull requests; `base_missing`, `head_missing`, `same_branch`, `not_related`, `head_not_yours`,
 * `nothing_to_merge`, `pull_exists` (with the number), `publishes_private`, `too_many_pulls`, `contributed_too_much`,
 * `git_busy`.
 */
export async function openPull(
  deps: PullDeps,
  viewer: Viewer,
  at: RepositoryAt,
  { base, head, isDraft = false, maintainersMayPush = false, publishes = false, ...fields }: NewPull,
): Promise<OpenedPull> {
  const found = await deps.repositories.find(viewer, at.owner, at.name);
  const baseBranch = base === undefined || base === '' ? found.repository.defaultBranch : base;
  const baseTip = await deps.git.refs.tip(found.path, `refs/heads/${baseBranch}`);
  if (baseTip === null)
    throw invalid('base_missing', `This repository has no branch named ${baseBranch}.`, { field: 'base' });
  const source = await findHead(deps, viewer, found, head);
  const isFork = source.found.repository.id !== found.repository.id;
  if (!isFork && source.branch === baseBranch)
    throw invalid('same_branch', 'Choose two different branches.', { field: 'head' });
  if (isFork && !publishes && !maySync(source.found.repository, found.repository))
    throw invalid(
      'publishes_private',
      'The fork is private, but everyone who can see this repository would see these commits. Confirm that you want this.',
      { field: 'publishes' },
    );
  await refuseTwin(deps, { repositoryId: found.repository.id, baseBranch, source });
  await refuseTooMany(deps, viewer, found);
  const submitterId = personIdOf(viewer);
  const coming = { submitterId, headOid: source.oid, known: [baseTip], from: source.found.path };
  const bytes = await contributedBytes(deps, found, coming);
  if (await isOverBudget(deps, found.repository.id, submitterId, bytes)) throw contributedTooMuch(deps);
  const headOid = isFork ? await source.fetchInto(found.path) : source.oid;
  const prepared = await prepareRound(deps, found.path, null, headOid, baseTip);
  if (prepared.commitCount === 0)
    throw invalid('nothing_to_merge', `${baseBranch} already contains all commits from ${source.branch}.`, {
      field: 'head',
    });
  return createPull(deps, viewer, found, fields, prepared, {
    baseBranch,
    isDraft,
    maintainersMayPush: isFork && maintainersMayPush,
    source: isFork ? 'FORK' : 'BRANCH',
    headRepositoryId: source.found.repository.id,
    headBranch: source.branch,
    origin: { bytes },
  });
}

/** Head and base of a new pull request. */
interface PullCode
  extends Pick<PullRow, 'baseBranch' | 'isDraft' | 'source' | 'maintainersMayPush'>,
    Partial<Pick<PullRow, 'headRepositoryId' | 'headBranch' | 'topic'>> {
  /** The number reserved by an accepted push. */
  number?: number | null;
  origin?: Partial<RoundOrigin>;
}

/**
 * Creates a pull request with its first round, whose objects are already stored. Throws `pull_exists` if another one
 * for the same branch was created first.
 */
export async function createPull(
  deps: PullDeps,
  viewer: Viewer,
  { repository, path, canonical }: Pick<Found, 'repository' | 'path' | 'canonical'>,
  fields: Omit<NewIssue, 'template'>,
  prepared: PreparedRound,
  { number = null, origin = {}, ...code }: PullCode,
): Promise<OpenedPull> {
  const submitterId = personIdOf(viewer);
  let pull: PullRow | null = null;
  const record = async (log: EntryLog, issue: Issue): Promise<void> => {
    pull = { ...blank, ...code, issueId: issue.id, repositoryId: repository.id, submitterId, ...headOf(prepared) };
    await log.tx.manager.insert(pullSchema, pull);
    await recordRound(log, issue, pull, prepared, { submitterId, pushId: null, ...origin });
  };
  const via = origin.via;
  const issue = await deps.issues.pulls
    .open(viewer, canonical, fields, {
      taken: number === null ? null : { number, repository },
      record,
      ...(via === undefined ? {} : { via }),
    })
    .catch((error: unknown) => {
      throw isUniqueViolation(error, 'pulls_one_per_branch') || isUniqueViolation(error, 'pulls_one_per_topic')
        ? pullExists(null)
        : error;
    });
  await publishHead(deps, path, {
    issueId: issue.id,
    repositoryId: repository.id,
    number: issue.number,
    headOid: prepared.headOid,
  });
  deps.mergeStates.add([issue.id]);
  return { issue, pull: pull! };
}

const headOf = ({ headOid, baseOid, stackedOnOid }: PreparedRound) => ({ headOid, baseOid, stackedOnOid });

const blank = {
  isOpen: true,
  headRepositoryId: null,
  headBranch: null,
  topic: null,
  lastRound: 0,
  ...unknownState,
  mergeStyle: null,
  mergeWhenReadyBy: null,
  mergeWhenReadyRound: null,
  mergeWhenReady: null,
  mergedBy: null,
  mergedByName: null,
  submitterName: null,
  mergedOid: null,
  mergedOntoOid: null,
  mergePushId: null,
  mergedAt: null,
} as const satisfies Partial<PullRow>;

export const pullExists = (number: number | null) =>
  conflict(
    'pull_exists',
    number === null
      ? 'There is already an open pull request for this branch.'
      : `There is already an open pull request for this branch: #${number}.`,
  );

async function refuseTwin(
  { db }: PullDeps,
  {
    repositoryId,
    baseBranch,
    source,
  }: { repositoryId: string; baseBranch: string; source: { found: Found; branch: string } },
): Promise<void> {
  const twin: { number: number } | undefined = await db.read
    .createQueryBuilder(pullSchema, 'p')
    .innerJoin('issues', 'i', 'i.id = p.issue_id')
    .select('i.number', 'number')
    .where('p.repository_id = :repositoryId AND p.base_branch = :baseBranch AND p.is_open = :open', {
      repositoryId,
      baseBranch,
      open: true,
    })
    .andWhere('p.head_repository_id = :head AND p.head_branch = :branch', {
      head: source.found.repository.id,
      branch: source.branch,
    })
    .getRawOne();
  if (twin !== undefined) throw pullExists(Number(twin.number));
}

/** Throws `too_many_pulls`; users with write access have no limit. */
export async function refuseTooMany(
  { db, repositories }: Pick<PullDeps, 'db' | 'repositories'>,
  viewer: Viewer,
  { repository }: Pick<Found, 'repository'>,
): Promise<void> {
  const personId = personIdOf(viewer);
  if (personId === null) return;
  if (allows(repositoryLevel(viewer, await repositories.factsOf(personId, repository)), 'write')) return;
  const open = await db.read.countBy(pullSchema, { submitterId: personId, repositoryId: repository.id, isOpen: true });
  if (open >= limits.openPerContributor)
    throw invalid(
      'too_many_pulls',
      `You have ${limits.openPerContributor} open pull requests here. Close one, or wait until one is merged.`,
    );
}
