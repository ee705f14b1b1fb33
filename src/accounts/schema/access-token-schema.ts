import { EntitySchema } from 'typeorm';
import type { Scope } from '../../access/index.ts';

/** A row of `access_tokens`. */
export interface AccessTokenRow {
  id: string;
  userId: string;
  name: string;
  /** SHA-256 of the whole token, hexadecimal. */
  tokenHash: string;
  /** Its last four characters, by which its owner recognises it. */
  ending: string;
  access: Scope;
  /** If false, rows of `access_token_repositories` list the repositories that it is limited to. */
  allRepositories: boolean;
  /** Whether it is limited to packages. */
  onlyPackages: boolean;
  expiresAt: number | null;
  createdAt: number;
  lastUsedAt: number | null;
  lastUsedAddress: string | null;
}

export const accessTokenSchema = new EntitySchema<AccessTokenRow>({
  name: 'AccessToken',
  tableName: 'access_tokens',
  columns: {
    id: { type: 'text', primary: true },
    userId: { name: 'user_id', type: 'text' },
    name: { type: 'text' },
    tokenHash: { name: 'token_hash', type: 'text' },
    ending: { type: 'text' },
    access: { type: 'text' },
    allRepositories: { name: 'all_repositories', type: 'boolean' },
    onlyPackages: { name: 'only_packages', type: 'boolean' },
    expiresAt: { name: 'expires_at', type: 'integer', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
    lastUsedAt: { name: 'last_used_at', type: 'integer', nullable: true },
    lastUsedAddress: { name: 'last_used_address', type: 'text', nullable: true },
  },
});

/** A row of `access_token_repositories`: one repository of a limited token. */
interface AccessTokenRepositoryRow {
  tokenId: string;
  repositoryId: string;
}

export const accessTokenRepositorySchema = new EntitySchema<AccessTokenRepositoryRow>({
  name: 'AccessTokenRepository',
  tableName: 'access_token_repositories',
  columns: {
    tokenId: { name: 'token_id', type: 'text', primary: true },
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
  },
});
