import type { z } from 'zod';
import type { Person } from '../accounts/index.ts';
import type { Located } from '../repositories/index.ts';
import type { DescribedPull } from './describe-pulls.ts';
import { issuePayload } from './issue.ts';
import type { pullRequest } from './pull-schema.ts';
import { numericId } from './numeric-id.ts';
import type { RepositoryPayload } from './repository.ts';
import { teamPayload } from './team.ts';
import { giteaTimeOrNull } from './time.ts';
import { userPayload } from './user.ts';
import type { UserPayload } from './user.ts';

/** A pull request in Gitea's form; `round`, `merge_state` and others are ours. */
export type PullPayload = z.output<typeof pullRequest>;

/** One side of a pull request. */
type PullBranchPayload = PullPayload['base'];

/**
 * @param show formats a repository for the receiver
 */
export function pullPayload(
  { issue, pull, mergedBy, requested, requestedTeams, head, base, baseTip }: DescribedPull,
  origin: string,
  show: (located: Located) => RepositoryPayload,
): PullPayload {
  const place = { origin, owner: base.owner.handle, repository: base.repository };
  const shown = issuePayload(issue, place, pull);
  const user = (person: Person): UserPayload => userPayload(person, { baseUrl: origin });
  const isMerged = issue.state === 'MERGED';
  return {
    id: shown.id,
    url: `${origin}/api/v1/repos/${place.owner}/${base.repository.name}/pulls/${issue.number}`,
    html_url: shown.html_url,
    number: shown.number,
    user: shown.user,
    title: shown.title,
    body: shown.body,
    labels: shown.labels,
    milestone: shown.milestone,
    assignee: shown.assignee,
    assignees: shown.assignees,
    requested_reviewers: requested.map(user),
    requested_reviewers_teams: requestedTeams.map((each) => teamPayload(each)),
    state: shown.state,
    draft: pull.isDraft,
    is_locked: shown.is_locked,
    comments: shown.comments,
    diff_url: `${shown.html_url}.diff`,
    patch_url: `${shown.html_url}.patch`,
    mergeable: pull.isOpen && pull.mergeState === 'CLEAN' && pull.mergeStateOnto === baseTip,
    merged: isMerged,
    merged_at: giteaTimeOrNull(pull.mergedAt),
    merge_commit_sha: isMerged ? pull.mergedOid : null,
    merged_by: mergedBy === null ? null : user(mergedBy),
    allow_maintainer_edit: pull.maintainersMayPush,
    base: {
      label: pull.baseBranch,
      ref: pull.baseBranch,
      sha: baseTip ?? pull.mergedOntoOid ?? pull.baseOid,
      repo_id: numericId(base.repository.id),
      repo: show(base),
    },
    head: headPayload({ issue, pull, head }, show),
    merge_base: pull.baseOid,
    due_date: shown.due_date,
    created_at: shown.created_at,
    updated_at: shown.updated_at,
    closed_at: shown.closed_at,
    content_version: shown.content_version,
    pin_order: shown.pin_order,
    round: pull.lastRound,
    source: pull.source,
    merge_state: pull.mergeState,
    conflicts: JSON.parse(pull.conflicts) as string[],
    merge_style: pull.mergeStyle,
    merge_when_ready_round: pull.mergeWhenReadyRound,
    revision: shown.revision,
    held: shown.held,
  };
}

/** Gitea's form of a head without a repository: the ref that the pull request keeps. */
function headPayload(
  { issue, pull, head }: Pick<DescribedPull, 'issue' | 'pull' | 'head'>,
  show: (located: Located) => RepositoryPayload,
): PullBranchPayload {
  const ref = `refs/pull/${issue.number}/head`;
  if (head === null || pull.headBranch === null)
    return { label: pull.headBranch ?? pull.topic ?? ref, ref, sha: pull.headOid, repo_id: -1, repo: null };
  return {
    label: pull.headBranch,
    ref: pull.headBranch,
    sha: pull.headOid,
    repo_id: numericId(head.repository.id),
    repo: show(head),
  };
}
