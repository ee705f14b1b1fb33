import { visibleRepositories } from '../../access/index.ts';
import type { SqlCondition, Viewer } from '../../access/index.ts';
import { contains } from '../../db/index.ts';
import type { DatabaseThread } from '../../db/index.ts';
import type { Git } from '../../git/index.ts';
import { fileNamesOf } from '../../highlighting/index.ts';
import { createLru, invalid } from '../../kernel/index.ts';
import type { Lru } from '../../kernel/index.ts';
import type { Located, Repositories } from '../../repositories/index.ts';
import { fold, foldQuery, trigramQuery } from '../fold-text.ts';
import { literalOf, parseCodeQuery } from './parse-code-query.ts';
import type { CodeQuery } from './parse-code-query.ts';
import { maxFileBytes } from './index-repository.ts';

/** Line number in a file, from 1. */
interface CodeLine {
  number: number;
  text: string;
}

export interface CodeHit {
  located: Located;
  path: string;
  /** The indexed commit. */
  commit: string;
  /** The first matching lines; empty if the match is in the file name. */
  lines: CodeLine[];
}

/** How much of the visible code was searched. */
export interface Coverage {
  /** Number of repositories visible to the viewer. */
  visible: number;
  searched: number;
  /** Number of those above the size limit of one repository, or without space in the index. */
  tooLarge: number;
}

export interface CodeSearchResults {
  hits: CodeHit[];
  /** Whether there may be more. */
  isCut: boolean;
  coverage: Coverage;
  /** The literal text without qualifiers, to be highlighted; empty for a regular expression. */
  text: string;
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

/** Sorted by owner and name, as in every search. */
const candidateColumns = `f.repository_id AS repositoryId, f.path, b.oid, c.commit_oid AS "commit"
  FROM code.files f
  CROSS JOIN code.repositories c ON c.id = f.repository_id AND c.commit_oid IS NOT NULL
  CROSS JOIN code.blobs b ON b.id = f.blob_id
  CROSS JOIN main.repositories r ON r.id = f.repository_id
  CROSS JOIN search_repositories p ON p.id = r.id`;
const inOrder = `ORDER BY p.place, f.path LIMIT ${maxCandidates}`;

/** For a query of at least three characters: the files that contain all its trigrams. */
const byContent = (condition: string): string =>
  `SELECT ${candidateColumns} WHERE f.blob_id IN (SELECT rowid FROM code.code WHERE code MATCH :proposing) AND ${condition} ${inOrder}`;

/** For shorter queries, which have no trigram: file names. */
const byName = (condition: string): string =>
  `SELECT ${candidateColumns} WHERE ${contains('lower(f.path)', ':query')} AND ${condition} ${inOrder}`;

/** For queries of qualifiers only: all matching files. */
const byQualifiers = (condition: string): string => `SELECT ${candidateColumns} WHERE ${condition} ${inOrder}`;

/** A GLOB pattern of SQLite that matches a text literally. */
const literalGlob = (text: string): string => text.replace(/[[\]*?]/g, (sign) => `[${sign}]`);

/** Conditions of a query's qualifiers on rows `r` and `f`, besides access. */
function conditionOf({ repositories, owners, paths, languages }: CodeQuery): SqlCondition {
  const conditions: string[] = [];
  const parameters: Record<string, unknown> = {};
  const bind = (value: string): string => {
    const name = `qualifier${Object.keys(parameters).length}`;
    parameters[name] = value;
    return `:${name}`;
  };
  const ownedBy = (handle: string): string =>
    `COALESCE(r.owner_user_id, r.owner_org_id) = (SELECT h.owner_id FROM main.handles h
      WHERE h.folded = ${bind(handle.toLowerCase())} AND h.released_at IS NULL)`;
  const any = (each: string[]): void => {
    if (each.length > 0) conditions.push(`(${each.join(' OR ')})`);
  };
  any(
    repositories.map(({ owner, name }) => {
      const called = `r.name_folded = ${bind(name.toLowerCase())}`;
      return owner === null ? called : `(${called} AND ${ownedBy(owner)})`;
    }),
  );
  any(owners.map(ownedBy));
  for (const path of paths) {
    const glob = path.toLowerCase().split('*').map(literalGlob).join('*');
    conditions.push(`lower(f.path) GLOB ${bind(`*${glob}*`)}`);
  }
  any(
    languages.flatMap((language) => {
      const names = fileNamesOf(language);
      // An unknown language matches no file.
      if (names.length === 0) return ['1 = 0'];
      return names.flatMap((name) => [
        `lower(f.path) GLOB ${bind(`*.${literalGlob(name.toLowerCase())}`)}`,
        `f.path = ${bind(name)}`,
        `f.path GLOB ${bind(`*/${literalGlob(name)}`)}`,
      ]);
    }),
  );
  return { sql: conditions.length === 0 ? '1 = 1' : conditions.join(' AND '), parameters };
}

/** Counts every repository that the viewer may see, so its result is cached. */
const coverageOf = (visible: string): string => `
  SELECT count(*) AS visible, coalesce(sum(c.state = 'searched'), 0) AS searched, coalesce(sum(c.state IN ('too_large', 'no_room')), 0) AS tooLarge
  FROM main.repositories r LEFT JOIN code.repositories c ON c.id = r.id WHERE ${visible}`;

/** A file has many more trigrams than a name, so more of them are queried. */
const maxTrigrams = 24;

/** Coverages by the condition of the viewer: counting 100,000 repositories takes 30 ms. */
export const createCoverages = (): Lru<string, Coverage> =>
  createLru({ name: 'code-search coverage', maxWeight: 1_000, ttlMs: 5 * 60_000 });

interface FindDeps {
  readThread: DatabaseThread;
  git: Git;
  repositories: Pick<Repositories, 'locate'>;
  coverages: Lru<string, Coverage>;
}

/**
 * Searches one line of literal text, by default ignoring case, in the default branches of the repositories that the
 * viewer may see. Queries under three characters match only file names. The index proposes files, and their content in
 * git decides. git matches regular expressions, as in the search of one repository. Throws `invalid_pattern`, also for
 * a regular expression without three literal characters and without a `repo:`.
 */
export async function findCode(
  { readThread, git, repositories, coverages }: FindDeps,
  viewer: Viewer,
  text: string,
): Promise<CodeSearchResults> {
  const asked = parseCodeQuery(text);
  const query = foldQuery(asked.isPattern ? literalOf(asked.text) : asked.text);
  const visible = visibleRepositories(viewer, 'r');
  const qualified = conditionOf(asked);
  const condition = `${visible.sql} AND ${qualified.sql}`;
  const trigrams = trigramQuery(query, maxTrigrams);
  const isShort = trigrams === null && !asked.isPattern;
  if (asked.isPattern && trigrams === null && asked.repositories.length === 0)
    throw invalid('invalid_pattern', 'Enter at least three literal characters, or name a repository with repo:.', {
      field: 'q',
    });
  const hasQualifiers = qualified.sql !== '1 = 1';
  const viewerKey = JSON.stringify(visible);
  const cached = coverages.get(viewerKey);
  const [candidates, counted] = await readThread.run([
    query === '' && !hasQualifiers
      ? { sql: 'SELECT 1 WHERE 0', parameters: [] }
      : {
          sql: (trigrams !== null ? byContent : isShort && query !== '' ? byName : byQualifiers)(condition),
          parameters: {
            ...visible.parameters,
            ...qualified.parameters,
            ...(trigrams !== null && { proposing: trigrams }),
            ...(isShort && query !== '' && { query }),
          },
        },
    ...(cached === undefined ? [{ sql: coverageOf(visible.sql), parameters: visible.parameters }] : []),
  ]);
  const coverage = cached ?? (counted![0] as unknown as Coverage);
  if (cached === undefined) coverages.set(viewerKey, coverage);
  const proposed = candidates as unknown as Candidate[];
  const found = asked.isPattern
    ? await matchHits({ git, repositories }, proposed, asked)
    : await readHits({ git, repositories }, proposed, isShort ? null : finderOf(asked, query));
  return { ...found, coverage, text: asked.isPattern ? '' : asked.text };
}

const finderOf = ({ text, isExact }: CodeQuery, query: string): ((line: string) => boolean) =>
  isExact ? (line) => line.includes(text) : (line) => fold(line).includes(query);

/** Limit of repositories searched for a regular expression. */
const maxMatched = 20;
const matchedLines = 200;

/** The lines that git matches in the proposed files. */
async function matchHits(
  { git, repositories }: { git: Git; repositories: Pick<Repositories, 'locate'> },
  candidates: readonly Candidate[],
  { text, isExact }: CodeQuery,
): Promise<{ hits: CodeHit[]; isCut: boolean }> {
  const located = await repositories.locate(candidates.map(({ repositoryId }) => repositoryId));
  const byRepository = Map.groupBy(candidates, ({ repositoryId }) => repositoryId);
  const hits: CodeHit[] = [];
  let isCut = candidates.length === maxCandidates || byRepository.size > maxMatched;
  const until = performance.now() + readingMs;
  for (const [repositoryId, files] of [...byRepository].slice(0, maxMatched)) {
    const place = located.get(repositoryId);
    if (place === undefined) continue;
    if (hits.length >= maxHits || performance.now() > until) return { hits, isCut: true };
    const { commit } = files[0]!;
    const grep = await git.queries.grep(place.path, {
      oid: commit,
      text,
      isPattern: true,
      ignoresCase: !isExact,
      limit: matchedLines,
      perFile: linesPerFile,
    });
    isCut ||= !grep.isWhole;
    const lines = Map.groupBy(grep.lines, ({ file }) => file.toString());
    for (const { path } of files) {
      const own = lines.get(path);
      if (own === undefined || hits.length === maxHits) continue;
      hits.push({
        located: place,
        path,
        commit,
        lines: own.map((line) => ({ number: line.number, text: cut(line.text.toString()) })),
      });
    }
  }
  return { hits, isCut };
}

const cut = (line: string): string => (line.length > maxLineLength ? `${line.slice(0, maxLineLength)}…` : line);

/**
 * @param matches `null` if the match is in the name
 */
async function readHits(
  { git, repositories }: { git: Git; repositories: Pick<Repositories, 'locate'> },
  candidates: readonly Candidate[],
  matches: ((line: string) => boolean) | null,
): Promise<{ hits: CodeHit[]; isCut: boolean }> {
  const located = await repositories.locate(candidates.map(({ repositoryId }) => repositoryId));
  const hits: CodeHit[] = [];
  const until = performance.now() + readingMs;
  for (const { repositoryId, path, oid, commit } of candidates) {
    const place = located.get(repositoryId);
    if (place === undefined) continue;
    if (hits.length === maxHits || performance.now() > until) return { hits, isCut: true };
    const lines = matches === null ? [] : await linesIn(git, place.path, oid, matches);
    if (matches === null || lines.length > 0) hits.push({ located: place, path, commit, lines });
  }
  return { hits, isCut: candidates.length === maxCandidates };
}

async function linesIn(git: Git, path: string, oid: string, matches: (line: string) => boolean): Promise<CodeLine[]> {
  // A blob removed by a rewritten history is not a hit anymore.
  const blob = await git.objects.blob(path, oid, { maxBytes: maxFileBytes }).catch(() => null);
  const lines: CodeLine[] = [];
  if (blob?.content == null) return lines;
  for (const [at, line] of blob.content.toString('utf8').split('\n').entries()) {
    if (!matches(line)) continue;
    lines.push({ number: at + 1, text: cut(line) });
    if (lines.length === linesPerFile) break;
  }
  return lines;
}
