import { upsert } from '../../db/index.ts';
import type { Database } from '../../db/index.ts';

/** A row of `integrity_checks`: time and result of the last complete reading of a subject. */
export interface IntegrityRecord {
  /** `repository:ID` or `objects:KIND`. */
  subject: string;
  /** Epoch milliseconds; 0 during the first reading. */
  checkedAt: number;
  problem: string | null;
  /** Position at which an incomplete reading continues; null if it was complete. */
  position: ReadingPosition | null;
  /** Keys of damaged objects found by the current reading. */
  found: readonly string[];
}

/** The last row of which every object was read, and the number of objects read of the next one. */
export interface ReadingPosition {
  after: string | number;
  skip: number;
}

export const repositorySubject = (id: string): string => `repository:${id}`;
export const objectsSubject = (kind: string): string => `objects:${kind}`;

const columns = ['checked_at', 'problem', 'position', 'found'];

export async function recordIntegrity(db: Database, record: IntegrityRecord): Promise<void> {
  const { subject, checkedAt, problem, position, found } = record;
  const values = [
    subject,
    checkedAt,
    problem,
    position === null ? null : JSON.stringify(position),
    found.length === 0 ? null : JSON.stringify(found),
  ];
  await db.write(({ manager }) => manager.query(upsert('integrity_checks', ['subject'], columns), values));
}

/** The record of one subject, or null. */
export async function integrityOf(db: Database, subject: string): Promise<IntegrityRecord | null> {
  const rows = (await db.read.query(
    'SELECT subject, checked_at, problem, position, found FROM integrity_checks WHERE subject = ?',
    [subject],
  )) as Record<string, unknown>[];
  return rows[0] === undefined ? null : recordOf(rows[0]);
}

/** Records with a problem, by subject: at most a hundred. */
export async function knownDamage(db: Database): Promise<Map<string, IntegrityRecord>> {
  const rows = (await db.read.query(
    `SELECT subject, checked_at, problem, position, found FROM integrity_checks
      WHERE problem IS NOT NULL ORDER BY subject LIMIT 100`,
  )) as Record<string, unknown>[];
  return new Map(rows.map((row) => [String(row['subject']), recordOf(row)]));
}

function recordOf({
  subject,
  checked_at: checkedAt,
  problem,
  position,
  found,
}: Record<string, unknown>): IntegrityRecord {
  return {
    subject: String(subject),
    checkedAt: Number(checkedAt),
    problem: problem === null ? null : String(problem),
    position: position === null ? null : (JSON.parse(String(position)) as ReadingPosition),
    found: found === null ? [] : (JSON.parse(String(found)) as string[]),
  };
}
