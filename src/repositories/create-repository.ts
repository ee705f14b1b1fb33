import { isLocalAdministrator, personIdOf, scopeAllows } from '../access/index.ts';
import type { Viewer, Visibility } from '../access/index.ts';
import { notifyLifecycle } from './notify-lifecycle.ts';
import { isForeignKeyViolation, isUniqueViolation } from '../db/index.ts';
import { conflict, forbidden, invalid, isDomainError, unauthenticated } from '../kernel/index.ts';
import type { Owner } from '../owners/index.ts';
import { endRedirect } from './redirects.ts';
import type { RepositoryDeps } from './deps.ts';
import { parseBranchName } from './branch-name.ts';
import { foldRepositoryName, parseRepositoryName } from './repository-name.ts';
import { addDefaultRule } from './rules/default-rule.ts';
import { repositorySchema } from './schema/repository-schema.ts';
import type { Repository } from './schema/repository-schema.ts';

const maxDescriptionLength = 500;

export interface NewRepository {
  /** Handle of a user or an organisation; defaults to the viewer. */
  owner?: string | undefined;
  name: string;
  visibility: Visibility;
  description?: string | undefined;
  defaultBranch?: string | undefined;
  /** The remote actor if this is a copy of its repository. */
  copiedFrom?: string | undefined;
}

/**
 * Creates an empty repository. Throws `unauthenticated`; `insufficient_scope` for a token that only reads or is limited
 * to some repositories; `no_such_owner` if the owner does not exist or the viewer may not create repositories there;
 * `invalid_repository_name`, `invalid_branch_name`, `invalid_description`; `repository_name_taken`. Creates both the
 * row and the bare repository, or neither. Adds a rule that protects the default branch from rewriting.
 */
export async function createRepository(
  deps: RepositoryDeps,
  viewer: Viewer,
  input: NewRepository,
): Promise<Repository> {
  const owner = await ownerToCreateFor(deps, viewer, input.owner);
  const name = parseRepositoryName(input.name);
  const description = parseDescription(input.description ?? '');
  const defaultBranch = parseBranchName(input.defaultBranch ?? 'main');
  const id = deps.random.uuid();
  const path = deps.git.storage.pathOf(owner.id, id);

  // Disk first: a crash in between leaves an empty folder without a row, never a row whose repository is missing.
  await deps.git.storage.create(path, { defaultBranch });
  try {
    return await deps.db.write(async (tx) => {
      const { manager, now } = tx;
      const repository: Repository = {
        id,
        ownerUserId: owner.kind === 'user' ? owner.id : null,
        ownerOrganisationId: owner.kind === 'organisation' ? owner.id : null,
        name,
        nameFolded: foldRepositoryName(name),
        description,
        website: '',
        visibility: input.visibility,
        defaultBranch,
        acceptsGerritRefs: false,
        isTemplate: false,
        sizeBytes: 0,
        // A copy changes only through its origin.
        archivedAt: input.copiedFrom === undefined ? null : now,
        createdAt: now,
        updatedAt: now,
        pushedAt: null,
        deletedAt: null,
        deletedBy: null,
        imageContentType: null,
        imageUpdatedAt: null,
        forkedFromId: null,
        forkCount: 0,
        sharedBytes: 0,
        copiedFrom: input.copiedFrom ?? null,
      };
      await manager.insert(repositorySchema, repository);
      await addDefaultRule(manager, { random: deps.random, now }, id);
      await endRedirect(tx, owner.id, repository.nameFolded);
      await notifyLifecycle(deps, tx, { action: 'created', repository, owner, byId: personIdOf(viewer) });
      return repository;
    });
  } catch (error) {
    await deps.git.storage.remove(path);
    if (isNameTaken(error)) throw nameTaken(owner.handle, name);
    throw isForeignKeyViolation(error) ? unknownOwner() : error;
  }
}

export function isNameTaken(error: unknown): boolean {
  return isUniqueViolation(error, 'repositories_user_name') || isUniqueViolation(error, 'repositories_org_name');
}

export function nameTaken(owner: string, name: string) {
  return conflict('repository_name_taken', `${owner} already has a repository named ${name}.`, { field: 'name' });
}

export function parseDescription(text: string): string {
  const description = text.trim().normalize('NFC');
  if (description.length > maxDescriptionLength) {
    throw invalid('invalid_description', `A description can have at most ${maxDescriptionLength} characters.`, {
      field: 'description',
    });
  }
  if (/[\x00-\x1f\x7f]/.test(description) || !description.isWellFormed()) {
    throw invalid('invalid_description', 'A description must be a single line of text without control characters.', {
      field: 'description',
    });
  }
  return description;
}

/** Whether the viewer may create a repository of this name under this owner, as far as that depends on both. */
export async function mayCreateAt(
  deps: RepositoryDeps,
  viewer: Viewer,
  { owner, name }: { owner: string; name: string },
): Promise<boolean> {
  try {
    parseRepositoryName(name);
    await ownerToCreateFor(deps, viewer, owner);
    return true;
  } catch (error) {
    if (isDomainError(error)) return false;
    throw error;
  }
}

async function ownerToCreateFor(deps: RepositoryDeps, viewer: Viewer, handle: string | undefined): Promise<Owner> {
  if (viewer.kind !== 'person') throw unauthenticated('sign_in_required', 'Sign in to create a repository.');
  if (!scopeAllows(viewer, 'write') || viewer.repositoryIds !== null) {
    throw forbidden('insufficient_scope', 'This token cannot create repositories.');
  }
  const wanted = handle ?? viewer.username;
  const owner = wanted === null ? null : await deps.owners.resolve(wanted);
  if (owner === null) throw unknownOwner();
  if (isLocalAdministrator(viewer)) return owner;
  if (owner.kind === 'user') {
    if (owner.id !== viewer.id) throw unknownOwner();
    return owner;
  }
  const role = await deps.organisations.roleOf(viewer.id, owner.id);
  if (role !== 'MEMBER' && role !== 'OWNER') throw unknownOwner();
  return owner;
}

export const unknownOwner = () =>
  invalid('no_such_owner', 'This owner does not exist, or you cannot create repositories there.', { field: 'owner' });
