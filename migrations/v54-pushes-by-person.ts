import type { Migration } from '../src/db/index.ts';

/** An index for a person's page, which counts their pushes of a year. */
export const pushesByPerson: Migration = {
  version: 54,
  name: 'PushesByPerson',
  statements: [`CREATE INDEX pushes_person ON pushes (user_id, created_at) WHERE user_id IS NOT NULL`],
};
