import { sourceGone } from '../../client/source-errors.ts';
import type { SourceClient } from '../../client/source-client.ts';
import { createPager } from '../read-pages.ts';
import { flagOf, idOf, numberOf, objectOf, picturesOf, textOf } from '../read-json.ts';
import type { Json } from '../read-json.ts';
import { numbersAsTheyAre } from '../source-numbers.ts';
import type { SourceNumbers } from '../source-numbers.ts';
import type { Source, SourceIssue, SourcePage, SourceQuery, TellProblem } from '../source.ts';
import { readDiscussions, settleApprovals } from './gitlab-discussions.ts';
import type { Talk } from './gitlab-discussions.ts';
import {
  isOn,
  readBranchRule,
  readHook,
  readIssue,
  readLabel,
  readMilestone,
  readPerson,
  readPull,
  readReactions,
  readRepository,
  readTagRule,
  readVersion,
} from './gitlab-shapes.ts';
import type { ListedIssue } from './gitlab-shapes.ts';

const hookEvents = {
  push_events: true,
  tag_push_events: true,
  issues_events: true,
  merge_requests_events: true,
  note_events: true,
  releases_events: true,
  wiki_page_events: true,
};
const all = 'per_page=100';
const first = `${all}&page=1`;
/** GitLab refuses pages beyond 50,000 rows: from there the list restarts at the time of the last row. */
const pagesPerList = 400;

/**
 * A project of GitLab, by its REST API at `…/api/v4`. It numbers issues and merge requests separately: `numbers` maps
 * them to the numbers here. Discussions are fetched one by one, since no list of GitLab contains them.
 * @param project the whole path, including groups and subgroups
 */
export function createGitlabSource(
  client: SourceClient,
  { api, project }: { api: string; project: string },
  tell: TellProblem,
  numbers: SourceNumbers = numbersAsTheyAre,
): Source {
  const repo = `/projects/${encodeURIComponent(project)}`;
  const { page, pages, every, withRights } = createPager(client, { api, repo, project, tell });
  let known: Json | null = null;
  let talked: { number: number; talk: Promise<Talk> } | null = null;

  async function describe(): Promise<Json> {
    const { status, json } = await client.get(repo);
    if (status === 404 || status === 410) throw sourceGone(client.host, project);
    known = objectOf(json);
    return known;
  }
  const has = async (part: 'issues' | 'merge_requests'): Promise<boolean> => isOn(known ?? (await describe()), part);

  const lists = { issues: `${repo}/issues`, pulls: `${repo}/merge_requests` };
  const pathOf = (list: string, since: number | null): string =>
    `${list}?scope=all&state=all&order_by=created_at&sort=asc&${first}${
      since === null ? '' : `&updated_after=${new Date(since).toISOString()}`
    }`;

  /** Issues first, then merge requests: the cursor also identifies the list. */
  async function issues(query: SourceQuery): Promise<SourcePage<SourceIssue>> {
    const isPull = query.cursor?.startsWith(lists.pulls) ?? !(await has('issues'));
    if (query.cursor === null && isPull) await numbers.settle();
    const start = pathOf(isPull ? lists.pulls : lists.issues, query.since);
    // Only the first list has an ETag that covers its whole content.
    const found = await page({ ...query, etag: null }, start, (row) => readIssue(row, isPull));
    const rows = await numbered(found.rows, isPull);
    let next = found.next === null ? null : skipAhead(found.next, found.rows);
    if (next === null && !isPull && (await has('merge_requests'))) {
      if (query.since === null) await numbers.settle();
      next = pathOf(lists.pulls, query.since);
    }
    return { rows, next, etag: null };
  }

  async function numbered(rows: readonly ListedIssue[], isPull: boolean): Promise<SourceIssue[]> {
    const kind = isPull ? 'pull' : 'issue';
    const shown = rows.filter(({ iid, isConfidential }) => {
      if (isConfidential) tell(`#${iid}`, 'is confidential there and did not come');
      return !isConfidential;
    });
    const found = await numbers.of(
      kind,
      shown.map(({ iid }) => iid),
    );
    return shown.map(({ iid, issue }) => ({ number: found.get(iid)!, ...issue }));
  }

  async function one(number: number): Promise<{ path: string; isPull: boolean; iid: number }> {
    const { kind, iid } = await numbers.from(number);
    return { path: `${kind === 'pull' ? lists.pulls : lists.issues}/${iid}`, isPull: kind === 'pull', iid };
  }

  /** Its comments and its reviews are requested one after the other, and returned together. */
  function talkOf(number: number): Promise<Talk> {
    if (talked?.number === number) return talked.talk;
    const talk = (async () => {
      const { path } = await one(number);
      const found = readDiscussions(await every(`${path}/discussions?${first}`, (row) => row), number);
      if (found.hidden > 0) tell(`#${number}`, `${found.hidden} internal notes did not come`);
      return found;
    })();
    talked = { number, talk };
    return talk;
  }

  return {
    host: client.host,
    pullRefs: ['refs/merge-requests/*/head'],
    username: 'oauth2',
    async describe() {
      const row = await describe();
      if (textOf(row['visibility']) === 'internal') tell('visibility', 'is internal there and private here');
      const pictures = picturesOf(row['avatar_url']);
      // The page shows that of a private project to browsers alone.
      return { ...readRepository(row), pictures: pictures.flatMap((url) => [`${api}${repo}/avatar`, url]) };
    },
    labels: () => pages(`${repo}/labels?with_counts=false&${first}`, readLabel),
    milestones: () => pages(`${repo}/milestones?include_ancestors=true&${first}`, readMilestone),
    issues,
    async issue(number) {
      const { path, isPull } = await one(number);
      const { status, json } = await client.get(path);
      const listed = status === 404 || status === 410 ? null : readIssue(objectOf(json), isPull);
      return listed === null ? null : ((await numbered([listed], isPull))[0] ?? null);
    },
    // One by one: the list does not contain the base of a merge request.
    pulls: async () => ({ rows: [], next: null }),
    async pull(number) {
      const { path, isPull } = await one(number);
      if (!isPull) return null;
      const { status, json } = await client.get(path);
      const pull = status === 404 || status === 410 ? null : readPull(objectOf(json), number);
      if (pull === null) return null;
      const versions = await every(`${path}/versions?${first}`, readVersion);
      return { ...pull, rounds: versions.sort((one, other) => one.createdAt - other.createdAt) };
    },
    numberOfPull: async (iid) => (await numbers.of('pull', [iid])).get(iid)!,
    comments: async () => ({ rows: [], next: null }),
    commentsOf: async (number) => (await talkOf(number)).comments,
    async reviews(number) {
      const { reviews, notes } = await talkOf(number);
      const { path } = await one(number);
      const [approvals] = await withRights('approvals', async () => [(await client.get(`${path}/approvals`)).json]);
      const last = Math.max(0, ...reviews.map(({ submittedAt }) => submittedAt));
      return {
        reviews: settleApprovals(reviews, approvals == null ? null : objectOf(approvals), last),
        comments: notes,
      };
    },
    async reactions(number, commentId) {
      const { path } = await one(number);
      const of = commentId === null ? path : `${path}/notes/${commentId}`;
      return readReactions(await every(`${of}/award_emoji?${first}`, (row) => row));
    },
    async rules() {
      const branches = await withRights('rules of branches', () =>
        every(`${repo}/protected_branches?${first}`, readBranchRule),
      );
      const tags = await withRights('rules of tags', () => every(`${repo}/protected_tags?${first}`, readTagRule));
      // Editions without them return 404, which means an empty list.
      const approvals = await withRights('approvals', () =>
        every(`${repo}/approval_rules?${first}`, (row) => numberOf(row['approvals_required'])),
      );
      const most = Math.max(0, ...approvals);
      return [...branches.map((rule) => ({ ...rule, approvals: most })), ...tags];
    },
    hooks: () => withRights('webhooks', () => every(`${repo}/hooks?${first}`, readHook)),
    async toDo() {
      const { status } = await client.get(`${repo}/repository/files/.gitlab-ci.yml?ref=HEAD`);
      return [
        ...(status === 200 ? ['Write .gitlab-ci.yml as a workflow in .forgejo/workflows: it does not run here.'] : []),
      ];
    },
    async extras() {
      const variables = await withRights('variables', () => every(`${repo}/variables?${first}`, (row) => row));
      const people = await withRights('members', () => every(`${repo}/members/all?${first}`, (row) => row));
      const keys = await withRights('deploy keys', () => every(`${repo}/deploy_keys?${first}`, (row) => row));
      const packages = await withRights('packages', () => every(`${repo}/packages?${first}`, (row) => row));
      // One that is hidden, for protected branches or a file is a secret there, whatever it is called.
      const isPlain = (row: Json): boolean =>
        !['masked', 'hidden', 'protected'].some((key) => flagOf(row[key])) && row['variable_type'] === 'env_var';
      return {
        variables: variables.filter(isPlain).map((row) => ({ name: textOf(row['key']), value: textOf(row['value']) })),
        secrets: variables.filter((row) => !isPlain(row)).map((row) => textOf(row['key'])),
        collaborators: people.flatMap((row) => {
          const person = readPerson(row);
          const level = numberOf(row['access_level']) ?? 0;
          const role = level >= 40 ? 'admin' : level >= 30 ? 'write' : 'read';
          return person === null ? [] : [{ person, role } as const];
        }),
        deployKeys: keys.map((row) => ({
          title: textOf(row['title']),
          line: textOf(row['key']),
          access: flagOf(row['can_push']) ? 'write' : 'read',
        })),
        packages: packages.map(
          (row) => `${textOf(row['package_type'])} ${textOf(row['name'])} ${textOf(row['version'])}`,
        ),
      };
    },
    async fans() {
      const stars = await withRights('stars', () =>
        every(`${repo}/starrers?${first}`, (row) => readPerson(row['user'])),
      );
      return { stars, watchers: [] };
    },
    async counts() {
      const count = async (path: string): Promise<number | null> => {
        const { headers, json } = await client.get(path);
        const total = String(headers['x-total'] ?? '');
        return /^\d{1,12}$/.test(total) ? Number(total) : json === null ? 0 : null;
      };
      return {
        issues: (await has('issues')) ? await count(`${lists.issues}?scope=all&per_page=1`) : 0,
        pulls: (await has('merge_requests')) ? await count(`${lists.pulls}?scope=all&per_page=1`) : 0,
        releases: await count(`${repo}/releases?per_page=1`),
        labels: await count(`${repo}/labels?per_page=1`),
        milestones: await count(`${repo}/milestones?include_ancestors=true&per_page=1`),
      };
    },
    async addressOf({ id }) {
      const user = objectOf((await client.get(`/users/${encodeURIComponent(id)}`)).json);
      // The public address is verified; the other one is visible only to administrators.
      const isConfirmed = textOf(user['confirmed_at']) !== '';
      return textOf(user['public_email']) || (isConfirmed ? textOf(user['email']) : '');
    },
    async addHook(url) {
      const { json } = await client.change('POST', `${repo}/hooks`, {
        url,
        enable_ssl_verification: true,
        ...hookEvents,
      });
      return idOf(objectOf(json)['id']) || null;
    },
    removeHook: async (id) => void (await client.change('DELETE', `${repo}/hooks/${encodeURIComponent(id)}`, {})),
    async archive() {
      const { status } = await client.change('POST', `${repo}/archive`, {});
      return status === 200 || status === 201;
    },
  };

  function skipAhead(next: string, rows: readonly ListedIssue[]): string {
    const url = new URL(next, 'http://source');
    const last = rows.at(-1);
    if (Number(url.searchParams.get('page')) <= pagesPerList || last === undefined) return next;
    url.searchParams.set('page', '1');
    url.searchParams.set('created_after', new Date(last.issue.createdAt).toISOString());
    return `${url.pathname}${url.search}`;
  }
}
