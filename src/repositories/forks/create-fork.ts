import { IsNull } from 'typeorm';
import { personIdOf, refusalToFork, viewerForLog, visibilityOfFork } from '../../access/index.ts';
import type { ForkRefusal, Viewer } from '../../access/index.ts';
import { notifyLifecycle } from '../notify-lifecycle.ts';
import { isForeignKeyViolation } from '../../db/index.ts';
import type { RowSource, Tx } from '../../db/index.ts';
import { conflict, forbidden, unauthenticated, unavailable } from '../../kernel/index.ts';
import type { DomainError } from '../../kernel/index.ts';
import type { Owner } from '../../owners/index.ts';
import { isNameTaken, nameTaken, parseDescription, unknownOwner } from '../create-repository.ts';
import type { RepositoryDeps } from '../deps.ts';
import { isDiskLow } from '../disk-space.ts';
import { findAgain, findRepository, ownedBy, repositoryFacts, repositoryNotFound } from '../find-repository.ts';
import type { Found, RepositoryAddress } from '../find-repository.ts';
import { endRedirect } from '../redirects.ts';
import { foldRepositoryName, parseRepositoryName } from '../repository-name.ts';
import { addDefaultRule } from '../rules/default-rule.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { Repository } from '../schema/repository-schema.ts';
import { unfinishedForkSchema } from '../schema/unfinished-fork-schema.ts';
import type { PreparedFork } from '../ports/fork-port.ts';

export interface NewFork {
  /** Handle of a user or an organisation; defaults to the viewer. */
  owner?: string | undefined;
  /** Defaults to the name of the source. */
  name?: string | undefined;
  /** Defaults to the description of the source. */
  description?: string | undefined;
  /** Whether to fork only the default branch, without tags. */
  defaultBranchOnly?: boolean | undefined;
}

/**
 * Forks a repository: creates an independent repository with the same branches and tags, whose objects are hard links
 * to those of the source. The fork gets the visibility, default branch and description of the source and nothing else:
 * no issues, settings, collaborators, webhooks, secrets, mirrors or followers. The fork is not announced as a push, so
 * it starts no workflow.
 *
 * Throws `repository_not_found`; `sign_in_required`, `insufficient_scope`; `no_such_owner`; `fork_of_own` for the owner
 * of the source; `fork_exists` if the owner already has one; `repository_empty`; `invalid_repository_name`,
 * `invalid_description`, `repository_name_taken`; `disk_low`, `repository_moves`, `repository_busy`, `git_busy`.
 * Creates both the row and the folder, or neither.
 */
export async function createFork(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  input: NewFork,
): Promise<Repository> {
  const found = await findRepository(deps, viewer, at);
  const source = found.repository;
  const owner = await ownerOfFork(deps, viewer, found, input.owner);
  const name = parseRepositoryName(input.name ?? source.name);
  const description = parseDescription(input.description ?? source.description);
  await refuseSecondFork(deps, deps.db.lookup, source, owner);
  if (await isNameUsed(deps, owner, name)) throw nameTaken(owner.handle, name);
  if (await isDiskLow(found.path, deps.settings.lowDiskFloorBytes))
    throw unavailable('disk_low', 'The server is low on disk space. Read access still works.', {
      retryAfterSeconds: 600,
    });

  const id = deps.random.uuid();
  const path = deps.git.storage.pathOf(owner.id, id);
  await deps.db.write(({ manager, now }) =>
    manager.insert(unfinishedForkSchema, {
      repositoryId: id,
      ownerId: owner.id,
      node: deps.db.node ?? 'local',
      createdAt: now,
    }),
  );
  let prepared: PreparedFork | undefined;
  try {
    const { defaultBranch } = source;
    await deps.git.storage.fork(found.path, path, {
      defaultBranch,
      onlyBranch: input.defaultBranchOnly === true ? defaultBranch : null,
    });
    const usage = await deps.git.storage.measure(path);
    prepared = await deps.copying.port?.prepareFork({ sourceId: source.id, forkId: id, path });
    const fork = await deps.db.write(async (tx) => {
      const row = await sourceAgain(deps, tx, viewer, source.id, owner);
      await refuseSecondFork(deps, tx.manager, row, owner);
      const { affected } = await tx.manager.delete(unfinishedForkSchema, { repositoryId: id });
      if (affected !== 1)
        throw conflict('fork_interrupted', 'The server was restarted during the fork. Fork the repository again.');
      const made = await insertFork(deps, tx, row, owner, {
        id,
        name,
        description,
        defaultBranch,
        sizeBytes: usage.bytes,
        sharedBytes: usage.sharedBytes,
      });
      const listeners = [...(prepared === undefined ? [] : [prepared.record]), ...deps.forkListeners];
      const byId = personIdOf(viewer);
      for (const listener of listeners) await listener(tx, { source: row, fork: made, byId });
      await notifyLifecycle(deps, tx, { action: 'created', repository: made, owner, byId });
      return made;
    });
    deps.logger.info('repository.forked', {
      repositoryId: id,
      from: source.id,
      owner: owner.handle,
      name,
      by: viewerForLog(viewer),
    });
    return fork;
  } catch (error) {
    await deps.git.storage.remove(path);
    await prepared?.undo();
    await deps.db.write(({ manager }) => manager.delete(unfinishedForkSchema, { repositoryId: id }));
    if (isNameTaken(error)) throw nameTaken(owner.handle, name);
    throw isForeignKeyViolation(error) ? unknownOwner() : error;
  }
}

function errorOf(refusal: ForkRefusal, owner: Pick<Owner, 'handle'>): DomainError {
  switch (refusal) {
    case 'hidden':
      return repositoryNotFound();
    case 'sign_in':
      return unauthenticated('sign_in_required', 'Sign in to fork a repository.');
    case 'scope':
      return forbidden('insufficient_scope', 'This token cannot create repositories.');
    case 'owner':
      return unknownOwner();
    case 'same_owner':
      return conflict('fork_of_own', `${owner.handle} already owns this repository. Create a branch in it instead.`, {
        field: 'owner',
      });
  }
}

async function ownerOfFork(
  deps: RepositoryDeps,
  viewer: Viewer,
  { repository }: Found,
  handle: string | undefined,
): Promise<Owner> {
  if (viewer.kind !== 'person') throw errorOf('sign_in', { handle: '' });
  const wanted = handle ?? viewer.username;
  const owner = wanted === null ? null : await deps.owners.resolve(wanted);
  if (owner === null) throw unknownOwner();
  await requireRight(deps, deps.db.lookup, viewer, repository, owner);
  return owner;
}

async function requireRight(
  deps: RepositoryDeps,
  source: RowSource,
  viewer: Viewer,
  repository: Repository,
  owner: Owner,
): Promise<void> {
  const facts = await repositoryFacts(deps, source, viewer.kind === 'person' ? viewer.id : null, repository);
  const { kind, id } = owner;
  const role =
    kind === 'organisation' && viewer.kind === 'person' ? await deps.organisations.roleOf(viewer.id, id, source) : null;
  const refusal = refusalToFork(viewer, facts, { kind, id, role });
  if (refusal !== null) throw errorOf(refusal, owner);
}

/**
 * Reads the source again in the transaction: the permission to read or create may have been revoked during the copy.
 */
async function sourceAgain(
  deps: RepositoryDeps,
  tx: Tx,
  viewer: Viewer,
  sourceId: string,
  owner: Owner,
): Promise<Repository> {
  const row = await findAgain(deps, tx, viewer, sourceId, 'read');
  await requireRight(deps, tx.manager, viewer, row, owner);
  return row;
}

/** An owner's fork of a repository; null if there is none. */
export async function forkOf(
  source: RowSource,
  repositoryId: string,
  owner: Pick<Owner, 'kind' | 'id'>,
): Promise<Repository | null> {
  if (typeof source !== 'function')
    return source.findOneBy(repositorySchema, {
      ...ownedBy(owner),
      forkedFromId: repositoryId,
      deletedAt: IsNull(),
    });
  const own = owner.kind === 'user' ? { ownerUserId: owner.id } : { ownerOrganisationId: owner.id };
  return (await source(repositorySchema, { ...own, forkedFromId: repositoryId, deletedAt: null }))[0] ?? null;
}

/** Whether an owner has a repository of this name, ignoring case. */
export async function isNameUsed(
  { db }: Pick<RepositoryDeps, 'db'>,
  { kind, id }: Pick<Owner, 'kind' | 'id'>,
  name: string,
): Promise<boolean> {
  const own = kind === 'user' ? { ownerUserId: id } : { ownerOrganisationId: id };
  const rows = await db.lookup(repositorySchema, { ...own, nameFolded: foldRepositoryName(name), deletedAt: null });
  return rows.length > 0;
}

async function refuseSecondFork(
  deps: RepositoryDeps,
  source: RowSource,
  { id, name }: Repository,
  owner: Owner,
): Promise<void> {
  const existing = await forkOf(source, id, owner);
  if (existing === null) return;
  throw conflict('fork_exists', `${owner.handle} already has a fork of ${name}: ${owner.handle}/${existing.name}.`, {
    field: 'owner',
  });
}

type ForkFields = Pick<Repository, 'id' | 'name' | 'description' | 'defaultBranch' | 'sizeBytes' | 'sharedBytes'>;

async function insertFork(
  { random }: Pick<RepositoryDeps, 'random'>,
  tx: Tx,
  source: Repository,
  owner: Owner,
  fields: ForkFields,
): Promise<Repository> {
  const { now } = tx;
  const fork: Repository = {
    ...fields,
    ownerUserId: owner.kind === 'user' ? owner.id : null,
    ownerOrganisationId: owner.kind === 'organisation' ? owner.id : null,
    nameFolded: foldRepositoryName(fields.name),
    website: '',
    visibility: visibilityOfFork(source),
    acceptsGerritRefs: false,
    isTemplate: false,
    archivedAt: null,
    createdAt: now,
    updatedAt: now,
    // The fork has commits, so lists, search and statistics treat it as pushed to.
    pushedAt: now,
    deletedAt: null,
    deletedBy: null,
    imageContentType: null,
    imageUpdatedAt: null,
    forkedFromId: source.id,
    forkCount: 0,
    copiedFrom: null,
  };
  await tx.manager.insert(repositorySchema, fork);
  await addDefaultRule(tx.manager, { random, now }, fork.id);
  await endRedirect(tx, owner.id, fork.nameFolded);
  return fork;
}
