import type { Commit } from '../../git/index.ts';
import type { Issue } from '../../issues/index.ts';
import type { PullCode } from '../../pulls/index.ts';
import type { Located } from '../../repositories/index.ts';
import type { Json } from '../workflows/json-value.ts';
import type { PullAction } from '../workflows/match-pull.ts';
import { repositoryPayload } from '../runs/push-event.ts';

interface PullEvent {
  action: PullAction;
  issue: Issue;
  body: string;
  code: PullCode;
  /** The commit that CI tests: the head merged into the base branch. */
  mergeOid: string;
  /** Tip of the base branch. */
  baseTip: string;
  /** Usernames of the author and of the user who caused the event. */
  author: string;
  actor: string;
}

/** Event payload that workflows read as `github.event`; names and shapes are those of other forges. */
export function pullPayload(
  { action, issue, body, code: { pull, round, previousHead }, mergeOid, baseTip, author, actor }: PullEvent,
  located: Located,
  baseUrl: string | null,
): { [key: string]: Json } {
  const repository = repositoryPayload(located, baseUrl);
  const person = (login: string): Json => ({ login, username: login, name: login });
  const place = (ref: string, sha: string): Json => ({
    label: `${located.owner.handle}:${ref}`,
    ref,
    sha,
    user: person(located.owner.handle),
    repo: repository,
  });
  const page = `${baseUrl ?? ''}/repos/${located.owner.handle}/${located.repository.name}/pulls/${issue.number}`;
  return {
    action,
    number: issue.number,
    pull_request: {
      id: issue.id,
      number: issue.number,
      html_url: page,
      state: 'open',
      title: issue.title,
      body,
      user: person(author),
      draft: pull.isDraft,
      merged: false,
      mergeable: true,
      merge_commit_sha: mergeOid,
      commits: round.commitCount,
      head: place(headRefOf({ issue, pull }), round.headOid),
      base: place(pull.baseBranch, baseTip),
    },
    ...(action === 'synchronize' && previousHead !== null ? { before: previousHead, after: round.headOid } : {}),
    repository,
    sender: person(actor),
  };
}

/** The head branch; for a pull request made by a push its topic, or the name of its head here. */
const headRefOf = ({ issue, pull }: { issue: Issue; pull: PullCode['pull'] }): string =>
  pull.headBranch ?? pull.topic ?? `pull/${issue.number}/head`;

/** Title of the run: the title of the pull request is more informative than the subject of a generated merge commit. */
export const titleOfPullRun = ({ title }: Issue, head: Commit): string => (title === '' ? head.subject : title);
