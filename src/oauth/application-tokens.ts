import type { ApplicationTokens } from '../accounts/index.ts';
import type { OAuthDeps } from './deps.ts';
import { findRecord } from './records/record-store.ts';
import { accessOfScopes, isOnlyPackages } from './scopes.ts';

/** Prefixes by which scanners find a leaked token, and by which other credentials are told apart without a query. */
export const tokenPrefixes = { AccessToken: 'hto_', RefreshToken: 'htr_' } as const;

const shape = /^hto_[A-Za-z0-9_-]{43}$/;

/** The tokens of applications as credentials of git, LFS, pages and the API. */
export const applicationTokens = (deps: OAuthDeps): ApplicationTokens => ({
  async find(secret) {
    if (!shape.test(secret)) return null;
    const record = await findRecord(deps, 'AccessToken', secret);
    if (record === null || record.userId === null) return null;
    const { scope } = record.payload;
    const names = typeof scope === 'string' ? scope.split(' ') : [];
    const access = accessOfScopes(names);
    return access === null ? null : { userId: record.userId, access, onlyPackages: isOnlyPackages(names) };
  },
});
