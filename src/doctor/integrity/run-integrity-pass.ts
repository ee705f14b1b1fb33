import type { Config } from '../../config/index.ts';
import type { Database } from '../../db/index.ts';
import type { Git } from '../../git/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import type { Clock, Logger } from '../../kernel/index.ts';
import type { ObjectKind, ObjectStore, QueryRows } from '../../objects/index.ts';
import { fileKinds, objectKinds } from '../objects/object-kinds.ts';
import { integrityOf, objectsSubject, recordIntegrity, repositorySubject } from './integrity-records.ts';
import { readObjects } from './read-objects.ts';

interface IntegrityDeps {
  config: Pick<Config, 'integrity'>;
  db: Database;
  git: Pick<Git, 'storage' | 'maintenance'>;
  objects: ObjectStore;
  clock: Clock;
  logger: Logger;
}

interface IntegrityPass {
  repositories: number;
  objects: number;
  /** Subjects that are damaged. */
  damaged: number;
}

const repositoriesAtOnce = 50;

/**
 * Reads repositories and stored objects completely that were not read within `integrity.every`, oldest first, for at
 * most `integrity.window`; the next pass continues at the end of this one. Records damage for `hearth doctor` and logs
 * it. Never interrupts the reading of a single repository or object.
 * @param shouldContinue called in between: a running backup also reads everything
 */
export async function runIntegrityPass(
  deps: IntegrityDeps,
  shouldContinue: () => Promise<boolean> = async () => true,
): Promise<IntegrityPass> {
  const { config, clock, db, logger } = deps;
  const startedAt = clock.now();
  const pass: IntegrityPass = { repositories: 0, objects: 0, damaged: 0 };
  const isInTime = async (): Promise<boolean> =>
    clock.now() - startedAt < config.integrity.windowMs && (await shouldContinue());
  await forgetRemoved(db);
  const dueBefore = startedAt - config.integrity.everyMs;
  // Each gets half of the time if both have much to read.
  const half = async (): Promise<boolean> =>
    clock.now() - startedAt < config.integrity.windowMs / 2 && (await isInTime());
  const hasRest = await readDueRepositories(deps, dueBefore, pass, half);
  for (const kind of deps.objects.place === 's3' ? objectKinds : fileKinds) {
    if (!(await isInTime())) break;
    await readKind(deps, kind, { dueBefore, pass, isInTime });
  }
  if (hasRest) await readDueRepositories(deps, dueBefore, pass, isInTime);
  if (pass.repositories + pass.objects > 0) logger.info('integrity.read', { ...pass });
  return pass;
}

async function forgetRemoved(db: Database): Promise<void> {
  await db.write(({ manager }) =>
    manager.query(
      `DELETE FROM integrity_checks WHERE subject LIKE 'repository:%'
        AND NOT EXISTS (SELECT 1 FROM repositories r WHERE r.id = substr(subject, 12) AND r.deleted_at IS NULL)`,
    ),
  );
}

/** Returns whether some remain. */
async function readDueRepositories(
  { db, git, clock, logger }: IntegrityDeps,
  dueBefore: number,
  pass: IntegrityPass,
  isInTime: () => Promise<boolean>,
): Promise<boolean> {
  for (;;) {
    const due = (await db.read.query(
      `SELECT r.id AS id, coalesce(r.owner_user_id, r.owner_org_id) AS owner FROM repositories r
        LEFT JOIN integrity_checks c ON c.subject = 'repository:' || r.id
        WHERE r.deleted_at IS NULL AND coalesce(c.checked_at, 0) < ? ORDER BY coalesce(c.checked_at, 0), r.id LIMIT ?`,
      [dueBefore, repositoriesAtOnce],
    )) as { id: string; owner: string }[];
    if (due.length === 0) return false;
    for (const { id, owner } of due) {
      if (!(await isInTime())) return true;
      const problem = await readRepository(git, git.storage.pathOf(owner, id));
      const subject = repositorySubject(id);
      await recordIntegrity(db, { subject, checkedAt: clock.now(), problem, position: null, found: [] });
      pass.repositories += 1;
      if (problem === null) continue;
      pass.damaged += 1;
      logger.error('integrity.damaged', { repository: id, problem });
    }
  }
}

/** Reads every object of a repository and returns the problem; null if there is none, or the repository was deleted. */
export async function readRepository(git: IntegrityDeps['git'], folder: string): Promise<string | null> {
  const look = async (): Promise<string | null> => {
    if (!(await git.storage.exists(folder))) return null;
    const [message] = await git.maintenance.check(folder, { full: true }).catch((error: Error) => [error.message]);
    return message ?? null;
  };
  // A concurrent repack can remove a file that was just listed.
  return (await look()) === null ? null : look();
}

async function readKind(
  { db, objects, clock, logger }: IntegrityDeps,
  kind: ObjectKind,
  { dueBefore, pass, isInTime }: { dueBefore: number; pass: IntegrityPass; isInTime: () => Promise<boolean> },
): Promise<void> {
  const subject = objectsSubject(kind.name);
  const before = await integrityOf(db, subject);
  if (before !== null && before.position === null && before.checkedAt >= dueBefore) return;
  const ask: QueryRows = (sql, parameters) => db.read.query(sql, parameters) as ReturnType<QueryRows>;
  try {
    const { read, position, found } = await readObjects(kind, {
      store: objects,
      ask,
      position: before?.position ?? null,
      found: before?.position == null ? [] : before.found,
      shouldContinue: isInTime,
    });
    pass.objects += read;
    const problem = found.length === 0 ? null : describeDamagedObjects(kind.name, found);
    if (problem !== null) {
      pass.damaged += 1;
      logger.error('integrity.damaged', { kind: kind.name, keys: found });
    }
    await recordIntegrity(db, {
      subject,
      checkedAt: position === null ? clock.now() : (before?.checkedAt ?? 0),
      // The results of an earlier reading apply until this one is complete.
      problem: position === null ? problem : (problem ?? before?.problem ?? null),
      position,
      found: position === null ? [] : found,
    });
  } catch (error) {
    if (!isDomainError(error)) throw error;
    logger.warn('integrity.not_read', { kind: kind.name, error });
  }
}

export const describeDamagedObjects = (kind: string, keys: readonly string[]): string =>
  `${keys.length === 1 ? '1 object' : `${keys.length} objects`} of ${kind} missing or changed, such as ${keys[0]}`;
