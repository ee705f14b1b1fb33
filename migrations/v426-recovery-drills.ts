import type { Migration } from '../src/db/index.ts';

/** What each trial of a recovery from the store has found; the newest thirty. */
export const recoveryDrills: Migration = {
  version: 426,
  name: 'RecoveryDrills',
  statements: [
    `CREATE TABLE recovery_drills (
      at BIGINT PRIMARY KEY NOT NULL,
      packs BIGINT NOT NULL,
      bytes BIGINT NOT NULL,
      faults TEXT NOT NULL
    )`,
  ],
};
