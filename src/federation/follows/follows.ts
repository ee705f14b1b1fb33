import { LessThanOrEqual } from 'typeorm';
import { eachLimit } from '../../kernel/index.ts';
import { requireFederationOn } from '../require-federation-on.ts';
import type { FederationDeps } from '../deps.ts';
import { addFollow, followerActor, unfollow } from './follow-repository.ts';
import { followPerson, scanPerson, unfollowPerson } from './follow-person.ts';
import type { ScanResult } from './follow-person.ts';
import type { FollowState } from '../schema/remote-follow-schema.ts';
import { remotePersonFollowSchema } from '../schema/remote-person-follow-schema.ts';
import type { RemotePersonFollow } from '../schema/remote-person-follow-schema.ts';
import { listRemoteRepositories, repositoriesOf } from './remote-repositories.ts';
import type { RemoteRepositoryList } from './remote-repositories.ts';
import { explaining, resolveTarget } from './resolve-target.ts';

/** The result of a follow. */
export interface Followed {
  kind: 'repository' | 'person';
  id: string;
  handle: string;
  /** Of a repository, and of a person who is followed without any: the state of the follow. */
  state?: FollowState;
  /** False when it was followed before, and nothing was sent. */
  isNew?: boolean;
}

/** Limits of one run of the task: people, and concurrent scans. */
const scansPerRun = 100;
const scansAtOnce = 4;

/**
 * A local person follows a remote repository or person. A person of software without repositories, or any other actor,
 * is followed itself. Throws `federation_off`, and as `resolveTarget` does.
 * @param target a handle or a URL, as typed
 */
export async function follow(deps: FederationDeps, userId: string, target: string): Promise<Followed> {
  requireFederationOn(deps);
  const actor = await resolveTarget(deps, target);
  const follower = await followerActor(deps, userId);
  const list = actor.type === 'Person' ? await explaining(actor.host, () => repositoriesOf(deps, actor)) : null;
  if (list !== null) {
    const { follow: added, isNew } = await followPerson(deps, follower, actor, list);
    return { kind: 'person', id: added.id, handle: added.handle, isNew };
  }
  const { follow: added, isNew } = await deps.db.write((tx) => addFollow(deps, tx, follower, actor, null));
  return { kind: added.kind, id: added.id, handle: added.handle, state: added.state, isNew };
}

/** Ends a follow of a repository or of a person, whichever has this id. Throws `unknown_follow`. */
export async function endFollow(deps: FederationDeps, userId: string, id: string): Promise<Followed> {
  const isPerson = await deps.db.read.existsBy(remotePersonFollowSchema, { id, userId });
  if (isPerson) return { kind: 'person', id, handle: (await unfollowPerson(deps, userId, id)).handle };
  const { kind, handle } = await unfollow(deps, userId, id);
  return { kind, id, handle };
}

/** Scans the followed people that are due: for the job of every `SERVICE_FEDERATION_USER_RESYNC_INTERVAL`. */
export async function scanDuePeople(deps: FederationDeps): Promise<ScanResult[]> {
  const due = await deps.db.read.find(remotePersonFollowSchema, {
    where: { nextScanAt: LessThanOrEqual(deps.clock.now()) },
    order: { nextScanAt: 'ASC' },
    take: scansPerRun,
  });
  return scan(deps, due);
}

/** Scans all followed people now, due or not. Throws `federation_off`. */
export async function scanAllPeople(deps: FederationDeps): Promise<ScanResult[]> {
  requireFederationOn(deps);
  const results = await scan(deps, await deps.db.read.find(remotePersonFollowSchema, { order: { createdAt: 'ASC' } }));
  deps.logger.info('follow.resynced', {
    people: results.length,
    added: results.reduce((sum, { added }) => sum + added.length, 0),
  });
  return results;
}

async function scan(deps: FederationDeps, follows: readonly RemotePersonFollow[]): Promise<ScanResult[]> {
  const lists = new Map<string, Promise<RemoteRepositoryList>>();
  const listOf = (personId: string): Promise<RemoteRepositoryList> => {
    const list =
      lists.get(personId) ?? deps.remoteActors.actor(personId).then((person) => listRemoteRepositories(deps, person));
    lists.set(personId, list);
    return list;
  };
  const results: ScanResult[] = [];
  await eachLimit(follows, scansAtOnce, async (follow) => {
    const result = await scanPerson(deps, follow, listOf);
    if (result.added.length > 0)
      deps.logger.info('follow.scan_found', { person: result.handle, added: result.added.length });
    results.push(result);
  });
  return results;
}
