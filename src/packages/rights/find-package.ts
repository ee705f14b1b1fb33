import { refusalOnPackage, refusalToAddPackage, scopeAllows } from '../../access/index.ts';
import type { PackageAct, PackageFacts, PackageOwnerFacts, RepositoryFacts, Viewer } from '../../access/index.ts';
import { rowBy } from '../../db/index.ts';
import type { RowSource, Tx } from '../../db/index.ts';
import { isDomainError, nullIfNotFound } from '../../kernel/index.ts';
import type { Owner } from '../../owners/index.ts';
import { repositoryById, repositoryOfName } from '../../repositories/index.ts';
import type { Repository, RepositoryAddress } from '../../repositories/index.ts';
import type { PackageDeps } from '../deps.ts';
import type { FormatName } from '../formats/format.ts';
import { formatOf } from '../formats/formats.ts';
import { errorOfRefusal, mayNotPublish, packageNotFound, packagesOff } from '../package-errors.ts';
import { packageSchema } from '../schema/package-schema.ts';
import type { PackageRow } from '../schema/package-schema.ts';

/** A package as named in a request. */
export interface PackageAt {
  owner: string;
  format: FormatName;
  name: string;
}

/** A package that the viewer can read. */
export interface FoundPackage {
  owner: Owner;
  package: PackageRow;
  facts: PackageFacts;
}

/** Target of a publication; the package may not exist yet. */
export interface PublishTarget {
  owner: Owner;
  format: FormatName;
  name: string;
  nameKey: string;
}

type FactDeps = Pick<PackageDeps, 'organisations' | 'repositories'>;

export const ownerFactsOf = async (
  { organisations }: Pick<PackageDeps, 'organisations'>,
  source: RowSource,
  viewer: Viewer,
  { kind, id }: Pick<Owner, 'kind' | 'id'>,
): Promise<PackageOwnerFacts> => ({
  kind,
  id,
  role: kind === 'organisation' && viewer.kind === 'person' ? await organisations.roleOf(viewer.id, id, source) : null,
});

/** The data that decides about access to a package, from what a source can see. */
export async function packageFacts(
  deps: FactDeps,
  source: RowSource,
  viewer: Viewer,
  row: Pick<PackageRow, 'ownerId' | 'ownerKind' | 'repositoryId' | 'visibility'>,
): Promise<PackageFacts> {
  const owner = await ownerFactsOf(deps, source, viewer, { kind: row.ownerKind, id: row.ownerId });
  const repository = row.repositoryId === null ? null : await repositoryById(source, row.repositoryId);
  return {
    owner,
    visibility: row.visibility,
    repository: await followed(deps, source, viewer, row.ownerId, repository),
  };
}

/** A package inherits access only from a repository of its owner; a transferred repository is no longer linked. */
export async function followed(
  { repositories }: FactDeps,
  source: RowSource,
  viewer: Viewer,
  ownerId: string,
  repository: Repository | null,
): Promise<RepositoryFacts | null> {
  if (repository === null || (repository.ownerUserId ?? repository.ownerOrganisationId) !== ownerId) return null;
  return repositories.factsOf(viewer.kind === 'person' ? viewer.id : null, repository, source);
}

const keyOf = ({ owner, format, name }: { owner: Owner; format: FormatName; name: string }) => ({
  ownerId: owner.id,
  format,
  nameKey: formatOf(format).nameKey(name),
});

/** Throws `packages_off`. */
export function refuseOff({ settings }: Pick<PackageDeps, 'settings'>): void {
  if (!settings.enabled) throw packagesOff();
}

/**
 * Finds a package for an act. Throws `package_not_found` for one that is absent, hidden or of another owner, also if
 * its name is invalid; `package_denied`, `package_scope`, `credentials_needed` for viewers who can see it.
 */
export async function findPackage(
  deps: PackageDeps,
  viewer: Viewer,
  { owner: handle, format, name }: PackageAt,
  act: PackageAct = 'read',
): Promise<FoundPackage> {
  refuseOff(deps);
  const owner = (await deps.owners.resolve(handle)) ?? (await deps.owners.resolveFormer(handle));
  if (owner === null) throw packageNotFound();
  const row = await rowBy(deps.db.lookup, packageSchema, keyOrNothing({ owner, format, name }));
  if (row === null) throw packageNotFound();
  const facts = await packageFacts(deps, deps.db.lookup, viewer, row);
  if (refusalOnPackage(viewer, facts, 'read') !== null) throw packageNotFound();
  const refusal = refusalOnPackage(viewer, facts, act);
  if (refusal !== null) throw errorOfRefusal(refusal, act);
  return { owner, package: row, facts };
}

function keyOrNothing(at: { owner: Owner; format: FormatName; name: string }): Partial<PackageRow> {
  try {
    return keyOf(at);
  } catch (error) {
    if (isDomainError(error)) throw packageNotFound();
    throw error;
  }
}

/** Whether the viewer may perform an act on a package. */
export const mayOn = (viewer: Viewer, { facts }: Pick<FoundPackage, 'facts'>, act: PackageAct): boolean =>
  refusalOnPackage(viewer, facts, act) === null;

/**
 * Checks where a viewer may publish, before any content is read. Throws `invalid_package_name`, `packages_off`;
 * `credentials_needed` for anonymous clients; `package_denied`, alike for hidden, absent and foreign packages;
 * `package_scope` for a token of a user who may publish.
 */
export async function openForPublish(
  deps: PackageDeps,
  viewer: Viewer,
  { owner: handle, format, name }: PackageAt,
): Promise<PublishTarget> {
  refuseOff(deps);
  if (viewer.kind === 'anonymous') throw errorOfRefusal('sign_in', 'publish');
  const nameKey = formatOf(format).nameKey(name);
  const owner = (await deps.owners.resolve(handle)) ?? (await deps.owners.resolveFormer(handle));
  if (owner === null) throw mayNotPublish();
  const target = { owner, format, name, nameKey };
  await refuseToPublish(deps, deps.db.lookup, viewer, target);
  return target;
}

/**
 * Checks that the viewer may publish something of the owner, before the name is known: for clients that send it with
 * the content, which would fill the owner's quota. Refuses as `openForPublish` does, which must be called again with
 * the name.
 */
export async function ownerForPublish(deps: PackageDeps, viewer: Viewer, handle: string): Promise<Owner> {
  refuseOff(deps);
  if (viewer.kind === 'anonymous') throw errorOfRefusal('sign_in', 'publish');
  const owner = (await deps.owners.resolve(handle)) ?? (await deps.owners.resolveFormer(handle));
  if (owner === null) throw mayNotPublish();
  const source = deps.db.lookup;
  const repository = viewer.kind === 'task' ? await repositoryById(source, viewer.repositoryId) : null;
  const linked = await followed(deps, source, viewer, owner.id, repository);
  const refusal = refusalToAddPackage(viewer, await ownerFactsOf(deps, source, viewer, owner), linked);
  if (refusal === null) return owner;
  // Tokens limited to repositories, and collaborators, may publish only some packages: the name decides.
  const written = { owner, isWritable: true, limit: 1 };
  if (viewer.kind === 'person' && scopeAllows(viewer, 'write')) {
    const { repositories } = await deps.repositories.list(viewer, written);
    if (repositories.length > 0) return owner;
  }
  throw errorOfRefusal(refusal, 'publish');
}

/** The package of a target, or null, as a decision's source sees it. Refuses as `openForPublish` does. */
async function refuseToPublish(
  deps: PackageDeps,
  source: RowSource,
  viewer: Viewer,
  { owner, format, nameKey }: PublishTarget,
): Promise<{ row: PackageRow | null; repository: Repository | null }> {
  const row = await rowBy(source, packageSchema, { ownerId: owner.id, format, nameKey });
  if (row !== null) {
    const facts = await packageFacts(deps, source, viewer, row);
    const refusal = refusalOnPackage(viewer, facts, 'publish');
    if (refusal === null) return { row, repository: null };
    // A hidden package is refused for the reason for which an absent one is.
    if (refusalOnPackage(viewer, facts, 'read') !== null) await refuseToAdd(deps, source, viewer, owner, nameKey);
    throw errorOfRefusal(refusal, 'publish');
  }
  return { row: null, repository: await refuseToAdd(deps, source, viewer, owner, nameKey) };
}

/** The repository that a new package follows, or null. Refuses as `openForPublish` does. */
async function refuseToAdd(
  deps: PackageDeps,
  source: RowSource,
  viewer: Viewer,
  owner: Owner,
  nameKey: string,
): Promise<Repository | null> {
  const repository = await repositoryToFollow(deps, source, viewer, owner, nameKey);
  const facts = await followed(deps, source, viewer, owner.id, repository);
  const refusal = refusalToAddPackage(viewer, await ownerFactsOf(deps, source, viewer, owner), facts);
  if (refusal !== null) throw errorOfRefusal(refusal, 'publish');
  return facts === null ? null : repository;
}

/**
 * The repository to which a new package is linked: that of the publishing task, otherwise the owner's repository of the
 * same name, if the viewer has write access.
 */
async function repositoryToFollow(
  deps: PackageDeps,
  source: RowSource,
  viewer: Viewer,
  owner: Owner,
  nameKey: string,
): Promise<Repository | null> {
  if (viewer.kind === 'task') return repositoryById(source, viewer.repositoryId);
  const name = nameKey.replace(/^(?:@[^/]*\/|[^:]*:)/, '').split('/', 1)[0]!;
  const repository = await repositoryOfName(source, owner, name);
  if (repository === null) return null;
  const facts = await followed(deps, source, viewer, owner.id, repository);
  const mayWrite = facts !== null && refusalToAddPackage(viewer, { ...owner, role: null }, facts) === null;
  return mayWrite ? repository : null;
}

/** The package of a target inside a write, created if it does not exist. Refuses as `openForPublish` does. */
export async function packageForPublish(
  deps: PackageDeps,
  { manager, now }: Tx,
  viewer: Viewer,
  target: PublishTarget,
): Promise<PackageRow> {
  const { row, repository } = await refuseToPublish(deps, manager, viewer, target);
  if (row !== null) return row;
  const { owner, format, name, nameKey } = target;
  const made: PackageRow = {
    id: deps.random.uuid(),
    ownerId: owner.id,
    ownerKind: owner.kind,
    format,
    name,
    nameKey,
    repositoryId: repository?.id ?? null,
    visibility: repository === null ? deps.settings.defaultVisibility : 'PRIVATE',
    versions: 0,
    retention: null,
    createdAt: now,
    updatedAt: now,
  };
  await manager.insert(packageSchema, made);
  return made;
}

/** The repository that a publisher gives as the source, if the viewer has write access. */
export async function findSource(
  { repositories }: PackageDeps,
  viewer: Viewer,
  { owner, name }: RepositoryAddress,
): Promise<Repository | null> {
  return (await repositories.find(viewer, owner, name, 'write').catch(nullIfNotFound))?.repository ?? null;
}

/** Inside a write: links an unlinked package to a repository of its owner to which the viewer has write access. */
export async function followSource(
  deps: PackageDeps,
  { manager }: Tx,
  viewer: Viewer,
  row: PackageRow,
  source: Repository,
): Promise<PackageRow> {
  if (row.repositoryId !== null) return row;
  const owner = { kind: row.ownerKind, id: row.ownerId };
  const facts = await followed(deps, manager, viewer, row.ownerId, await repositoryById(manager, source.id));
  if (facts === null || refusalToAddPackage(viewer, { ...owner, role: null }, facts) !== null) return row;
  const change = { repositoryId: source.id, visibility: 'PRIVATE' } as const;
  await manager.update(packageSchema, { id: row.id }, change);
  return { ...row, ...change };
}
