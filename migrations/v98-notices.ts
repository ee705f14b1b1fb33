import type { Migration } from '../src/db/index.ts';

/**
 * Notices about accounts, by mail. `muted_notices` has a row for each kind that a person has switched off; all others
 * are on. `known_sign_ins` is from where a person has signed in: a sign-in from an unknown device or network is
 * followed by a notice.
 */
export const notices: Migration = {
  version: 98,
  name: 'Notices',
  statements: [
    `CREATE TABLE muted_notices (
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      kind TEXT NOT NULL,
      PRIMARY KEY (user_id, kind)
    )`,
    `CREATE TABLE known_sign_ins (
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      device TEXT NOT NULL,
      network TEXT NOT NULL,
      last_at BIGINT NOT NULL,
      PRIMARY KEY (user_id, device, network)
    )`,
  ],
};
