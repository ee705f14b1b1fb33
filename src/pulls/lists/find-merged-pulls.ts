import { In } from 'typeorm';
import { inList, isNotNull } from '../../db/index.ts';
import type { PullDeps } from '../deps.ts';
import { pullSchema } from '../schema/pull-schema.ts';
import { roundCommitSchema } from '../schema/round-schema.ts';

/** A merged pull request, by the commit that its merge made the tip of the base branch. */
export interface MergedPull {
  number: number;
  title: string;
  authorId: string | null;
  /** Of an author without an account. */
  authorName: string | null;
  mergedOid: string;
  mergedOntoOid: string | null;
  /** The commits of the last round, by their ids there; a squash or a rebase has made others of them. */
  commits: string[];
}

interface Row extends Omit<MergedPull, 'commits'> {
  issueId: string;
  lastRound: number;
}

/** Those of a repository that were merged as one of these commits, which readers may see. */
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
 * The pull requests of a repository whose merges are among these commits, for callers that have asked for the right to
 * read it; in no order. What is in the trash or waits for a member is left out.
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

/** Whether a pull request that a person submitted was merged into a repository. */
export function hasMerged({ db }: Pick<PullDeps, 'db'>, repositoryId: string, submitterId: string): Promise<boolean> {
  return db.read.existsBy(pullSchema, { repositoryId, submitterId, mergedAt: isNotNull() });
}
