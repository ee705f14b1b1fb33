import { sourceGone } from '../../client/source-client.ts';
import type { SourceClient } from '../../client/source-client.ts';
import { isDomainError } from '../../../kernel/index.ts';
import { nextPage } from '../next-page.ts';
import { listOf, objectOf, textOf } from '../read-json.ts';
import type { Json } from '../read-json.ts';
import type { Source, SourcePage, SourceQuery, TellProblem } from '../source.ts';
import {
  readBranchRule,
  readComment,
  readHook,
  readIssue,
  readLabel,
  readMilestone,
  readPull,
  readReaction,
  readRepository,
  readReview,
  readReviewComment,
  readTagRule,
} from './gitea-shapes.ts';

/** As many as Gitea gives at most, unless an administrator allows more. */
const limit = 50;
/** Pages of a list that belongs to one pull request. */
const maxPages = 100;

/** A repository of Gitea or Forgejo, by its API at `…/api/v1`. */
export function createGiteaSource(client: SourceClient, api: string, project: string, tell: TellProblem): Source {
  const [owner = '', name = ''] = project.split('/').map(encodeURIComponent);
  const repo = `/repos/${owner}/${name}`;

  async function page<Row>(path: string, read: (row: Json) => Row | null): Promise<SourcePage<Row>> {
    const { status, json, headers } = await client.get(path);
    if (status === 404) {
      // A repository without issues, or without pull requests, answers so, and one that the token may see no more.
      if ((await client.get(repo)).status === 404) throw sourceGone(client.host, project);
      return { rows: [], next: null };
    }
    const listed = listOf(json);
    const rows = listed.flatMap((row) => read(row) ?? []);
    const next = nextPage(headers.link, api) ?? (headers.link === undefined ? follow(path, listed.length) : null);
    return { rows, next };
  }

  async function* pages<Row>(path: string, read: (row: Json) => Row | null): AsyncGenerator<Row[]> {
    let next: string | null = path;
    for (let count = 0; next !== null && count < maxPages; count += 1) {
      const found: SourcePage<Row> = await page(next, read);
      yield found.rows;
      next = found.next;
    }
    if (next !== null) tell(path, `only the first ${maxPages} pages were read`);
  }

  async function all<Row>(path: string, read: (row: Json) => Row | null): Promise<Row[]> {
    const rows: Row[] = [];
    for await (const found of pages(path, read)) rows.push(...found);
    return rows;
  }

  /** What needs more rights than reading is left out, with a line in the report. */
  async function withRights<T>(what: string, work: () => Promise<T[]>): Promise<T[]> {
    try {
      return await work();
    } catch (error) {
      if (!isDomainError(error) || error.reason !== 'source_refused') throw error;
      tell(what, 'the token may not read them there');
      return [];
    }
  }

  const since = (query: SourceQuery): string =>
    query.since === null ? '' : `&since=${new Date(query.since).toISOString().replace(/\.\d{3}Z$/, 'Z')}`;

  return {
    host: client.host,
    pullRefs: ['refs/pull/*/head'],
    username: 'oauth2',
    async describe() {
      const { status, json: shown } = await client.get(repo);
      if (status === 404 || status === 410) throw sourceGone(client.host, project);
      const described = readRepository(shown);
      if (described.topics.length > 0) return described;
      const { json } = await client.get(`${repo}/topics?limit=${limit}`);
      const { topics } = objectOf(json);
      return { ...described, topics: Array.isArray(topics) ? topics.map(textOf).filter(Boolean) : [] };
    },
    labels: () => pages(`${repo}/labels?limit=${limit}&page=1`, readLabel),
    milestones: () => pages(`${repo}/milestones?state=all&limit=${limit}&page=1`, readMilestone),
    issues: (query) => page(query.cursor ?? `${repo}/issues?state=all&limit=${limit}&page=1${since(query)}`, readIssue),
    async issue(number) {
      const { status, json } = await client.get(`${repo}/issues/${number}`);
      return status === 404 ? null : readIssue(objectOf(json));
    },
    pulls: (query) => page(query.cursor ?? `${repo}/pulls?state=all&sort=oldest&limit=${limit}&page=1`, readPull),
    async pull(number) {
      const { status, json } = await client.get(`${repo}/pulls/${number}`);
      return status === 404 ? null : readPull(objectOf(json));
    },
    comments: (query) =>
      page(query.cursor ?? `${repo}/issues/comments?limit=${limit}&page=1${since(query)}`, readComment),
    async reviews(number) {
      const raw = await all(`${repo}/pulls/${number}/reviews?limit=${limit}&page=1`, (row) => row);
      const comments = [];
      for (const row of raw) {
        const review = readReview(row);
        if (review === null || row['comments_count'] === 0) continue;
        const { json } = await client.get(`${repo}/pulls/${number}/reviews/${review.id}/comments`);
        comments.push(...listOf(json).flatMap((one) => readReviewComment(one) ?? []));
      }
      return { reviews: raw.flatMap((row) => readReview(row) ?? []), comments };
    },
    async reactions(number, commentId) {
      const of = commentId === null ? `${repo}/issues/${number}` : `${repo}/issues/comments/${commentId}`;
      const { json } = await client.get(`${of}/reactions`);
      return listOf(json).map(readReaction);
    },
    async rules() {
      return [
        ...(await withRights('rules of branches', () => all(`${repo}/branch_protections`, readBranchRule))),
        ...(await withRights('rules of tags', () => all(`${repo}/tag_protections`, readTagRule))),
      ];
    },
    hooks: () => withRights('webhooks', () => all(`${repo}/hooks?limit=${limit}&page=1`, readHook)),
    async toDo() {
      const [secrets, people, keys] = [
        await withRights('secrets', () => all(`${repo}/actions/secrets?limit=${limit}&page=1`, (row) => row)),
        await withRights('collaborators', () => all(`${repo}/collaborators?limit=${limit}&page=1`, (row) => row)),
        await withRights('deploy keys', () => all(`${repo}/keys?limit=${limit}&page=1`, (row) => row)),
      ];
      return [
        ...secrets.map((row) => `Set the secret ${textOf(row['name'])}: its value stays there.`),
        ...people.map((row) => `Give ${textOf(row['login'])} access, if it is the same person here.`),
        ...keys.map((row) => `Add the deploy key ${textOf(row['title'])} again, if it is still needed.`),
      ];
    },
    async counts() {
      const count = async (path: string): Promise<number | null> => {
        const { headers } = await client.get(path);
        return readCount(headers['x-total-count']);
      };
      return {
        issues: await count(`${repo}/issues?state=all&type=issues&limit=1`),
        pulls: await count(`${repo}/issues?state=all&type=pulls&limit=1`),
        releases: await count(`${repo}/releases?limit=1`),
        labels: await count(`${repo}/labels?limit=1`),
        milestones: await count(`${repo}/milestones?state=all&limit=1`),
      };
    },
    async archive() {
      const { status } = await client.change('PATCH', repo, { archived: true });
      return status === 200;
    },
  };
}

const readCount = (value: string | string[] | undefined): number | null =>
  /^\d{1,12}$/.test(String(value ?? '')) ? Number(value) : null;

/** Without `Link`, a full page may have one behind it. */
function follow(path: string, count: number): string | null {
  const url = new URL(path, 'http://source');
  const page = Number(url.searchParams.get('page') ?? 0);
  if (page === 0 || count < Number(url.searchParams.get('limit') ?? limit)) return null;
  url.searchParams.set('page', String(page + 1));
  return `${url.pathname}${url.search}`;
}
