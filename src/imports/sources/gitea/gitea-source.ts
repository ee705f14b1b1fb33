import { sourceGone } from '../../client/source-errors.ts';
import type { SourceClient } from '../../client/source-client.ts';
import { readDeployKey } from '../read-deploy-key.ts';
import { createPager } from '../read-pages.ts';
import { flagOf, idOf, listOf, objectOf, textOf } from '../read-json.ts';
import type { Json } from '../read-json.ts';
import type { Source, SourceExtras, SourceQuery, TellProblem } from '../source.ts';
import {
  readAnswered,
  readBranchRule,
  readComment,
  readHook,
  readIssue,
  readLabel,
  readMilestone,
  readPerson,
  readListedPull,
  readPull,
  readReaction,
  readRepository,
  readReview,
  readReviewComment,
  readTagRule,
  readTime,
} from './gitea-shapes.ts';

/** Gitea's maximum, unless an administrator allows more. */
const limit = 50;

/** A repository of Gitea or Forgejo, by its API at `…/api/v1`. */
export function createGiteaSource(client: SourceClient, api: string, project: string, tell: TellProblem): Source {
  const [owner = '', name = ''] = project.split('/').map(encodeURIComponent);
  const repo = `/repos/${owner}/${name}`;

  const { page, pages, every, withRights } = createPager(client, { api, repo, project, tell });
  const since = (query: SourceQuery): string =>
    query.since === null ? '' : `&since=${new Date(query.since).toISOString().replace(/\.\d{3}Z$/, 'Z')}`;

  let known: Json | null = null;
  async function row(): Promise<Json> {
    if (known !== null) return known;
    const { status, json } = await client.get(repo);
    if (status === 404 || status === 410) throw sourceGone(client.host, project);
    return (known = objectOf(json));
  }

  return {
    host: client.host,
    pullRefs: ['refs/pull/*/head'],
    username: 'oauth2',
    async describe() {
      known = null;
      const shown = await row();
      const found = readRepository(shown);
      // An enabled wiki without pages is not a repository there: git gets an error.
      const hasWiki = found.hasWiki && (await client.get(`${repo}/wiki/pages?limit=1`)).status !== 404;
      const described = { ...found, hasWiki };
      if (described.topics.length > 0) return described;
      const { json } = await client.get(`${repo}/topics?limit=${limit}`);
      const { topics } = objectOf(json);
      return { ...described, topics: Array.isArray(topics) ? topics.map(textOf).filter(Boolean) : [] };
    },
    async *labels() {
      const own = await every(`${repo}/labels?limit=${limit}&page=1`, readLabel);
      yield own;
      // Issues can also have labels of the organisation, which the repository's list does not contain.
      const names = new Set(own.map((label) => label.name.toLowerCase()));
      const shared = await withRights('labels of the organisation', () =>
        every(`/orgs/${owner}/labels?limit=${limit}&page=1`, readLabel),
      );
      yield shared.filter((label) => !names.has(label.name.toLowerCase()));
    },
    milestones: () => pages(`${repo}/milestones?state=all&limit=${limit}&page=1`, readMilestone),
    issues: (query) => page(query, `${repo}/issues?state=all&limit=${limit}&page=1${since(query)}`, readIssue),
    async issue(number) {
      const { status, json } = await client.get(`${repo}/issues/${number}`);
      return status === 404 ? null : readIssue(objectOf(json));
    },
    pulls: (query) => page(query, `${repo}/pulls?state=all&sort=oldest&limit=${limit}&page=1`, readListedPull),
    async pull(number) {
      const { status, json } = await client.get(`${repo}/pulls/${number}`);
      return status === 404 ? null : readPull(objectOf(json));
    },
    comments: (query) => page(query, `${repo}/issues/comments?limit=${limit}&page=1${since(query)}`, readComment),
    async reviews(number) {
      const raw = await every(`${repo}/pulls/${number}/reviews?limit=${limit}&page=1`, (row) => row);
      const comments = [];
      for (const row of raw) {
        const review = readReview(row);
        if (review === null || row['comments_count'] === 0) continue;
        const { json } = await client.get(`${repo}/pulls/${number}/reviews/${review.id}/comments`);
        comments.push(...listOf(json).flatMap((one) => readReviewComment(one) ?? []));
      }
      return { reviews: raw.flatMap((row) => readReview(row) ?? []), comments, answered: readAnswered(raw) };
    },
    async reactions(number, commentId) {
      const of = commentId === null ? `${repo}/issues/${number}` : `${repo}/issues/comments/${commentId}`;
      const { json } = await client.get(`${of}/reactions`);
      return listOf(json).map(readReaction);
    },
    async rules() {
      return [
        ...(await withRights('rules of branches', () => every(`${repo}/branch_protections`, readBranchRule))),
        ...(await withRights('rules of tags', () => every(`${repo}/tag_protections`, readTagRule))),
      ];
    },
    hooks: () => withRights('webhooks', () => every(`${repo}/hooks?limit=${limit}&page=1`, readHook)),
    toDo: async () => [],
    async extras() {
      const listed = (what: string, path: string): Promise<Json[]> =>
        withRights(what, () => every(`${path}?limit=${limit}&page=1`, (row) => row));
      const secrets = await listed('secrets', `${repo}/actions/secrets`);
      const variables = await listed('variables', `${repo}/actions/variables`);
      const people = await listed('collaborators', `${repo}/collaborators`);
      const keys = await listed('deploy keys', `${repo}/keys`);
      const packages = await listed('packages', `/packages/${owner}`);
      const collaborators: SourceExtras['collaborators'] = [];
      for (const person of people.flatMap((row) => readPerson(row) ?? [])) {
        const at = `${repo}/collaborators/${encodeURIComponent(person.login)}/permission`;
        const [found] = await withRights('collaborators', async () => [objectOf((await client.get(at)).json)]);
        collaborators.push({ person, role: roleOf(textOf(found?.['permission'])) });
      }
      return {
        variables: variables.map((row) => ({ name: textOf(row['name']), value: textOf(row['data']) })),
        secrets: secrets.map((row) => textOf(row['name'])),
        collaborators,
        deployKeys: keys.map(readDeployKey),
        packages: packages.flatMap((row) =>
          textOf(objectOf(row['repository'])['full_name']).toLowerCase() === project.toLowerCase()
            ? `${textOf(row['type'])} ${textOf(row['name'])} ${textOf(row['version'])}`
            : [],
        ),
      };
    },
    async fans() {
      const people = (list: string) =>
        withRights(list, () => every(`${repo}/${list}?limit=${limit}&page=1`, (row) => readPerson(row)));
      return { stars: await people('stargazers'), watchers: await people('subscribers') };
    },
    async times(query) {
      const found = await row();
      const isOn = flagOf(objectOf(found['internal_tracker'])['enable_time_tracker']);
      if (!isOn || found['has_issues'] === false) return { rows: [], next: null, isWhole: false };
      const isWhole = flagOf(objectOf(found['permissions'])['admin']);
      if (!isWhole && query.cursor === null)
        tell('tracked times', 'only those of the owner of the token: those of others need administrator access there');
      const listed = await page(
        { ...query, etag: null },
        `${repo}/times?limit=${limit}&page=1${since(query)}`,
        readTime,
      );
      return { ...listed, isWhole };
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
    async addHook(url) {
      const { json } = await client.change('POST', `${repo}/hooks`, {
        type: 'gitea',
        active: true,
        events: hookEvents,
        branch_filter: '*',
        config: { url, content_type: 'json' },
      });
      return idOf(objectOf(json)['id']) || null;
    },
    removeHook: async (id) => void (await client.change('DELETE', `${repo}/hooks/${encodeURIComponent(id)}`, {})),
    async archive() {
      const { status } = await client.change('PATCH', repo, { archived: true });
      return status === 200;
    },
  };
}

/** Gitea and Forgejo leave out events that they do not have. */
const hookEvents = [
  ...['push', 'create', 'delete', 'issues', 'issue_assign', 'issue_label', 'issue_milestone', 'issue_comment'],
  ...['pull_request', 'pull_request_assign', 'pull_request_label', 'pull_request_milestone', 'pull_request_comment'],
  ...['pull_request_review_approved', 'pull_request_review_rejected', 'pull_request_review_comment'],
  ...['pull_request_sync', 'wiki', 'release'],
];

const roleOf = (permission: string): 'read' | 'write' | 'admin' =>
  permission === 'admin' || permission === 'owner' ? 'admin' : permission === 'write' ? 'write' : 'read';

const readCount = (value: string | string[] | undefined): number | null =>
  /^\d{1,12}$/.test(String(value ?? '')) ? Number(value) : null;
