import type { Database } from '../db/index.ts';

/** Bytes that one owner has stored, including the trash. */
interface OwnerUsage {
  ownerId: string;
  /** Outside the trash. */
  repositories: number;
  /** Without the objects that forks share with their source, which are on disk once. */
  gitBytes: number;
  lfsBytes: number;
  releaseBytes: number;
}

/** Bytes of one repository by kind. */
interface RepositoryUsage {
  gitBytes: number;
  /** Part of `gitBytes`: objects that are hard links to those of other repositories. */
  sharedBytes: number;
  lfsBytes: number;
  releaseBytes: number;
  attachmentBytes: number;
  artifactBytes: number;
}

type Reader = Pick<Database, 'read'>;
type Row = Record<string, string | number | null>;

const read = async ({ read }: Reader, sql: string, ...parameters: (string | number)[]): Promise<Row[]> =>
  (await read.query(sql, parameters)) as Row[];

/** Limit per request: the administration page shows them all at once. */
const maxOwners = 100;

/** The expected rows of `owner_usage`, which triggers maintain. */
const countUsage = `SELECT COALESCE(r.owner_user_id, r.owner_org_id) AS owner_id, count(*) AS all_repositories,
    sum(CASE WHEN r.deleted_at IS NULL THEN 1 ELSE 0 END) AS repositories,
    sum(r.size_bytes - r.shared_bytes) AS git_bytes, sum(COALESCE(l.bytes, 0)) AS lfs_bytes,
    sum(COALESCE(c.bytes, 0)) AS release_bytes,
    sum(r.size_bytes - r.shared_bytes + COALESCE(l.bytes, 0) + COALESCE(c.bytes, 0)) AS bytes
  FROM repositories r
    LEFT JOIN lfs_repositories l ON l.repository_id = r.id
    LEFT JOIN release_counts c ON c.repository_id = r.id
  GROUP BY COALESCE(r.owner_user_id, r.owner_org_id)`;
const columns = ['all_repositories', 'repositories', 'git_bytes', 'lfs_bytes', 'release_bytes', 'bytes'];

/**
 * The owners whose stored totals differ from those of their repositories; for a worker thread, because it reads all of
 * these.
 */
export const compareUsage = `WITH owned AS MATERIALIZED (${countUsage})
  SELECT n.owner_id FROM owned n LEFT JOIN owner_usage k ON k.owner_id = n.owner_id
    WHERE k.owner_id IS NULL OR ${columns.map((column) => `k.${column} <> n.${column}`).join(' OR ')}
  UNION ALL SELECT k.owner_id FROM owner_usage k LEFT JOIN owned n ON n.owner_id = k.owner_id
    WHERE n.owner_id IS NULL`;

/** Recomputes the stored totals. */
export async function recountUsage(manager: { query(sql: string): Promise<unknown> }): Promise<void> {
  await manager.query('DELETE FROM owner_usage');
  await manager.query(`INSERT INTO owner_usage (owner_id, ${columns.join(', ')}) ${countUsage}`);
}

/**
 * The owners with the most bytes in git, Git LFS and release files, at most a hundred, largest first. Attachments and
 * artifacts are counted only by repository (`ofRepository`): their totals are not stored.
 */
async function usageByOwner(db: Reader): Promise<OwnerUsage[]> {
  const rows = await read(
    db,
    `SELECT owner_id, repositories, git_bytes, lfs_bytes, release_bytes FROM owner_usage
      ORDER BY bytes DESC, owner_id DESC LIMIT ${maxOwners}`,
  );
  return rows.map((row) => ({
    ownerId: String(row['owner_id']),
    repositories: Number(row['repositories']),
    gitBytes: Number(row['git_bytes']),
    lfsBytes: Number(row['lfs_bytes']),
    releaseBytes: Number(row['release_bytes']),
  }));
}

/** Bytes stored by a repository; zero for an absent one. */
async function usageOfRepository(db: Reader, repositoryId: string): Promise<RepositoryUsage> {
  const one = async (sql: string): Promise<Row> => (await read(db, sql, repositoryId))[0] ?? {};
  const [git, lfs, releases, attachments, artifacts] = await Promise.all([
    one('SELECT size_bytes AS bytes, shared_bytes AS shared FROM repositories WHERE id = ?'),
    one('SELECT bytes FROM lfs_repositories WHERE repository_id = ?'),
    one('SELECT bytes FROM release_counts WHERE repository_id = ?'),
    one('SELECT sum(bytes) AS bytes FROM attachments WHERE repository_id = ?'),
    one(
      `SELECT sum(a.size_bytes) AS bytes FROM ci_runs n JOIN ci_artifacts a ON a.run_id = n.id
        WHERE n.repository_id = ? AND a.state <> 'removed'`,
    ),
  ]);
  const bytesOf = ({ bytes }: Row): number => Number(bytes ?? 0);
  return {
    gitBytes: bytesOf(git),
    sharedBytes: Number(git['shared'] ?? 0),
    lfsBytes: bytesOf(lfs),
    releaseBytes: bytesOf(releases),
    attachmentBytes: bytesOf(attachments),
    artifactBytes: bytesOf(artifacts),
  };
}

/** Disk usage by owner and by repository, for administrators. */
export const createStorageUsage = (db: Reader) => ({
  byOwner: () => usageByOwner(db),
  ofRepository: (repositoryId: string) => usageOfRepository(db, repositoryId),
});

export type StorageUsage = ReturnType<typeof createStorageUsage>;
