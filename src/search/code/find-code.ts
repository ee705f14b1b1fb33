import { visibleRepositories } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { contains } from '../../db/index.ts';
import type { DatabaseThread } from '../../db/index.ts';
import type { Git } from '../../git/index.ts';
import { createLru } from '../../kernel/index.ts';
import type { Lru } from '../../kernel/index.ts';
import type { Located, Repositories } from '../../repositories/index.ts';
import { fold, foldQuery, trigramQuery } from '../fold-text.ts';
import { maxFileBytes } from './index-repository.ts';

/** A line of a file, from 1. */
export interface CodeLine {
  number: number;
  text: string;
}

export interface CodeHit {
  located: Located;
  path: string;
  /** The commit that was indexed. */
  commit: string;
  /** The first matching lines; none when the match is in the file's name. */
  lines: CodeLine[];
}

/** How much of the visible code was searched. */
export interface Coverage {
  /** Repositories visible to the viewer. */
  visible: number;
  searched: number;
  /** Over the limit of one repository, or without space in the index. */
  tooLarge: number;
}

export interface CodeSearchResults {
  hits: CodeHit[];
  /** Whether there may be more. */
  isCut: boolean;
  coverage: Coverage;
}

interface Candidate {
  repositoryId: string;
  path: string;
  oid: string;
  commit: string;
}

const maxHits = 50;
const maxCandidates = 400;
const linesPerFile = 3;
const maxLineLength = 300;
const readingMs = 2_000;

/** In the order of owners and names, like every search. */
const candidateColumns = `f.repository_id AS repositoryId, f.path, b.oid, c.commit_oid AS "commit"
  FROM code.files f
  CROSS JOIN code.repositories c ON c.id = f.repository_id AND c.commit_oid IS NOT NULL
  CROSS JOIN code.blobs b ON b.id = f.blob_id
  CROSS JOIN main.repositories r ON r.id = f.repository_id
  CROSS JOIN search_repositories p ON p.id = r.id`;
const inOrder = `ORDER BY p.place, f.path LIMIT ${maxCandidates}`;

/** For a query of three characters or more: the files that contain all its trigrams. */
const byContent = (visible: string): string =>
  `SELECT ${candidateColumns} WHERE f.blob_id IN (SELECT rowid FROM code.code WHERE code MATCH :proposing) AND ${visible} ${inOrder}`;

/** For shorter queries, which have no trigram: file names. */
const byName = (visible: string): string =>
  `SELECT ${candidateColumns} WHERE ${contains('lower(f.path)', ':query')} AND ${visible} ${inOrder}`;

/** Counts every repository that the viewer may see, so its result is cached. */
const coverageOf = (visible: string): string => `
  SELECT count(*) AS visible, coalesce(sum(c.state = 'searched'), 0) AS searched, coalesce(sum(c.state IN ('too_large', 'no_room')), 0) AS tooLarge
  FROM main.repositories r LEFT JOIN code.repositories c ON c.id = r.id WHERE ${visible}`;

/** A file has many more trigrams than a name, so more of them are asked for. */
const maxTrigrams = 24;

/** Coverages by the condition of the viewer: a count over all repositories takes 30 ms where there are 100,000. */
export const createCoverages = (): Lru<string, Coverage> =>
  createLru({ name: 'code-search coverage', maxWeight: 1_000, ttlMs: 5 * 60_000 });

interface FindDeps {
  readThread: DatabaseThread;
  git: Git;
  repositories: Pick<Repositories, 'locate'>;
  coverages: Lru<string, Coverage>;
}

/**
 * Searches one line of literal text, ignoring case, in the default branches of the repositories that the viewer may
 * see. Queries under three characters match only file names. The index proposes files, and their content in git
 * decides.
 */
export async function findCode(
  { readThread, git, repositories, coverages }: FindDeps,
  viewer: Viewer,
  text: string,
): Promise<CodeSearchResults> {
  const query = foldQuery(text);
  const visible = visibleRepositories(viewer, 'r');
  const trigrams = trigramQuery(query, maxTrigrams);
  const isShort = trigrams === null;
  const viewerKey = JSON.stringify(visible);
  const cached = coverages.get(viewerKey);
  const [candidates, counted] = await readThread.run([
    query === ''
      ? { sql: 'SELECT 1 WHERE 0', parameters: [] }
      : {
          sql: isShort ? byName(visible.sql) : byContent(visible.sql),
          parameters: { ...visible.parameters, query, ...(!isShort && { proposing: trigrams }) },
        },
    ...(cached === undefined ? [{ sql: coverageOf(visible.sql), parameters: visible.parameters }] : []),
  ]);
  const coverage = cached ?? (counted![0] as unknown as Coverage);
  if (cached === undefined) coverages.set(viewerKey, coverage);
  const found = await readHits({ git, repositories }, candidates as unknown as Candidate[], isShort ? null : query);
  return { ...found, coverage };
}

/** @param query `null` when the match is in the name */
async function readHits(
  { git, repositories }: { git: Git; repositories: Pick<Repositories, 'locate'> },
  candidates: readonly Candidate[],
  query: string | null,
): Promise<{ hits: CodeHit[]; isCut: boolean }> {
  const located = await repositories.locate(candidates.map(({ repositoryId }) => repositoryId));
  const hits: CodeHit[] = [];
  const until = performance.now() + readingMs;
  for (const { repositoryId, path, oid, commit } of candidates) {
    const place = located.get(repositoryId);
    if (place === undefined) continue;
    if (hits.length === maxHits || performance.now() > until) return { hits, isCut: true };
    const lines = query === null ? [] : await linesIn(git, place.path, oid, query);
    if (query === null || lines.length > 0) hits.push({ located: place, path, commit, lines });
  }
  return { hits, isCut: candidates.length === maxCandidates };
}

async function linesIn(git: Git, path: string, oid: string, query: string): Promise<CodeLine[]> {
  // A blob that a rewritten history removed is no hit any more.
  const blob = await git.objects.blob(path, oid, { maxBytes: maxFileBytes }).catch(() => null);
  const lines: CodeLine[] = [];
  if (blob?.content == null) return lines;
  for (const [at, line] of blob.content.toString('utf8').split('\n').entries()) {
    if (!fold(line).includes(query)) continue;
    lines.push({ number: at + 1, text: line.length > maxLineLength ? `${line.slice(0, maxLineLength)}…` : line });
    if (lines.length === linesPerFile) break;
  }
  return lines;
}
