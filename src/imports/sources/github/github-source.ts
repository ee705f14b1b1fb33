import { sourceGone } from '../../client/source-errors.ts';
import type { SourceClient } from '../../client/source-client.ts';
import { readDeployKey } from '../read-deploy-key.ts';
import { createPager } from '../read-pages.ts';
import { flagOf, idOf, listOf, numberOf, objectOf, textOf } from '../read-json.ts';
import type { Json } from '../read-json.ts';
import type { Source, SourceIssue, SourceRule, TellProblem } from '../source.ts';
import { createGithubGraph } from './github-graph.ts';
import {
  readComment,
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
} from './github-shapes.ts';

const all = 'per_page=100';
const inOrder = `sort=created&direction=asc&${all}`;

/** A repository of GitHub, by its REST API: `https://api.github.com`, or `…/api/v3` of an Enterprise server. */
export function createGithubSource(client: SourceClient, api: string, project: string, tell: TellProblem): Source {
  const [plainOwner = '', plainName = ''] = project.split('/');
  const [owner, name] = [encodeURIComponent(plainOwner), encodeURIComponent(plainName)];
  const repo = `/repos/${owner}/${name}`;
  const { page, pages, every, withRights } = createPager(client, { api, repo, project, tell });
  const since = (at: number | null): string =>
    at === null ? '' : `&since=${new Date(at).toISOString().replace(/\.\d{3}Z$/, 'Z')}`;

  const graph = createGithubGraph(client, { api, owner: plainOwner, name: plainName }, tell);
  const withPins = async (issues: readonly SourceIssue[]): Promise<SourceIssue[]> => {
    const pins = issues.length === 0 ? new Set() : await graph.pinned();
    return issues.map((issue) => (pins.has(issue.number) ? { ...issue, isPinned: true } : issue));
  };

  /** Whether a row is of this repository: an issue that was transferred is answered by a redirect to the other one. */
  async function isOwn(row: Json): Promise<boolean> {
    const of = textOf(row['repository_url']);
    if (of === '') return true;
    home ??= textOf(objectOf((await client.get(repo)).json)['url']);
    return home === '' || home === of;
  }
  let home: string | null = null;

  return {
    host: client.host,
    pullRefs: ['refs/pull/*/head'],
    username: 'x-access-token',
    async describe() {
      const { status, json } = await client.get(repo);
      if (status === 404 || status === 410) throw sourceGone(client.host, project);
      return readRepository(json);
    },
    labels: () => pages(`${repo}/labels?${all}`, readLabel),
    milestones: () => pages(`${repo}/milestones?state=all&${all}`, readMilestone),
    async issues(query) {
      const found = await page(query, `${repo}/issues?state=all&${inOrder}${since(query.since)}`, readIssue);
      return { ...found, rows: await withPins(found.rows) };
    },
    async issue(number) {
      const { status, json } = await client.get(`${repo}/issues/${number}`);
      const row = objectOf(json);
      const isHere = status !== 404 && status !== 410 && (await isOwn(row));
      const found = isHere ? readIssue(row) : null;
      const [only = null] = await withPins(found === null ? [] : [found]);
      return only;
    },
    pulls: (query) => page(query, `${repo}/pulls?state=all&${inOrder}`, readListedPull),
    async pull(number) {
      const { status, json } = await client.get(`${repo}/pulls/${number}`);
      return status === 404 ? null : readPull(objectOf(json));
    },
    comments: (query) => page(query, `${repo}/issues/comments?${inOrder}${since(query.since)}`, readComment),
    async reviews(number) {
      const reviews = await every(`${repo}/pulls/${number}/reviews?${all}`, readReview);
      const raw = reviews.length === 0 ? [] : await every(`${repo}/pulls/${number}/comments?${all}`, (row) => row);
      const resolved = raw.length === 0 ? new Map<string, null>() : await graph.resolved(number);
      const comments = raw.flatMap((row) => {
        const comment = readReviewComment(row);
        const resolvedBy = resolved.get(textOf(row['node_id']));
        return comment === null
          ? []
          : resolvedBy === undefined
            ? comment
            : { ...comment, isResolved: true, resolvedBy };
      });
      return { reviews, comments };
    },
    async reactions(number, commentId) {
      const of = commentId === null ? `${repo}/issues/${number}` : `${repo}/issues/comments/${commentId}`;
      return every(`${of}/reactions?${all}`, readReaction);
    },
    async rules() {
      const names = await withRights('rules of branches', () =>
        every(`${repo}/branches?protected=true&${all}`, (row) => textOf(row['name']) || null),
      );
      const rules: SourceRule[] = [];
      for (const pattern of names) {
        const [found] = await withRights(`rule ${pattern}`, async () => [
          (await client.get(`${repo}/branches/${encodeURIComponent(pattern)}/protection`)).json,
        ]);
        if (found != null) rules.push(readRule(pattern, found));
      }
      return rules;
    },
    hooks: () =>
      withRights('webhooks', () =>
        every(`${repo}/hooks?${all}`, (row) => {
          const config = objectOf(row['config']);
          return {
            id: idOf(row['id']),
            url: textOf(config['url']),
            events: Array.isArray(row['events']) ? row['events'].map(textOf) : [],
            kind: 'gitea',
            contentType: textOf(config['content_type']),
            branchFilter: '',
          };
        }),
      ),
    async toDo() {
      // Tells whether they can be read.
      await graph.pinned();
      return [];
    },
    async extras() {
      const inside = (what: string, path: string, key: string): Promise<Json[]> =>
        withRights(what, () => every(`${repo}/${path}?${all}`, (row) => row, key));
      const secrets = await inside('secrets', 'actions/secrets', 'secrets');
      const variables = await inside('variables', 'actions/variables', 'variables');
      const people = await withRights('collaborators', () =>
        every(`${repo}/collaborators?affiliation=direct&${all}`, (row) => row),
      );
      const keys = await withRights('deploy keys', () => every(`${repo}/keys?${all}`, (row) => row));
      return {
        variables: variables.map((row) => ({ name: textOf(row['name']), value: textOf(row['value']) })),
        secrets: secrets.map((row) => textOf(row['name'])),
        collaborators: people.flatMap((row) => {
          const person = readPerson(row);
          const rights = objectOf(row['permissions']);
          const role = flagOf(rights['admin']) ? 'admin' : flagOf(rights['push']) ? 'write' : 'read';
          return person === null ? [] : [{ person, role } as const];
        }),
        deployKeys: keys.map(readDeployKey),
        // GitHub lists packages by owner, for classic tokens with a right of their own.
        packages: [],
      };
    },
    async fans() {
      const people = (list: string) => withRights(list, () => every(`${repo}/${list}?${all}`, readPerson));
      return { stars: await people('stargazers'), watchers: await people('subscribers') };
    },
    async counts() {
      return {
        issues: await count(client, `${repo}/issues?state=all&per_page=1`),
        pulls: await count(client, `${repo}/pulls?state=all&per_page=1`),
        releases: await count(client, `${repo}/releases?per_page=1`),
        labels: await count(client, `${repo}/labels?per_page=1`),
        milestones: await count(client, `${repo}/milestones?state=all&per_page=1`),
      };
    },
    // An account shows only verified addresses.
    addressOf: async ({ login }) =>
      textOf(objectOf((await client.get(`/users/${encodeURIComponent(login)}`)).json)['email']),
    async addHook(url) {
      const { json } = await client.change('POST', `${repo}/hooks`, {
        name: 'web',
        active: true,
        events: hookEvents,
        config: { url, content_type: 'json', insecure_ssl: '0' },
      });
      return idOf(objectOf(json)['id']) || null;
    },
    removeHook: async (id) => void (await client.change('DELETE', `${repo}/hooks/${encodeURIComponent(id)}`, {})),
    async archive() {
      return (await client.change('PATCH', repo, { archived: true })).status === 200;
    },
  };
}

const hookEvents = [
  ...['push', 'create', 'delete', 'issues', 'issue_comment', 'label', 'milestone', 'gollum', 'release'],
  ...['pull_request', 'pull_request_review', 'pull_request_review_comment'],
];

/** With one item per page, the number of the last page; null if the link has none, as with cursors. */
async function count(client: SourceClient, path: string): Promise<number | null> {
  const { headers, json } = await client.get(path);
  const [, last] = /[?&]page=(\d{1,9})[^>]*>;\s*rel="last"/.exec(String(headers.link ?? '')) ?? [];
  return last === undefined ? (headers.link === undefined ? listOf(json).length : null) : Number(last);
}

function readRule(pattern: string, value: unknown): SourceRule {
  const row = objectOf(value);
  const reviews = objectOf(row['required_pull_request_reviews']);
  const { contexts } = objectOf(row['required_status_checks']);
  const isOn = (key: string): boolean => flagOf(objectOf(row[key])['enabled']);
  const { users, teams } = objectOf(row['restrictions']);
  const named =
    row['restrictions'] == null
      ? null
      : {
          people: listOf(users).flatMap((user) => readPerson(user) ?? []),
          teams: listOf(teams).map(({ name }) => textOf(name)),
        };
  return {
    target: 'branch',
    pattern,
    pushers: named,
    mergers: named,
    forbidsPushes: row['required_pull_request_reviews'] != null || isOn('lock_branch'),
    allowsForce: isOn('allow_force_pushes'),
    approvals: numberOf(reviews['required_approving_review_count']) ?? 0,
    dismissesStale: flagOf(reviews['dismiss_stale_reviews']),
    signed: isOn('required_signatures'),
    checks: Array.isArray(contexts) ? contexts.map(textOf).filter(Boolean) : [],
  };
}
