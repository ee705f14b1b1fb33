import { readRefPattern } from '../../access/index.ts';
import { repositoryPayload } from '../../gitea-shapes/index.ts';
import { branchOf, noRef, shortRef } from '../../kernel/index.ts';
import type { AnnouncedPush, Located, PushListener } from '../../repositories/index.ts';
import type { WebhookDeps } from '../deps.ts';
import { enqueueDelivery } from '../enqueue-delivery.ts';
import type { JsonObject } from '../json.ts';
import { webhooksFor } from '../scope.ts';
import type { WebhookEvent, WebhookRow } from '../webhook-schema.ts';
import { commitPayload, peopleOfCommits, pusherPayload, withFiles } from './commit-payload.ts';
import type { CommitWithFiles, PeopleByAddress, Pusher } from './commit-payload.ts';
import { locate, personOf } from './stored-event.ts';

type Settings = WebhookDeps['settings'];
type Update = AnnouncedPush['updates'][number];

/** One event of a push with its payload. */
interface PushEvent {
  event: Extract<WebhookEvent, 'push' | 'create' | 'delete'>;
  ref: string;
  payload: JsonObject;
}

const announcedRefs = /^refs\/(?:heads|tags)\//;
const events: readonly WebhookEvent[] = ['push', 'create', 'delete'];
/** Limit of refs per push that cause deliveries; a mirror moves thousands. */
const maxRefs = 20;
const maxCommits = 20;

/** Listener for pushes; enqueues deliveries in the write that marks this listener as done. */
export function onPush(deps: WebhookDeps, wake: () => void): PushListener<PushEvent[]> {
  return {
    name: 'webhooks',
    async prepare(push) {
      const found = await prepare(deps, push);
      return found.length === 0 ? null : found;
    },
    async record(tx, push, prepared) {
      const hooks = await webhooksFor(tx.manager, push.repository, events);
      for (const { event, ref, payload } of prepared) {
        for (const hook of hooks.filter((each) => each.events.includes(event) && takesBranch(each, ref)))
          await enqueueDelivery(deps, tx, { webhookId: hook.id, event, payload: JSON.stringify(payload) });
      }
    },
    recorded: () => wake(),
  };
}

/** A branch filter does not apply to tags. */
function takesBranch({ branchFilter }: Pick<WebhookRow, 'branchFilter'>, ref: string): boolean {
  const branch = branchOf(ref);
  if (['', '*', '**'].includes(branchFilter) || branch === null) return true;
  const pattern = readRefPattern(branchFilter);
  return typeof pattern !== 'string' && pattern.matches(branch);
}

async function prepare(deps: WebhookDeps, push: AnnouncedPush): Promise<PushEvent[]> {
  const hooks = await webhooksFor(deps.db.read, push.repository, events);
  if (hooks.length === 0) return [];
  const located = await locate(deps, push.repository.id);
  if (located === null) return [];
  const wanted = new Set(hooks.flatMap((hook) => hook.events));
  const { pusherId, deployKey } = push;
  const pusher = deployKey === null ? await personOf(deps, pusherId) : { deployKey };
  const found: PushEvent[] = [];
  for (const update of push.updates.filter(({ ref }) => announcedRefs.test(ref)).slice(0, maxRefs)) {
    const { ref, oldId, newId } = update;
    if (noRef.test(newId)) {
      if (wanted.has('delete'))
        found.push({ event: 'delete', ref, payload: deletePayload(located, { ref, pusher }, deps.settings) });
      continue;
    }
    if (noRef.test(oldId) && wanted.has('create'))
      found.push({ event: 'create', ref, payload: createPayload(located, { ref, newId, pusher }, deps.settings) });
    if (wanted.has('push'))
      found.push({
        event: 'push',
        ref,
        payload: pushPayload(
          located,
          { ...update, pusher, ...(await commitsOf(deps, located, update)) },
          deps.settings,
        ),
      });
  }
  return found;
}

/** The commits added to a moved ref; for a new branch those that no other branch has, for a tag its commit. */
async function commitsOf(
  deps: WebhookDeps,
  { path }: Pick<Located, 'path'>,
  { ref, oldId, newId }: Update,
): Promise<Pick<PushFacts, 'commits' | 'head' | 'people' | 'total'>> {
  if (branchOf(ref) === null) {
    const tagged = await deps.git.refs
      .resolve(path, newId)
      .then((oid) => deps.git.objects.commit(path, oid))
      .catch(() => null);
    if (tagged === null) return { commits: [], head: null, people: new Map(), total: 0 };
    return {
      commits: [],
      head: await withFiles(deps, path, tagged),
      people: await peopleOfCommits(deps, [tagged]),
      total: 0,
    };
  }
  const others = async () => (await deps.git.queries.cachedRefs(path)).idsOf('refs/heads/', new Set([ref]));
  const { total, commits } = await deps.git.objects.newCommits(
    path,
    newId,
    noRef.test(oldId) ? await others() : [oldId],
    {
      limit: maxCommits,
    },
  );
  return {
    total,
    people: await peopleOfCommits(deps, commits),
    commits: await Promise.all(commits.map((commit) => withFiles(deps, path, commit))),
  };
}

interface PushFacts {
  ref: string;
  oldId: string;
  newId: string;
  /** Newest first; only the first of all new commits. */
  commits: readonly CommitWithFiles[];
  /** The commit of a tag; by default the first of `commits`. */
  head?: CommitWithFiles | null;
  total: number;
  people: PeopleByAddress;
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
function createPayload(
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
function deletePayload(located: Located, facts: { ref: string; pusher: Pusher }, settings: Settings): JsonObject {
  return {
    ...namedRef(facts.ref),
    pusher_type: 'user',
    repository: repositoryPayload(located, settings),
    sender: pusherPayload(facts.pusher, settings),
  };
}

const namedRef = (ref: string): JsonObject => ({
  ref: shortRef(ref),
  ref_type: ref.startsWith('refs/tags/') ? 'tag' : 'branch',
});
