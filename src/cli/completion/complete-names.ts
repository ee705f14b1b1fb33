import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { NameKind } from './command-specs.ts';

const mostNames = 100;

/** The query of each kind, from a lower-case prefix to names. The user of this machine may see all names. */
const queries: Readonly<Record<Exclude<NameKind, 'backup'>, string>> = {
  user: "SELECT username AS name FROM users WHERE username LIKE ?1 ESCAPE '!'",
  organisation: "SELECT name FROM organisations WHERE name LIKE ?1 ESCAPE '!'",
  owner:
    "SELECT name FROM (SELECT username AS name FROM users UNION ALL SELECT name FROM organisations) WHERE name LIKE ?1 ESCAPE '!'",
  repository: `SELECT name FROM (SELECT coalesce(u.username, o.name) || '/' || r.name AS name FROM repositories r
    LEFT JOIN users u ON u.id = r.owner_user_id LEFT JOIN organisations o ON o.id = r.owner_org_id
    WHERE r.deleted_at IS NULL) WHERE name LIKE ?1 ESCAPE '!'`,
  place: `SELECT name FROM (SELECT coalesce(u.username, o.name) || '/' || r.name AS name FROM repositories r
    LEFT JOIN users u ON u.id = r.owner_user_id LEFT JOIN organisations o ON o.id = r.owner_org_id
    WHERE r.deleted_at IS NULL UNION ALL SELECT name FROM organisations) WHERE name LIKE ?1 ESCAPE '!'`,
};

/**
 * At most a hundred names with this prefix, sorted; none without a database. Reads the database file without the module
 * `db`, which takes a quarter of a second to load: a shell runs this at every press of Tab.
 */
export function completeNames(
  kind: NameKind,
  beginning: string,
  places: { databaseFile: string; backups: string },
): string[] {
  try {
    if (kind === 'backup')
      return readdirSync(places.backups)
        .filter((name) => /^\d{4}-\d\d-\d\dT/.test(name) && name.startsWith(beginning))
        .sort()
        .reverse()
        .slice(0, mostNames);
    const database = new DatabaseSync(places.databaseFile, { readOnly: true, timeout: 100 });
    try {
      const pattern = `${beginning.replace(/[!%_]/g, '!$&')}%`;
      const rows = database.prepare(`${queries[kind]} ORDER BY name LIMIT ${mostNames}`).all(pattern);
      return rows.map(({ name }) => String(name));
    } finally {
      database.close();
    }
  } catch {
    return [];
  }
}

/** The database's path, equal to `databaseFileIn` of the module db. */
export const databaseFileBelow = (dataDir: string): string => join(dataDir, 'hearth.db');
