import { In } from 'typeorm';
import type { Repository } from '../../repositories/index.ts';
import type { IssueDeps } from '../deps.ts';
import { limits } from '../limits.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import { trackedTimeSchema } from '../schema/time-schema.ts';
import type { TrackedTimeRow } from '../schema/time-schema.ts';
import type { ImportedPerson } from './export-file-schemas.ts';

/** Time that was spent on an issue of another forge. */
interface FollowedTime {
  /** Number of the issue. */
  number: number;
  person: ImportedPerson;
  seconds: number;
  createdAt: number;
  /** Its key there, unique among all forges. */
  origin: string;
}

/**
 * Adds the tracked times of another forge to the imported issues of a repository, at most a page of them. One that is
 * here already is not added again. No access check.
 * @returns origins of those that are here now, and numbers of issues that have too many
 */
export async function writeFollowedTimes(
  { db }: Pick<IssueDeps, 'db'>,
  { id: repositoryId }: Pick<Repository, 'id'>,
  times: readonly FollowedTime[],
): Promise<{ written: string[]; full: number[] }> {
  if (times.length === 0) return { written: [], full: [] };
  return db.write(async ({ manager }) => {
    const number = In([...new Set(times.map((time) => time.number))]);
    const issues = await manager.findBy(issueSchema, { repositoryId, number });
    const byNumber = new Map(issues.filter(({ origin }) => origin !== null).map((issue) => [issue.number, issue.id]));
    const origin = In(times.map((time) => time.origin));
    const before = await manager.findBy(trackedTimeSchema, { repositoryId, origin });
    const known = new Set(before.flatMap((row) => row.origin ?? []));
    const full = new Set<number>();
    const counts = new Map<string, number>();
    const rows: Omit<TrackedTimeRow, 'id'>[] = [];
    for (const time of times) {
      const issueId = byNumber.get(time.number);
      if (issueId === undefined || known.has(time.origin)) continue;
      const count = counts.get(issueId) ?? (await manager.countBy(trackedTimeSchema, { issueId }));
      if (count >= limits.timesPerIssue) full.add(time.number);
      else {
        counts.set(issueId, count + 1);
        known.add(time.origin);
        rows.push({
          ...{ issueId, repositoryId, userId: time.person.id ?? null, userName: time.person.name },
          ...{ origin: time.origin, seconds: time.seconds, createdAt: time.createdAt },
        });
      }
    }
    if (rows.length > 0) await manager.insert(trackedTimeSchema, rows);
    return { written: [...known], full: [...full] };
  });
}

/** Removes tracked times of another forge that were removed there, some hundred at most. */
export async function removeFollowedTimes(
  { db }: Pick<IssueDeps, 'db'>,
  { id: repositoryId }: Pick<Repository, 'id'>,
  origins: readonly string[],
): Promise<void> {
  await db.write(async ({ manager }) => manager.delete(trackedTimeSchema, { repositoryId, origin: In([...origins]) }));
}
