import { isDomainError } from '../../kernel/index.ts';
import { isRejected, sourceFailed, sourceGone } from '../client/source-errors.ts';
import type { SourceClient } from '../client/source-client.ts';
import { nextPage } from './next-page.ts';
import { listOf, objectOf } from './read-json.ts';
import type { Json } from './read-json.ts';
import type { SourcePage, SourceQuery, TellProblem } from './source.ts';

/** Pages of a list that is short or belongs to one pull request. */
const maxPages = 100;

type Read<Row> = (row: Json) => Row | null;

interface Place {
  api: string;
  /** Path of the repository, which distinguishes an absent list from a deleted repository. */
  repo: string;
  project: string;
  tell: TellProblem;
}

/** Reads paged lists of GitHub and of forges that follow its conventions. */
export function createPager(client: SourceClient, { api, repo, project, tell }: Place) {
  /** @param key of the rows in an answer that is an object */
  async function page<Row>(query: SourceQuery, first: string, read: Read<Row>, key?: string): Promise<SourcePage<Row>> {
    const path = query.cursor ?? first;
    const isFirst = query.cursor === null;
    const asked: Record<string, string> = isFirst && query.etag ? { 'If-None-Match': query.etag } : {};
    const { status, json, headers } = await client.get(path, asked);
    if (status === 304) return { rows: [], next: null, etag: query.etag ?? null };
    if (status === 422 && isFirst) throw sourceFailed(`${client.host} answered ${first} with status 422.`);
    if (status === 404 || status === 410 || status === 422) {
      // The response for a repository without issues, and for one that the token can no longer see.
      const { status: ofAll } = await client.get(repo);
      if (ofAll === 404 || ofAll === 410) throw sourceGone(client.host, project);
      // The cursor may have expired: the list restarts, and existing rows stay.
      if (!isFirst)
        return { ...(await page({ ...query, cursor: null, etag: null }, first, read, key)), isBegunAgain: true };
      return { rows: [], next: null, etag: null, isPartial: true };
    }
    const given = key === undefined ? json : objectOf(json)[key];
    const isList = given === null || Array.isArray(given);
    if (!isList) tell(/\/([^/?]+)(?:\?|$)/.exec(first)?.[1] ?? first, `${client.host} answered with what is no list`);
    const listed = listOf(given);
    const rows = listed.flatMap((row) => read(row) ?? []);
    const next = nextPage(headers.link, api) ?? (headers.link === undefined ? followPage(path, listed.length) : null);
    return {
      ...{ rows, next, etag: isFirst && next === null && isList ? (headers.etag ?? null) : null },
      ...(!isList && { isPartial: true }),
    };
  }

  async function* pages<Row>(path: string, read: Read<Row>, key?: string): AsyncGenerator<Row[]> {
    let next: string | null = path;
    for (let count = 0; next !== null && count < maxPages; count += 1) {
      const cursor: string | null = count === 0 ? null : next;
      const found: SourcePage<Row> = await page({ since: null, cursor }, path, read, key);
      yield found.rows;
      next = found.next;
    }
    if (next !== null) tell(path, `only the first ${maxPages} pages were read`);
  }

  return {
    page,
    pages,
    async every<Row>(path: string, read: Read<Row>, key?: string): Promise<Row[]> {
      const rows: Row[] = [];
      for await (const found of pages(path, read, key)) rows.push(...found);
      return rows;
    },
    /**
     * Lists that need more than read access are skipped, with a line in the report; so are those that fail again and
     * again, for instance because they are too long for the other server.
     */
    async withRights<T>(what: string, work: () => Promise<T[]>): Promise<T[]> {
      try {
        return await work();
      } catch (error) {
        if (isDomainError(error) && error.reason === 'source_failed' && client.hasWaited) {
          await client.get(repo);
          tell(what, `did not come: ${error.message}`);
          return [];
        }
        if (!isDomainError(error) || error.reason !== 'source_refused') throw error;
        // A token that has ended may not read the repository either: another one brings what this list has.
        if (client.hasToken && isRejected(error)) await client.get(repo);
        tell(what, 'the token may not read them there');
        return [];
      }
    },
  };
}

/** Without `Link`, a full page may have a successor. */
function followPage(path: string, count: number): string | null {
  const url = new URL(path, 'http://source');
  const page = Number(url.searchParams.get('page') ?? 0);
  const limit = Number(url.searchParams.get('limit') ?? 0);
  if (page === 0 || limit === 0 || count < limit) return null;
  url.searchParams.set('page', String(page + 1));
  return `${url.pathname}${url.search}`;
}
