import { In } from 'typeorm';
import { inList, isNotNull } from '../../db/index.ts';
import type { PullDeps } from '../deps.ts';
import { pullSchema } from '../schema/pull-schema.ts';
import { roundCommitSchema } from '../schema/round-schema.ts';

/** A merged pull request, with the commit to which its merge moved the base branch. */
export interface MergedPull {
  number: number;
  title: string;
  authorId: string | null;
  /** Name of an author without an account. */
  authorName: string | null;
  mergedOid: string;
  mergedOntoOid: string | null;
  /** Ids of the commits of the last round; a squash or rebase created different ones. */
  commits: string[];
}

interface Row extends Omit<MergedPull, 'commits'> {
  issueId: string;
  lastRound: number;
}

/** Pull requests of a repository that were merged as one of these commits and are visible to its readers. */
export async function mergedAs(
  { db }: Pick<PullDeps, 'db'>,
  repositoryId: string,
  oids: readonly string[],
): Promise<Row[]> {
  const rows: Row[] = await db.read.query(
    `SELECT p.issue_id AS "issueId", p.last_round AS "lastRound", p.merged_oid AS "mergedOid",
       p.merged_onto_oid AS "mergedOntoOid", i.number AS "number", i.title AS "title", i.author_id AS "authorId",
       i.author_name AS "authorName"
     FROM pulls p JOIN issues i ON i.id = p.issue_id
     WHERE p.repository_id = ? AND p.merged_oid IS NOT NULL AND ${inList('p.merged_oid')}
       AND i.state = 'MERGED' AND i.deleted_at IS NULL AND i.held_at IS NULL`,
    [repositoryId, JSON.stringify(oids)],
  );
  return rows.map((row) => ({ ...row, number: Number(row.number), lastRound: Number(row.lastRound) }));
}

/**
 * Pull requests of a repository whose merge created one of these commits, in no order. Omits those in the trash or held
 * for moderation. The caller checks read access.
 */
export async function findMergedPulls(
  deps: Pick<PullDeps, 'db'>,
  repositoryId: string,
  oids: readonly string[],
): Promise<MergedPull[]> {
  const rows = await mergedAs(deps, repositoryId, oids);
  const commits = await deps.db.read.findBy(roundCommitSchema, { issueId: In(rows.map(({ issueId }) => issueId)) });
  return rows.map(({ issueId, lastRound, ...row }) => ({
    ...row,
    commits: commits.flatMap((each) => (each.issueId === issueId && each.round === lastRound ? [each.oid] : [])),
  }));
}

/** Whether a repository has a merged pull request submitted by this user. */
export function hasMerged({ db }: Pick<PullDeps, 'db'>, repositoryId: string, submitterId: string): Promise<boolean> {
  return db.read.existsBy(pullSchema, { repositoryId, submitterId, mergedAt: isNotNull() });
}
