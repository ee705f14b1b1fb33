import { hash } from 'node:crypto';
import { dialectOf, rowsTable } from '../../db/index.ts';
import type { Tx } from '../../db/index.ts';
import { foldFields } from '../fold-text.ts';

/** Texts per step: at most 64 KiB each. */
const entriesAtOnce = 100;

/** The trigrams of entries. */
export const entryIndex = { index: 'search_entry_trigrams' } as const;

/** The first of the characters that texts do not use, and the number of them used here. */
const privateUseStart = 0xe000;
const privateCount = 4_096;

/**
 * Three characters of the private use area that represent a repository: one trigram, by which a search within a
 * repository excludes the texts of all others. Two repositories may share one; the repository of a row decides.
 */
export function repositoryTrigram(repositoryId: string): string {
  const digest = hash('sha256', repositoryId, 'buffer');
  const characters = [0, 2, 4].map((at) => privateUseStart + (digest.readUInt16BE(at) % privateCount));
  return String.fromCharCode(...characters);
}

const placeColumns = { issue_id: 'text', position: 'bigint' } as const;
const entryColumns = { place: 'bigint', issue_id: 'text', position: 'bigint', folded: 'text' } as const;
const indexedColumns = { place: 'bigint', folded: 'text' } as const;

interface FoundEntry {
  issueId: string;
  position: number;
  title: string;
  body: string | null;
  /** For a review: its comments on code. */
  comments: string | null;
  repositoryId: string;
}

/**
 * Reindexes entries of issues: the text of an issue together with its title, comments, and the text of a review
 * together with its comments on code. Entries awaiting approval by a member and deleted ones are not found.
 * @param ids `issue position`, as in `search_changes`
 */
export async function updateIssueIndex(tx: Tx, ids: readonly string[]): Promise<void> {
  for (let start = 0; start < ids.length; start += entriesAtOnce)
    await refresh(tx, JSON.stringify(ids.slice(start, start + entriesAtOnce).map((id) => id.split(' '))));
}

async function refresh({ manager }: Tx, places: string): Promise<void> {
  // PostgreSQL maintains its trigram index automatically.
  const hasOwnIndex = dialectOf(manager) === 'sqlite';
  const known = (await manager.query(
    `SELECT s.place AS place FROM ${rowsTable(placeColumns)}
      JOIN search_entries s ON s.issue_id = list.issue_id AND s.position = list.position`,
    [places],
  )) as { place: number }[];
  const tables = [...(hasOwnIndex ? ['search_entry_trigrams WHERE rowid'] : []), 'search_entries WHERE place'];
  for (const table of known.length === 0 ? [] : tables) {
    const list = known.map(({ place }) => [place]);
    await manager.query(`DELETE FROM ${table} IN (SELECT place FROM ${rowsTable({ place: 'bigint' })})`, [
      JSON.stringify(list),
    ]);
  }
  const found = (await manager.query(
    `SELECT e.issue_id AS "issueId", e.position AS position, i.title AS title, e.body AS body, i.repository_id AS "repositoryId",
        CASE WHEN e.kind = 'review' THEN (SELECT group_concat(c.body, char(10)) FROM reviews v
          JOIN review_comments c ON c.review_id = v.id
          WHERE v.issue_id = e.issue_id AND v.position = e.position AND c.deleted_at IS NULL) END AS comments
      FROM ${rowsTable(placeColumns)}
      JOIN issue_entries e ON e.issue_id = list.issue_id AND e.position = list.position
      JOIN issues i ON i.id = e.issue_id
      WHERE e.held_at IS NULL AND e.deleted_at IS NULL AND (e.body IS NOT NULL OR e.position = 0)`,
    [places],
  )) as FoundEntry[];
  if (found.length === 0) return;
  const [{ last }] = (await manager.query('SELECT coalesce(max(place), 0) AS last FROM search_entries')) as [
    { last: number },
  ];
  const rows = found.map(({ issueId, position, title, body, comments, repositoryId }, at) => {
    const folded =
      Number(position) === 0
        ? foldFields(title, body ?? '')
        : comments === null
          ? foldFields(body ?? '')
          : foldFields(body ?? '', comments);
    return { place: Number(last) + 1 + at, issueId, position, folded, trigram: repositoryTrigram(repositoryId) };
  });
  await manager.query(
    `INSERT INTO search_entries (place, issue_id, position, folded)
      SELECT place, issue_id, position, folded FROM ${rowsTable(entryColumns)}`,
    [JSON.stringify(rows.map(({ place, issueId, position, folded }) => [place, issueId, position, folded]))],
  );
  if (!hasOwnIndex) return;
  await manager.query(
    `INSERT INTO search_entry_trigrams (rowid, folded) SELECT place, folded FROM ${rowsTable(indexedColumns)}`,
    [JSON.stringify(rows.map(({ place, folded, trigram }) => [place, `${trigram}\u0001${folded}`]))],
  );
}
