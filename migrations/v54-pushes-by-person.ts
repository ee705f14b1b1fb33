import type { Migration } from '../src/db/index.ts';

/** A person's page counts their pushes of a year. */
export const pushesByPerson: Migration = {
  version: 54,
  name: 'PushesByPerson',
  statements: [`CREATE INDEX pushes_person ON pushes (user_id, created_at) WHERE user_id IS NOT NULL`],
};
