import { readRefPattern } from '../access/index.ts';
import type { Commit } from '../git/index.ts';
import type { AnnouncedPush, Located, PushListener } from '../repositories/index.ts';
import { createPayload, deletePayload, pushPayload } from './payloads.ts';
import type { CommitWithFiles, JsonObject, PushFacts } from './payloads.ts';
import { enqueueDelivery } from './enqueue-delivery.ts';
import type { WebhookDeps } from './deps.ts';
import { webhooksFor } from './scope.ts';
import type { WebhookEvent, WebhookRow } from './webhook-schema.ts';
import { branchOf, noRef } from '../kernel/index.ts';

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
const maxFiles = 300;

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
  const located = (await deps.repositories.locate([push.repository.id])).get(push.repository.id);
  if (located === undefined) return [];
  const wanted = new Set(hooks.flatMap((hook) => hook.events));
  const { pusherId, deployKey } = push;
  const person = pusherId === null ? null : ((await deps.accounts.peopleById([pusherId])).get(pusherId) ?? null);
  const pusher = deployKey === null ? person : { deployKey };
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

/** The users behind authors and committers, in one query. */
export const peopleOfCommits = ({ accounts }: WebhookDeps, commits: readonly Commit[]) =>
  accounts.addresses.peopleByAddress(commits.flatMap(({ author, committer }) => [author.email, committer.email]));

export async function withFiles({ git }: WebhookDeps, path: string, commit: Commit): Promise<CommitWithFiles> {
  const { files } = await git.queries
    .listDiff(path, { from: commit.parents[0] ?? null, to: commit.oid })
    .catch(() => ({ files: [] }));
  return { commit, files: files.slice(0, maxFiles) };
}
