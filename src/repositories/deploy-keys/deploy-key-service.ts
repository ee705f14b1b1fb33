import { personIdOf, viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { DeployKey, NewDeployKey, Person } from '../../accounts/index.ts';
import { bindRepositoryDeps } from '../bind-repository-deps.ts';
import type { RepositoryDeps } from '../deps.ts';
import { findAgain, findRepository } from '../find-repository.ts';
import type { RepositoryAddress } from '../find-repository.ts';

/** A deploy key and the user who added it; null for the command line and for deleted accounts. */
export interface ListedDeployKey extends DeployKey {
  person: Person | null;
}

/** SSH keys of one repository. Every operation requires administering the repository. */
export function createDeployKeyService(deps: RepositoryDeps) {
  const bindAt = bindRepositoryDeps(deps);
  return { list: bindAt(list), add: bindAt(add), remove: bindAt(remove) };
}

/** The deploy keys, oldest first. Throws `repository_not_found` unless the viewer administers the repository. */
async function list(deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress): Promise<ListedDeployKey[]> {
  const { repository } = await findRepository(deps, viewer, at, 'admin');
  const keys = await deps.accounts.deployKeys.list(repository.id);
  const people = await deps.accounts.peopleById(keys.flatMap(({ addedBy }) => addedBy ?? []));
  return keys.map((key) => ({ ...key, person: key.addedBy === null ? null : (people.get(key.addedBy) ?? null) }));
}

/**
 * Adds a key. Throws `repository_not_found` unless the viewer administers the repository, and what `readDeployKey` and
 * `addDeployKey` throw.
 */
async function add(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  input: NewDeployKey,
): Promise<DeployKey> {
  const { repository } = await findRepository(deps, viewer, at, 'admin');
  const checked = deps.accounts.deployKeys.check(input);
  const key = await deps.db.write(async (tx) => {
    await findAgain(deps, tx, viewer, repository.id, 'admin');
    const addedBy = personIdOf(viewer);
    return deps.accounts.deployKeys.addIn(tx, checked, { repositoryId: repository.id, addedBy });
  });
  log(deps, 'repository.deploy_key_added', viewer, key);
  return key;
}

/**
 * Removes a key. It is rejected from the next command on, also by a push in progress. Throws `repository_not_found`
 * unless the viewer administers the repository; `unknown_deploy_key`.
 */
async function remove(deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress, id: string): Promise<void> {
  const { repository } = await findRepository(deps, viewer, at, 'admin');
  const key = await deps.db.write(async (tx) => {
    await findAgain(deps, tx, viewer, repository.id, 'admin');
    return deps.accounts.deployKeys.removeIn(tx, repository.id, id);
  });
  log(deps, 'repository.deploy_key_removed', viewer, key);
}

function log(
  { logger }: RepositoryDeps,
  event: 'repository.deploy_key_added' | 'repository.deploy_key_removed',
  viewer: Viewer,
  { id, repositoryId, title, fingerprint, access }: DeployKey,
): void {
  logger.info(event, { repositoryId, keyId: id, title, fingerprint, access, by: viewerForLog(viewer) });
}
