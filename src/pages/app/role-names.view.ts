import type { AccessGrant } from '../../access/index.ts';
import { t } from '../../translation/index.ts';

const keys: Readonly<Record<string, string>> = {
  OWNER: 'common.role_owner',
  MEMBER: 'common.role_member',
  GUEST: 'common.role_guest',
  read: 'common.read',
  write: 'common.write',
  admin: 'common.admin',
};

/** The name of a role in an organisation or a repository, in the reader's language. */
export const roleName = (role: string): string => (Object.hasOwn(keys, role) ? t(keys[role]!) : role);

/** The reason for an access, for use inside a sentence: `member of a team`. */
export function describeGrant(grant: AccessGrant): string {
  if (grant.kind === 'owner') return t('people.grant_owner');
  if (grant.kind === 'team') return t('people.grant_team');
  if (grant.kind === 'collaborator') return t('people.grant_collaborator');
  return t('people.grant_organisation', { role: grant.role });
}
