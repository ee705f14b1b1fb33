import type { Migration } from '../src/db/index.ts';

const ownerOf = (row: string): string => `COALESCE(${row}.owner_user_id, ${row}.owner_org_id)`;
const presentIn = (row: string): string => `CASE WHEN ${row}.deleted_at IS NULL THEN 1 ELSE 0 END`;
const gitIn = (row: string): string => `${row}.size_bytes - ${row}.shared_bytes`;
const bytesOf = (table: string, row: string): string =>
  `COALESCE((SELECT u.bytes FROM ${table} u WHERE u.repository_id = ${row}.id), 0)`;
const [lfs, releases] = ['lfs_repositories', 'release_counts'];

const columns = 'owner_id, all_repositories, repositories, git_bytes, lfs_bytes, release_bytes, bytes';

const give = (row: string): string => `
  INSERT INTO owner_usage (${columns})
    VALUES (${ownerOf(row)}, 1, ${presentIn(row)}, ${gitIn(row)}, ${bytesOf(lfs, row)}, ${bytesOf(releases, row)},
      ${gitIn(row)} + ${bytesOf(lfs, row)} + ${bytesOf(releases, row)})
    ON CONFLICT (owner_id) DO UPDATE SET
      all_repositories = owner_usage.all_repositories + 1,
      repositories = owner_usage.repositories + excluded.repositories,
      git_bytes = owner_usage.git_bytes + excluded.git_bytes,
      lfs_bytes = owner_usage.lfs_bytes + excluded.lfs_bytes,
      release_bytes = owner_usage.release_bytes + excluded.release_bytes,
      bytes = owner_usage.bytes + excluded.bytes;`;

const take = (row: string): string => `
  UPDATE owner_usage SET
    all_repositories = all_repositories - 1,
    repositories = repositories - (${presentIn(row)}),
    git_bytes = git_bytes - (${gitIn(row)}),
    lfs_bytes = lfs_bytes - ${bytesOf(lfs, row)},
    release_bytes = release_bytes - ${bytesOf(releases, row)},
    bytes = bytes - (${gitIn(row)} + ${bytesOf(lfs, row)} + ${bytesOf(releases, row)})
    WHERE owner_id = ${ownerOf(row)};
  DELETE FROM owner_usage WHERE owner_id = ${ownerOf(row)} AND all_repositories = 0;`;

/** What a table of bytes by repository adds. */
function addBytes(table: string, column: string): string[] {
  const change = (row: string, amount: string): string => `
    UPDATE owner_usage SET ${column} = ${column} + (${amount}), bytes = bytes + (${amount})
      WHERE owner_id = (SELECT ${ownerOf('r')} FROM repositories r WHERE r.id = ${row}.repository_id);`;
  return [
    `CREATE TRIGGER owner_usage_${column}_added AFTER INSERT ON ${table} BEGIN ${change('NEW', 'NEW.bytes')} END`,
    `CREATE TRIGGER owner_usage_${column}_changed AFTER UPDATE OF bytes ON ${table} BEGIN ${change('NEW', 'NEW.bytes - OLD.bytes')} END`,
    // With its repository, whose bytes are taken off before it goes, it finds none.
    `CREATE TRIGGER owner_usage_${column}_removed AFTER DELETE ON ${table} BEGIN ${change('OLD', '0 - OLD.bytes')} END`,
  ];
}

/** What each owner has stored, kept by triggers: the administrator's page would add up all repositories for it. */
export const ownerUsage: Migration = {
  version: 325,
  name: 'Bytes of owners',
  statements: [
    `CREATE TABLE owner_usage (
      owner_id TEXT PRIMARY KEY NOT NULL,
      all_repositories BIGINT NOT NULL,
      repositories BIGINT NOT NULL,
      git_bytes BIGINT NOT NULL,
      lfs_bytes BIGINT NOT NULL,
      release_bytes BIGINT NOT NULL,
      bytes BIGINT NOT NULL
    )`,
    `INSERT INTO owner_usage (${columns})
      SELECT ${ownerOf('r')}, count(*), sum(${presentIn('r')}), sum(${gitIn('r')}), sum(COALESCE(l.bytes, 0)),
        sum(COALESCE(c.bytes, 0)), sum(${gitIn('r')} + COALESCE(l.bytes, 0) + COALESCE(c.bytes, 0))
      FROM repositories r
        LEFT JOIN lfs_repositories l ON l.repository_id = r.id
        LEFT JOIN release_counts c ON c.repository_id = r.id
      GROUP BY ${ownerOf('r')}`,
    'CREATE INDEX owner_usage_largest ON owner_usage (bytes, owner_id)',
    `CREATE TRIGGER owner_usage_added AFTER INSERT ON repositories BEGIN ${give('NEW')} END`,
    `CREATE TRIGGER owner_usage_removed BEFORE DELETE ON repositories BEGIN ${take('OLD')} END`,
    `CREATE TRIGGER owner_usage_changed AFTER UPDATE OF size_bytes, shared_bytes, deleted_at ON repositories
     WHEN ${ownerOf('OLD')} = ${ownerOf('NEW')} BEGIN
      UPDATE owner_usage SET
        repositories = repositories + (${presentIn('NEW')}) - (${presentIn('OLD')}),
        git_bytes = git_bytes + (${gitIn('NEW')}) - (${gitIn('OLD')}),
        bytes = bytes + (${gitIn('NEW')}) - (${gitIn('OLD')})
        WHERE owner_id = ${ownerOf('NEW')}; END`,
    `CREATE TRIGGER owner_usage_moved AFTER UPDATE OF owner_user_id, owner_org_id ON repositories
     WHEN ${ownerOf('OLD')} <> ${ownerOf('NEW')} BEGIN ${take('OLD')} ${give('NEW')} END`,
    ...addBytes(lfs!, 'lfs_bytes'),
    ...addBytes(releases!, 'release_bytes'),
  ],
};
