// time limit: 120 s
// Heads of pull requests whose branches move at the followed forge: their rounds, merges and states come from there.
import { execFileSync } from 'node:child_process';
import t from 'tap';
import type { PersonViewer } from '../../src/access/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { freePort } from '../fixtures/free-port.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import { waitUntil } from '../fixtures/wait-until.ts';
import { startGiteaStub } from './gitea-stub.ts';

/** What an API answers. */
type Json = ReturnType<typeof JSON.parse>;

t.setTimeout(110_000);

const port = await freePort();
const clock = fixedClock(Date.UTC(2026, 0, 1));
const here = await startHearth(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: `127.0.0.1:${port}` }, clock });
const { imports, repositories, db } = here.modules;
const alice = await here.addPerson('alice');
const viewer: PersonViewer = {
  ...{ kind: 'person', id: alice.id, username: 'alice', isAdministrator: true },
  ...{ via: 'session', scope: 'admin', repositoryIds: null },
};
const forge = await startGiteaStub(t, { port });
const none = '0'.repeat(40);

/** Commits of a pull request by the step that created them. */
type Commits = Record<string, string>;
interface Order {
  title: string;
  /** What happens there between two runs. */
  there(number: number, commits: Commits): void;
  /** Names of the heads of its rounds, in order. */
  heads: readonly string[];
  state: 'OPEN' | 'CLOSED' | 'MERGED';
}

/** Changes that the API there shows after git has shown the branches. */
const answered: (() => void)[] = [];
const closed = new Set<number>();
const at = '2024-03-01T00:00:00Z';
const setBranch = (number: number, oid: string): void => void forge.setRef(`refs/heads/topic-${number}`, oid);
const pullOf = (number: number): Json => forge.world.pulls.find((each) => each['number'] === number)!;

function push(number: number, commits: Commits, name: string): void {
  commits[name] = forge.commitFile(Object.values(commits).at(-1)!, `one\n${name} ${number}\n`);
  setBranch(number, commits[name]);
  if (!closed.has(number)) forge.setRef(`refs/pull/${number}/head`, commits[name]);
  const oid = commits[name];
  // Gitea shows the tip of the branch, whatever the state.
  answered.push(() => {
    pullOf(number)['head'].sha = oid;
    forge.touch(number, {});
  });
}

function close(number: number, merged: Json = {}): void {
  closed.add(number);
  answered.push(() => {
    Object.assign(pullOf(number), { state: 'closed', closed_at: at, ...merged });
    forge.touch(number, { state: 'closed', closed_at: at, pull_request: { merged: merged['merged'] === true } });
  });
}

const headOf = (number: number): string => forge.refs().get(`refs/pull/${number}/head`)!;

function mergeAs(number: number, oid: string): void {
  forge.setRef(`refs/heads/base-${number}`, oid);
  close(number, { merged: true, merged_at: at, merge_commit_sha: oid });
}
const merge = (number: number): void => mergeAs(number, headOf(number));
const squash = (number: number): void => mergeAs(number, forge.commitFile(forge.tip(), `one\nsquash ${number}\n`));

const orders: readonly Order[] = [
  { title: 'pushed', there: (n, c) => push(n, c, 'later'), heads: ['first', 'later'], state: 'OPEN' },
  { title: 'merged', there: (n) => merge(n), heads: ['first'], state: 'MERGED' },
  {
    title: 'pushed, then merged',
    there: (n, c) => (push(n, c, 'later'), merge(n)),
    heads: ['first', 'later'],
    state: 'MERGED',
  },
  {
    title: 'merged, then pushed',
    there: (n, c) => (merge(n), push(n, c, 'later')),
    heads: ['first'],
    state: 'MERGED',
  },
  {
    title: 'pushed, merged, then pushed',
    there: (n, c) => (push(n, c, 'second'), merge(n), push(n, c, 'later')),
    heads: ['first', 'second'],
    state: 'MERGED',
  },
  {
    title: 'squashed, then pushed',
    there: (n, c) => (squash(n), push(n, c, 'later')),
    heads: ['first'],
    state: 'MERGED',
  },
  {
    title: 'pushed, squashed, then pushed twice',
    there: (n, c) => (push(n, c, 'second'), squash(n), push(n, c, 'third'), push(n, c, 'fourth')),
    heads: ['first', 'second'],
    state: 'MERGED',
  },
  {
    title: 'closed, then pushed',
    there: (n, c) => (close(n), push(n, c, 'later')),
    heads: ['first'],
    state: 'CLOSED',
  },
  {
    title: 'merged, then its branch deleted',
    there: (n) => (merge(n), forge.setRef(`refs/heads/topic-${n}`, none)),
    heads: ['first'],
    state: 'MERGED',
  },
  {
    title: 'merged, then both branches deleted',
    there: (n) => {
      merge(n);
      for (const name of ['topic', 'base']) forge.setRef(`refs/heads/${name}-${n}`, none);
    },
    heads: ['first'],
    state: 'MERGED',
  },
  {
    title: 'closed, then its commits brought to the base',
    there: (n) => (close(n), forge.setRef(`refs/heads/base-${n}`, headOf(n))),
    heads: ['first'],
    state: 'CLOSED',
  },
];

async function api(method: string, path: string, body?: Json): Promise<Json> {
  const response = await fetch(`${here.url}/api/v1/repos/alice/tool/${path}`, {
    method,
    headers: { Authorization: `token ${alice.token}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

async function headsOf(number: number): Promise<string[]> {
  const rows: { head: string }[] = await db.read.query(
    `SELECT r.head_oid AS head FROM pull_rounds r JOIN issues i ON i.id = r.issue_id
     WHERE i.repository_id = ? AND i.number = ? ORDER BY r.round`,
    [id, number],
  );
  return rows.map(({ head }) => head);
}
let id = '';

t.test('rounds, merges and states follow the forge, whatever order its branches moved in', async (t) => {
  const pulls = orders.map((order) => {
    const commits: Commits = { first: forge.commitFile(forge.tip(), `one\n${order.title}\n`) };
    const number = forge.addPull(commits['first']!);
    forge.setRef(`refs/heads/base-${number}`, forge.tip());
    pullOf(number)['base'] = { label: `base-${number}`, ref: `base-${number}`, sha: forge.tip(), repo_id: 1 };
    return { ...order, number, commits };
  });
  const shared = forge.commitFile(forge.tip(), 'one\nshared\n');
  forge.setRef('refs/heads/shared', shared);
  const address = `${forge.url}/bob/tool`;
  ({ id } = await imports.start(viewer, { address, token: forge.world.token, name: 'tool', visibility: 'PUBLIC' }));
  await imports.runDue();
  const own = await api('POST', 'pulls', { title: 'Made here', head: 'shared', base: 'main' });

  for (const { there, number, commits } of pulls) there(number, commits);
  forge.setRef('refs/heads/shared', forge.commitFile(shared, 'one\nshared later\n'));
  const next = async (wish = {}): Promise<void> => {
    await imports.again(viewer, id, wish);
    await imports.runDue();
  };
  await next();
  await waitUntil(async () => {
    const [{ left }] = await db.read.query('SELECT COUNT(*) AS left FROM pushes WHERE announced_at IS NULL');
    return Number(left) === 0;
  });
  for (const { title, number, commits } of pulls) {
    t.strictSame(await headsOf(number), [commits['first']], `${title}: before the forge tells it`);
    t.match(await api('GET', `pulls/${number}`), { state: 'open', merged: false, head: { sha: commits['first'] } });
    t.equal((await headsOf(number)).length, 1, `${title}: a reader adds none`);
  }
  for (const change of answered) change();
  await next();
  const located = (await repositories.locate([id])).get(id)!;
  const refs = execFileSync('git', ['-C', located.path, 'show-ref'], { encoding: 'utf8' });
  for (const { title, number, commits, heads, state } of pulls) {
    const names = new Map(Object.entries(commits).map(([name, oid]) => [oid, name]));
    t.strictSame(
      (await headsOf(number)).map((head) => names.get(head)),
      heads,
      title,
    );
    t.match(refs, `${commits[heads.at(-1)!]} refs/pull/${number}/head`, `${title}: its ref`);
    const [issue] = await db.read.query('SELECT state FROM issues WHERE repository_id = ? AND number = ?', [
      id,
      number,
    ]);
    t.equal(issue.state, state, title);
  }
  t.equal((await headsOf(own.number)).length, 2, 'a pull request made here follows its branch');
  await next({ isFull: true });
  t.match(await imports.find(id), { progress: { written: 0 } });
});

t.test('after the forge has told its head, a push here adds a round', async (t) => {
  // Its number is the one of the pull request made here.
  forge.addIssue({ title: 'Taken' });
  const tip = forge.commitFile(forge.tip(), 'one\npushed here\n');
  const number = forge.addPull(tip);
  await imports.again(viewer, id, {});
  await imports.runDue();
  const later = forge.commitFile(tip, 'one\npushed here, later\n');
  setBranch(number, later);
  forge.setRef(`refs/pull/${number}/head`, later);
  pullOf(number)['head'].sha = later;
  forge.touch(number, {});
  await imports.again(viewer, id, {});
  await imports.runDue();
  t.strictSame(await headsOf(number), [tip, later]);
  await api('POST', 'contents/here.txt', { content: 'aGVyZQo=', message: 'Add a file', branch: `topic-${number}` });
  t.equal((await api('GET', `pulls/${number}`)).head.sha, (await headsOf(number))[2]);
});

t.test('once the import has ended, the branches count again', async (t) => {
  const add = (name: string): { number: number; commits: Commits } => {
    const commits: Commits = { first: forge.commitFile(forge.tip(), `one\n${name}\n`) };
    return { number: forge.addPull(commits['first']!), commits };
  };
  const [open, shut] = [add('left open'), add('closed, then pushed')];
  const run = async (wish = {}): Promise<void> => {
    await imports.again(viewer, id, wish);
    await imports.runDue();
  };
  await run();
  close(shut.number);
  push(shut.number, shut.commits, 'later');
  for (const change of answered.splice(0)) change();
  push(open.number, open.commits, 'later');
  await run();
  t.strictSame(await headsOf(open.number), [open.commits['first']], 'the forge has not told it yet');
  t.strictSame(await headsOf(shut.number), [shut.commits['first']]);
  await imports.end(viewer, id);
  await api('PATCH', `pulls/${shut.number}`, { state: 'open' });
  for (const { number, commits } of [open, shut]) {
    t.equal((await api('GET', `pulls/${number}`)).head.sha, commits['later']);
    t.strictSame(await headsOf(number), [commits['first'], commits['later']]);
  }
});
