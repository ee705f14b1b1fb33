// Runs and jobs across the repositories of a user, an organisation and the server, beside private ones of others.
import t from 'tap';
import { fillRepository } from '../fixtures/web-fixture.ts';
import { openWorld } from './gitea-world.ts';

t.setTimeout(300_000);

const workflow = `on: {workflow_dispatch: {}}
jobs:
  build: {runs-on: linux, steps: [{run: make}]}
  deploy: {needs: build, runs-on: linux, steps: [{run: "true"}]}
`;

t.test('runs and jobs of an owner and of the server: the newest first, and never of what is hidden', async (t) => {
  const { web, alice, bob, carol, tokenOf, anonymous } = await openWorld(t);
  const { accounts, repositories } = web.modules;
  await bob('POST', '/orgs', { username: 'guild' });
  await bob('POST', '/orgs/guild/repos', { name: 'hall' });
  await carol('POST', '/user/repos', { name: 'vault' });
  const viewerOf = async (username: string) => {
    const { id } = await accounts.personByUsername(username);
    const session = { kind: 'person', via: 'session', scope: 'admin', repositoryIds: null } as const;
    return { ...session, id, username, isAdministrator: false };
  };
  for (const [owner, name, times] of [
    ['alice', 'site', 2],
    ['alice', 'cellar', 1],
    ['guild', 'hall', 1],
    ['carol', 'vault', 1],
  ] as const) {
    const viewer = await viewerOf(owner === 'guild' ? 'bob' : owner);
    const { path } = await repositories.find(viewer, owner, name);
    await fillRepository(t, path, { '.hearth/workflows/ci.yml': workflow }, 'work');
    await repositories.edit(viewer, owner, name, { defaultBranch: 'work' });
    const call = { alice, guild: bob, carol }[owner];
    for (let run = 0; run < times; run++)
      t.equal(
        (await call('POST', `/repos/${owner}/${name}/actions/workflows/ci.yml/dispatches`, { ref: 'work' })).status,
        204,
      );
  }
  const seen = async (call: typeof alice, path: string) => {
    const { status, json } = await call('GET', path);
    if (status !== 200) return status;
    const rows: { url: string; id: number }[] = json.workflow_runs ?? json.jobs;
    t.strictSame(
      rows.map(({ id }) => id),
      rows.map(({ id }) => id).sort((a, b) => b - a),
      path,
    );
    return [json.total_count, rows.map(({ url }) => /repos\/([^/]+\/[^/]+)\//.exec(url)![1])];
  };
  const site = 'alice/site';
  for (const [call, path, expected] of [
    [alice, '/user/actions/runs', [3, ['alice/cellar', site, site]]],
    [alice, '/user/actions/runs?limit=1&page=2', [3, [site]]],
    [alice, '/user/actions/runs?page=9', [3, []]],
    [alice, '/user/actions/runs?status=success', [0, []]],
    [alice, '/user/actions/runs?event=workflow_dispatch&branch=work&actor=alice', [3, ['alice/cellar', site, site]]],
    [alice, '/user/actions/runs?branch=main', [0, []]],
    [alice, '/user/actions/runs?actor=nobody', [0, []]],
    [alice, '/user/actions/runs?status=odd', 422],
    [alice, '/user/actions/jobs', [6, ['alice/cellar', 'alice/cellar', site, site, site, site]]],
    [alice, '/user/actions/jobs?status=pending&limit=2', [3, ['alice/cellar', site]]],
    [bob, '/user/actions/runs', [0, []]],
    [bob, '/orgs/guild/actions/runs', [1, ['guild/hall']]],
    [bob, '/orgs/guild/actions/jobs', [2, ['guild/hall', 'guild/hall']]],
    [carol, '/orgs/guild/actions/runs', 404],
    [anonymous, '/orgs/guild/actions/jobs', 401],
    [anonymous, '/user/actions/runs', 401],
    [alice, '/admin/actions/runs', [3, ['alice/cellar', site, site]]],
    [alice, '/admin/actions/jobs?limit=1', [6, ['alice/cellar']]],
    [bob, '/admin/actions/runs', 403],
    [await tokenOf('alice', 'read'), '/user/actions/runs', 403],
  ] as const)
    t.strictSame(await seen(call, path), expected, path);
});
