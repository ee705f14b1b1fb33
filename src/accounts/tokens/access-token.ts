import type { Scope } from '../../access/index.ts';
import type { AccessTokenRow } from '../schema/access-token-schema.ts';

/** A personal access token as its owner sees it: without the secret. */
export interface AccessToken {
  id: string;
  personId: string;
  name: string;
  /** The last four characters of the secret. */
  ending: string;
  access: Scope;
  /** Ids of the repositories it is limited to; `null` means all. */
  repositoryIds: string[] | null;
  /** Whether it is limited to packages. */
  onlyPackages: boolean;
  /** `null` for no expiry. */
  expiresAt: number | null;
  createdAt: number;
  /** At most a minute late. */
  lastUsedAt: number | null;
  lastUsedAddress: string | null;
}

export function toAccessToken(row: AccessTokenRow, repositoryIds: string[]): AccessToken {
  const { tokenHash: _, userId: personId, allRepositories, ...rest } = row;
  return { ...rest, personId, repositoryIds: allRepositories ? null : repositoryIds };
}
