import type { Migration } from '../src/db/index.ts';

const cutOff = 'the server ended while this listener ran';

const columns = (table: string): string[] => [
  `ALTER TABLE ${table} ADD COLUMN ends BIGINT NOT NULL DEFAULT 0`,
  `ALTER TABLE ${table} ADD COLUMN begun_at BIGINT`,
  `CREATE INDEX ${table}_by_ends ON ${table} (ends)`,
  // Parked although no listener failed: the first quiet start tries them once more.
  `UPDATE ${table} SET ends = 7, attempts = 0 WHERE attempts >= 3 AND last_error = '${cutOff}'`,
];

/** Attempts of listeners that the end of the server cut off are counted apart from those that failed. */
export const endsOfTheServer: Migration = {
  version: 207,
  name: 'Attempts of listeners that the end of the server cut off',
  statements: [...columns('push_listener_attempts'), ...columns('entry_listener_attempts')],
};
