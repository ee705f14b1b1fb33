import type { z } from 'zod';
import type { EmailAddress, Person, SshKey } from '../../../accounts/index.ts';
import {
  giteaTime as isoTime,
  giteaTimeOrNull as isoTimeOrNull,
  numericId,
  organisationPayload,
  userPayload,
} from '../../../gitea-shapes/index.ts';
import type { OrganisationPayload, UserDetails } from '../../../gitea-shapes/index.ts';
import { personUrl } from '../../../http/index.ts';
import type { Member, Organisation } from '../../../organisations/index.ts';
import type { Collaborator } from '../../../repositories/index.ts';
import type { GpgKey } from '../../../signing/index.ts';
import type * as schemas from './schemas.ts';

/** The base URL of the API: absolute URLs start with it. */
interface Place {
  origin: string;
}

type Shown<Schema extends z.ZodType> = z.output<Schema>;

export { giteaTime as isoTime, giteaTimeOrNull as isoTimeOrNull } from '../../../gitea-shapes/index.ts';

/**
 * @param details the e-mail address, if visible to the caller, and fields that only some callers get
 */
export function showPerson(
  person: Person,
  { origin }: Pick<Place, 'origin'>,
  details: UserDetails,
): Shown<typeof schemas.person> {
  return {
    ...userPayload(person, { baseUrl: origin }, details),
    displayName: person.displayName,
    bio: person.bio,
    createdAt: isoTime(person.createdAt),
    url: origin + personUrl(person.username ?? ''),
  };
}

export const showEmail = ({ address, verifiedAt, isPrimary }: EmailAddress, username: string) => ({
  email: address,
  verified: verifiedAt !== null,
  primary: isPrimary,
  username,
});

export function showKey(key: SshKey, owner: Person, origin: string): Shown<typeof schemas.sshKey> {
  const { id, title, type, line, fingerprint, uses, worksWithBuiltInServer, createdAt, lastUsedAt } = key;
  const number = numericId(id);
  return {
    id: number,
    key: line,
    url: `${origin}/api/v1/user/keys/${number}`,
    title,
    fingerprint,
    created_at: isoTime(createdAt),
    last_used_at: isoTimeOrNull(lastUsedAt),
    user: userPayload(owner, { baseUrl: origin }),
    read_only: false,
    key_type: 'user',
    uuid: id,
    type,
    uses,
    worksWithBuiltInServer,
    createdAt: isoTime(createdAt),
    lastUsedAt: isoTimeOrNull(lastUsedAt),
  };
}

export function showGpgKey(key: GpgKey): Shown<typeof schemas.gpgKey> {
  return {
    id: numericId(key.id),
    uuid: key.id,
    primary_key_id: '',
    key_id: key.keyId,
    public_key: key.armored,
    fingerprint: key.fingerprint,
    algorithm: key.algorithm,
    user_ids: key.userIds,
    emails: key.addresses.map((email) => ({ email, verified: true })),
    subkeys: key.subkeys.map(({ keyId, fingerprint }) => ({ key_id: keyId, fingerprint })),
    can_sign: true,
    can_encrypt_comms: false,
    can_encrypt_storage: false,
    can_certify: true,
    verified: true,
    revoked: key.revoked,
    created_at: isoTime(key.keyCreatedAt),
    expires_at: isoTimeOrNull(key.expiresAt),
    added_at: isoTime(key.createdAt),
  };
}

export const showOrganisation = (
  organisation: Organisation,
  members: number,
  { origin }: Pick<Place, 'origin'>,
): OrganisationPayload => organisationPayload(organisation, members, { baseUrl: origin });

export function showMember({ person, role, since }: Member, origin: string): Shown<typeof schemas.member> {
  const user = userPayload(person, { baseUrl: origin });
  return { ...user, displayName: person.displayName, role, since: isoTime(since) };
}

export function showCollaborator(
  { person, role, since, access }: Collaborator,
  origin: string,
): Shown<typeof schemas.collaborator> {
  const user = userPayload(person, { baseUrl: origin });
  return { ...user, displayName: person.displayName, role, level: access.level, since: isoTime(since) };
}
