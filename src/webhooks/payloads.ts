import type { Person } from '../accounts/index.ts';
import { noRef, shortRef } from '../kernel/index.ts';
import type { FinalStatus, RunRow } from '../ci/index.ts';
import type { ChangedFile, Commit } from '../git/index.ts';
import { giteaTime, repositoryPayload, userPayload } from '../gitea-shapes/index.ts';
import type { UserPayload } from '../gitea-shapes/index.ts';
import type { Located, WikiPageChange } from '../repositories/index.ts';
import type { WebhookDeps } from './deps.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/**
 * Payloads in Gitea's format, which most receivers for GitHub also understand. Based on Gitea's API documentation of
 * webhook payloads.
 */

const time = giteaTime;
const maxMessageLength = 16_384;

type Settings = WebhookDeps['settings'];

/** The pusher: a user, or a deploy key, whose title is shown as a full name without an account. */
type Pusher = Person | { deployKey: string } | null;

const pusherPayload = (pusher: Pusher, settings: Pick<Settings, 'baseUrl'>): UserPayload =>
  pusher !== null && 'deployKey' in pusher
    ? { ...userPayload(null, settings), full_name: `deploy key ${pusher.deployKey}` }
    : userPayload(pusher, settings);

/** A commit with the names of its changed files. */
export interface CommitWithFiles {
  commit: Commit;
  files: readonly Pick<ChangedFile, 'status' | 'oldPath' | 'newPath'>[];
}

export function commitPayload(
  { commit, files }: CommitWithFiles,
  page: string,
  people: PushFacts['people'],
): JsonObject {
  const named = (statuses: readonly string[], side: 'oldPath' | 'newPath') =>
    files.filter(({ status }) => statuses.includes(status)).map((file) => file[side].toString('utf8'));
  const signature = ({ name, email }: Commit['author']) => ({
    name,
    email,
    username: people.get(email)?.username ?? '',
  });
  return {
    id: commit.oid,
    message: commit.message.slice(0, maxMessageLength),
    url: `${page}/commit/${commit.oid}`,
    author: signature(commit.author),
    committer: signature(commit.committer),
    verification: null,
    timestamp: time(commit.committer.at),
    added: named(['added', 'copied', 'renamed'], 'newPath'),
    removed: named(['deleted', 'renamed'], 'oldPath'),
    modified: named(['modified', 'type-changed'], 'newPath'),
  };
}

export interface PushFacts {
  ref: string;
  oldId: string;
  newId: string;
  /** Newest first; only the first of all new commits. */
  commits: readonly CommitWithFiles[];
  /** The commit of a tag; by default the first of `commits`. */
  head?: CommitWithFiles | null;
  total: number;
  /** Users behind authors and committers, by the address in the commit. */
  people: ReadonlyMap<string, Person>;
  pusher: Pusher;
}

export function pushPayload(
  located: Located,
  { ref, oldId, newId, commits, head, total, people, pusher }: PushFacts,
  settings: Settings,
): JsonObject {
  const page = `${settings.baseUrl ?? ''}/repos/${located.owner.handle}/${located.repository.name}`;
  const listed = commits.map((each) => commitPayload(each, page, people));
  const user = pusherPayload(pusher, settings);
  return {
    ref,
    before: oldId,
    after: newId,
    compare_url: noRef.test(oldId) ? '' : `${page}/compare/${oldId}...${newId}`,
    commits: listed,
    total_commits: total,
    head_commit: listed[0] ?? (head == null ? null : commitPayload(head, page, people)),
    repository: repositoryPayload(located, settings),
    pusher: user,
    sender: user,
  };
}

/** Payload for a created branch or tag. */
export function createPayload(
  located: Located,
  facts: { ref: string; newId: string; pusher: Pusher },
  settings: Settings,
): JsonObject {
  return {
    sha: facts.newId,
    ...namedRef(facts.ref),
    repository: repositoryPayload(located, settings),
    sender: pusherPayload(facts.pusher, settings),
  };
}

/** Payload for a deleted branch or tag. */
export function deletePayload(
  located: Located,
  facts: { ref: string; pusher: Pusher },
  settings: Settings,
): JsonObject {
  return {
    ...namedRef(facts.ref),
    pusher_type: 'user',
    repository: repositoryPayload(located, settings),
    sender: pusherPayload(facts.pusher, settings),
  };
}

/** Payload for a fork. As in Gitea, `forkee` is the source and `repository` is the fork. */
export function forkPayload(
  source: Pick<Located, 'repository' | 'owner'>,
  fork: Pick<Located, 'repository' | 'owner'>,
  sender: Person | null,
  settings: Settings,
): JsonObject {
  return {
    forkee: repositoryPayload(source, settings),
    repository: repositoryPayload(fork, settings),
    sender: userPayload(sender, settings),
  };
}

const namedRef = (ref: string): JsonObject => ({
  ref: shortRef(ref),
  ref_type: ref.startsWith('refs/tags/') ? 'tag' : 'branch',
});

/** State of a run at the time of the event; its row may have changed by a re-run. */
export type ToldRun = Pick<
  RunRow,
  | 'id'
  | 'number'
  | 'workflowPath'
  | 'workflowName'
  | 'title'
  | 'event'
  | 'ref'
  | 'sha'
  | 'attempt'
  | 'actorId'
  | 'deployKey'
  | 'createdAt'
  | 'startedAt'
  | 'finishedAt'
  | 'status'
>;
export type EndedRun = ToldRun & { status: FinalStatus };

const runPusher = (run: ToldRun, actor: Person | null, settings: Settings): UserPayload =>
  // Deliveries queued by earlier versions have no title.
  pusherPayload(run.deployKey ? { deployKey: run.deployKey } : actor, settings);

/** Fields of a run in payloads. */
export function runFields(located: Located, run: ToldRun, actor: Person | null, settings: Settings): JsonObject {
  const page = `${settings.baseUrl ?? ''}/repos/${located.owner.handle}/${located.repository.name}`;
  return {
    id: run.id,
    run_number: run.number,
    run_attempt: run.attempt,
    name: run.workflowName,
    display_title: run.title,
    path: run.workflowPath,
    event: run.event,
    head_branch: shortRef(run.ref),
    head_sha: run.sha,
    status: run.finishedAt === null ? 'in_progress' : 'completed',
    conclusion: run.finishedAt === null ? null : run.status,
    html_url: `${page}/runs/${run.number}`,
    created_at: time(run.createdAt),
    run_started_at: run.startedAt === null ? null : time(run.startedAt),
    updated_at: time(run.finishedAt ?? run.createdAt),
    actor: runPusher(run, actor, settings),
  };
}

export function runPayload(located: Located, run: EndedRun, actor: Person | null, settings: Settings): JsonObject {
  return {
    action: 'completed',
    workflow: { id: run.workflowPath, name: run.workflowName, path: run.workflowPath },
    workflow_run: { ...runFields(located, run, actor, settings), status: 'completed', conclusion: run.status },
    repository: repositoryPayload(located, settings),
    sender: runPusher(run, actor, settings),
  };
}

/** Payload for changed pages of a wiki: `pages` as on GitHub, and the first of them as in Gitea. */
export function wikiPayload(
  located: Located,
  { pages, commit, message }: { pages: readonly WikiPageChange[]; commit: string; message: string },
  sender: Person | null,
  settings: Settings,
): JsonObject {
  const wiki = `${settings.baseUrl ?? ''}/repos/${located.owner.handle}/${located.repository.name}/wiki`;
  const address = (title: string): string =>
    `${wiki}/${(title.includes('-') ? title : title.replaceAll(' ', '-')).split('/').map(encodeURIComponent).join('/')}`;
  const [first] = pages;
  return {
    action: first?.action ?? 'edited',
    page: first?.title ?? '',
    comment: message.slice(0, maxMessageLength),
    pages: pages.map(({ action, title }) => ({
      page_name: title,
      title,
      summary: null,
      action,
      sha: commit,
      html_url: address(title),
    })),
    repository: repositoryPayload(located, settings),
    sender: userPayload(sender, settings),
  };
}
