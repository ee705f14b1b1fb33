// Which links and forms a page offers to whom: those that its routes accept. Each is looked for on the page, and the
// route is asked as well.
import t from 'tap';
import { extractMain, signedIn } from '../../fixtures/web-fixture.ts';
import type { Visitor } from '../../fixtures/web-fixture.ts';
import { issueWeb, roofUrl } from '../issues/issues-fixture.ts';
import { pullWork } from '../pulls/pulls-fixture.ts';

t.setTimeout(120_000);

const context = await issueWeb(t, {
  files: {
    'README.md': '# Roof\n',
    '.hearth/workflows/ci.yml': 'on: workflow_dispatch\njobs: {build: {runs-on: linux, steps: [{run: make}]}}\n',
  },
});
const { web, issues, repositories, viewers, at } = context;
const { alice: owner, carol: writer, bob: reader, anonymous } = context;
const administrator = await signedIn(web, 'dora');
await repositories.collaborators.add(viewers.alice, 'alice', 'roof', { username: 'dora', role: 'admin' });
const people = { owner, administrator, writer, reader, anonymous };
type Who = keyof typeof people;
const everyone = Object.keys(people) as Who[];

/** Who is offered what the pattern finds on a page. */
async function offeredTo(page: string, mark: RegExp, who: readonly Who[] = everyone): Promise<Who[]> {
  const found: Who[] = [];
  for (const name of who) {
    const response = await (people[name] as Visitor).get(page);
    if (response.status === 200 && mark.test(response.body)) found.push(name);
  }
  return found;
}

const writers = ['owner', 'administrator', 'writer'];

t.test('settings', async (t) => {
  t.strictSame(await offeredTo(roofUrl, /href="[^"]*\/roof\/settings/), ['owner', 'administrator']);
  const settings = `${roofUrl}/settings/collaborators`;
  for (const part of ['danger', 'mirror']) {
    t.strictSame(await offeredTo(settings, new RegExp(`href="[^"]*/roof/settings/${part}"`)), ['owner'], part);
    t.not((await administrator.get(`${roofUrl}/settings/${part}`)).status, 200, part);
  }
});

t.test('releases', async (t) => {
  t.equal((await owner.post(`${roofUrl}/releases/new`, { tag: 'v1', action: 'publish' })).status, 303);
  const page = `${roofUrl}/releases/tag/v1`;
  for (const mark of [/<a class="button small" href="[^"]*">Edit</, /<a class="button small" href="[^"]*">Delete</])
    t.strictSame(await offeredTo(page, mark), writers, String(mark));
});

t.test('issues', async (t) => {
  await issues.open(viewers.alice, { owner: 'alice', name: 'roof' }, { title: 'It rains in', body: 'x' });
  await issues.comment(viewers.alice, at(1), { body: 'A comment' });
  t.strictSame(await offeredTo(`${roofUrl}/issues`, /href="[^"]*\/issues\/moderation"/), writers);
  t.strictSame(await offeredTo(`${roofUrl}/issues/1`, /class="entry-menu"/), writers);
});

t.test('runs and workflows', async (t) => {
  await owner.post(`${roofUrl}/runs`, { workflow: 'ci.yml', ref: 'main' });
  const run = `${roofUrl}/runs/1`;
  t.strictSame(await offeredTo(run, /action="[^"]*\/runs\/1\/cancel"/), writers);
  t.strictSame(await offeredTo(run, /action="[^"]*\/runs\/1\/delete"/), [], 'while it runs');
  await owner.post(`${run}/cancel`, {});
  t.strictSame(await offeredTo(run, /action="[^"]*\/runs\/1\/cancel"/), [], 'once it has ended');
  t.strictSame(await offeredTo(run, /action="[^"]*\/runs\/1\/delete"/), ['owner', 'administrator']);
  await web.modules.db.write(async ({ manager, now }) => {
    for (const [name, state] of [
      ['site', 'ready'],
      ['old site', 'removed'],
    ])
      await manager.query(
        `INSERT INTO ci_artifacts (run_id, repository_id, attempt, task_id, name, form, file, state, created_at, expires_at)
         SELECT id, repository_id, 1, 1, ?, 'zip', '0/1.zip', ?, ?, ? FROM ci_runs`,
        [name, state, now, now + 86_400_000],
      );
  });
  t.strictSame(await offeredTo(run, /href="[^"]*\/artifacts\/1" download/), everyone);
  t.strictSame(await offeredTo(run, /action="[^"]*\/artifacts\/1\/delete"/), writers);
  t.strictSame(await offeredTo(run, /artifacts\/2["/]/), [], 'one that is gone');
  for (const who of [reader, anonymous]) t.not((await who.post(`${run}/artifacts/1/delete`, {})).status, 303);
  const start = /href="[^"]*\/runs\/new|action="[^"]*\/roof\/runs"/;
  t.strictSame(await offeredTo(`${roofUrl}/runs/workflows`, start), writers);
});

t.test('a merged pull request', async (t) => {
  const { path } = await repositories.find(viewers.alice, 'alice', 'roof');
  const work = await pullWork(t, path);
  await work.commit('tiles', { 'tiles.txt': 'red\n' }, 'Lay tiles');
  const { pulls } = web.modules;
  await pulls.open(viewers.carol, { owner: 'alice', name: 'roof' }, { head: 'tiles', title: 'Lay tiles', body: '' });
  await pulls.merge(viewers.carol, at(2), { style: 'merge', round: 1 });
  const page = `${roofUrl}/pulls/2`;
  for (const form of ['revert', 'branch'])
    t.strictSame(await offeredTo(page, new RegExp(`action="[^"]*/pulls/2/${form}"`)), writers, form);
});

t.test('teams', async (t) => {
  await owner.post('/orgs', { name: 'guild' });
  await owner.post('/orgs/guild/members', { username: 'carol', role: 'MEMBER' });
  t.strictSame(await offeredTo('/orgs/guild/teams', /href="[^"]*\/teams\/new"/), ['owner']);
  t.match(extractMain(await writer.get('/orgs/guild/teams')), /Teams/, 'a member sees the teams');
});

t.test('an archived repository', async (t) => {
  await repositories.setArchived(viewers.alice, 'alice', 'roof', true);
  const start = /href="[^"]*\/runs\/new|action="[^"]*\/roof\/runs"/;
  t.strictSame(await offeredTo(`${roofUrl}/runs/workflows`, start), [], 'starts no workflow');
});
