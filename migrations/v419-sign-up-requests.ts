import type { Migration } from '../src/db/index.ts';

/** People who ask for an account, where administrators let them in. */
export const signUpRequests: Migration = {
  version: 419,
  name: 'Sign-up requests',
  statements: [
    `CREATE TABLE sign_up_requests (
      id TEXT PRIMARY KEY NOT NULL,
      address TEXT NOT NULL,
      address_key TEXT NOT NULL,
      reason TEXT NOT NULL,
      created_at BIGINT NOT NULL
    )`,
    'CREATE UNIQUE INDEX sign_up_requests_address ON sign_up_requests (address_key)',
    'CREATE INDEX sign_up_requests_age ON sign_up_requests (created_at, id)',
  ],
};
