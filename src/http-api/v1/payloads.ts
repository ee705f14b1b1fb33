import type { z } from 'zod';
import type { Viewer } from '../../access/index.ts';
import type { EmailAddress, Person, SshKey } from '../../accounts/index.ts';
import type { Member, Organisation } from '../../organisations/index.ts';
import type { Collaborator, CommitStatus, Repository } from '../../repositories/index.ts';
import type { GpgKey } from '../../signing/index.ts';
import type { Owner } from '../../owners/index.ts';
import type { WebDeps } from '../../http/index.ts';
import { viewCloneBox, organisationUrl, personUrl, repositoryImageUrl, repositoryUrl } from '../../http/index.ts';
import { userPayload } from '../../gitea-shapes/index.ts';
import type * as schemas from './schemas.ts';

/** The base URL of the API: absolute addresses start with it. */
interface Place {
  origin: string;
  deps: Pick<WebDeps, 'config' | 'ssh' | 'repositories'>;
}

type Shown<Schema extends z.ZodType> = z.output<Schema>;

export const isoTime = (ms: number): string => new Date(ms).toISOString();
export const isoTimeOrNull = (ms: number | null): string | null => (ms === null ? null : isoTime(ms));

/** What a repository was forked from. */
type Parent = { repository: Pick<Repository, 'name'>; owner: Pick<Owner, 'handle'> };

/** A repository, with what it was forked from if the viewer may read that. */
export async function showRepository(
  row: Repository,
  owner: Pick<Owner, 'handle'>,
  viewer: Viewer,
  place: Place,
): Promise<Shown<typeof schemas.repository>> {
  const [shown] = await showListed([{ ...row, owner }], viewer, place);
  return shown!;
}

/** The same for several: their rules and sources are read at once. */
export async function showListed(
  rows: readonly (Repository & { owner: Pick<Owner, 'handle'> })[],
  viewer: Viewer,
  place: Place,
): Promise<Shown<typeof schemas.repository>[]> {
  const { forks, rules } = place.deps.repositories;
  const [parents, protectedIds] = await Promise.all([forks.sourcesOf(viewer, rows), rules.protectedDefaults(rows)]);
  return rows.map((row) => showRow(row, row.owner, parents.get(row.id) ?? null, place, protectedIds.has(row.id)));
}

function showRow(
  row: Repository,
  owner: Pick<Owner, 'handle'>,
  parent: Parent | null,
  { origin, deps }: Place,
  defaultBranchProtected: boolean,
): Shown<typeof schemas.repository> {
  const address = { owner: owner.handle, name: row.name };
  const page = origin + repositoryUrl(address);
  const { https, ssh } = viewCloneBox({
    origin,
    ...address,
    ssh: deps.ssh(),
    config: deps.config,
    preferred: 'https',
  });
  return {
    ...address,
    visibility: row.visibility,
    description: row.description,
    defaultBranch: row.defaultBranch,
    defaultBranchProtected,
    acceptsGerritRefs: row.acceptsGerritRefs,
    template: row.isTemplate,
    archived: row.archivedAt !== null,
    fork: row.forkedFromId !== null,
    parent: parent && showParent(parent, origin),
    forks_count: Number(row.forkCount),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
    pushedAt: isoTimeOrNull(row.pushedAt),
    imageUrl: row.imageContentType === null ? null : repositoryImageUrl(page, row.imageUpdatedAt),
    url: page,
    cloneUrl: https,
    sshUrl: ssh,
  };
}

function showParent({ repository: { name }, owner: { handle } }: Parent, origin: string) {
  const address = { owner: handle, name };
  return { ...address, full_name: `${handle}/${name}`, html_url: origin + repositoryUrl(address) };
}

/** @param page the page of the repository: our own CI says where below it one can read more */
export function showStatus(
  status: CommitStatus,
  creators: ReadonlyMap<string, Person>,
  page: string,
): Shown<typeof schemas.commitStatus> {
  const { context, state, description, creatorId, createdAt, updatedAt } = status;
  const targetUrl =
    status.targetUrl === null || /^https?:/.test(status.targetUrl) ? status.targetUrl : `${page}/${status.targetUrl}`;
  const creator = creatorId === null ? null : (creators.get(creatorId)?.username ?? null);
  return {
    context,
    state,
    description,
    targetUrl,
    creator,
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
  };
}

/** @param email the address that the caller may see; empty without one */
export function showPerson(
  person: Person,
  { origin }: Pick<Place, 'origin'>,
  email: string,
): Shown<typeof schemas.person> {
  const username = person.username ?? '';
  const { displayName, bio, website } = person;
  return {
    // What clients of Gitea read.
    ...userPayload(person, { baseUrl: origin }),
    email,
    username,
    displayName,
    bio,
    website,
    createdAt: isoTime(person.createdAt),
    url: origin + personUrl(username),
  };
}

export const showEmail = ({ address, verifiedAt, isPrimary }: EmailAddress, username: string) => ({
  email: address,
  verified: verifiedAt !== null,
  primary: isPrimary,
  username,
});

export function showKey(key: SshKey): Shown<typeof schemas.sshKey> {
  const { id, title, type, fingerprint, uses, worksWithBuiltInServer, createdAt, lastUsedAt } = key;
  return {
    id,
    title,
    type,
    fingerprint,
    uses,
    worksWithBuiltInServer,
    createdAt: isoTime(createdAt),
    lastUsedAt: isoTimeOrNull(lastUsedAt),
  };
}

export function showGpgKey(key: GpgKey): Shown<typeof schemas.gpgKey> {
  return {
    id: key.id,
    key_id: key.keyId,
    fingerprint: key.fingerprint,
    algorithm: key.algorithm,
    user_ids: key.userIds,
    emails: key.addresses.map((email) => ({ email })),
    subkeys: key.subkeys.map(({ keyId, fingerprint }) => ({ key_id: keyId, fingerprint })),
    can_sign: true,
    revoked: key.revoked,
    created_at: isoTime(key.keyCreatedAt),
    expires_at: isoTimeOrNull(key.expiresAt),
    added_at: isoTime(key.createdAt),
  };
}

export function showOrganisation(
  organisation: Organisation,
  members: number,
  { origin }: Pick<Place, 'origin'>,
): Shown<typeof schemas.organisation> {
  const { name, displayName, description, createdAt } = organisation;
  return {
    name,
    displayName,
    description,
    members,
    createdAt: isoTime(createdAt),
    url: origin + organisationUrl(name),
  };
}

export function showMember({ person, role, since }: Member): Shown<typeof schemas.member> {
  return { username: person.username ?? '', displayName: person.displayName, role, since: isoTime(since) };
}

export function showCollaborator({ person, role, since, access }: Collaborator): Shown<typeof schemas.collaborator> {
  return {
    username: person.username ?? '',
    displayName: person.displayName,
    role,
    level: access.level,
    since: isoTime(since),
  };
}
