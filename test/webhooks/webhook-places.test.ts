// Webhooks of users, organisations and the server: of all that is theirs, and of nothing else.
import t from 'tap';
import { openWorld } from '../http-api/gitea-world.ts';
import { startReceiver } from './receiver.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(300_000);

t.test('each place receives the events of what it owns, whatever changes hands', async (t) => {
  const target = await startReceiver(t);
  const { web, alice, bob, carol } = await openWorld(t, { SERVICE_WEBHOOKS_ALLOWED_HOSTS: target.host });
  const { db, webhooks } = web.modules;
  await bob('POST', '/orgs', { username: 'guild' });
  await bob('POST', '/orgs/guild/repos', { name: 'hall' });
  await carol('POST', '/user/repos', { name: 'vault' });
  const hookOf = (name: string) => ({
    type: 'gitea',
    config: { url: `${target.url}?${name}`, content_type: 'json' },
    events: ['issues', 'status'],
  });
  const places = [
    [alice, '/user/hooks', 'alice'],
    [carol, '/user/hooks', 'carol'],
    [bob, '/orgs/guild/hooks', 'guild'],
    [alice, '/admin/hooks', 'server'],
    [alice, '/repos/alice/site/hooks', 'site'],
  ] as const;
  const ids = new Map<string, string>();
  for (const [call, at, name] of places) {
    const made = await call('POST', at, hookOf(name));
    t.equal(made.status, 201, at);
    ids.set(at + name, `${at}/${made.json.id}`);
  }
  let number = 0;
  /** Opens an issue there, and names the places that received it. */
  const heard = async (call: typeof alice, repository: string): Promise<string> => {
    number += 1;
    const opened = await call('POST', `/repos/${repository}/issues`, { title: `number ${number}` });
    t.equal(opened.status, 201, repository);
    await waitUntil(async () => {
      const [row]: { n: number }[] = await db.read.query(
        'SELECT count(*) AS n FROM issue_entries WHERE announced_at IS NULL AND held_at IS NULL',
      );
      return Number(row!.n) === 0;
    }, 'every entry is announced');
    await webhooks.drain();
    const got = target.got.splice(0);
    t.ok(
      got.every(({ body }) => JSON.parse(body.toString()).issue.title === `number ${number}`),
      repository,
    );
    return got
      .map(({ path }) => path.slice(path.indexOf('?') + 1))
      .sort()
      .join(' ');
  };
  t.equal(await heard(alice, 'alice/site'), 'alice server site');
  t.equal(await heard(alice, 'alice/cellar'), 'alice server');
  t.equal(await heard(bob, 'guild/hall'), 'guild server');
  t.equal(await heard(carol, 'carol/vault'), 'carol server');
  t.equal((await bob('POST', '/repos/guild/hall/transfer', { new_owner: 'bob' })).status, 202);
  await bob('POST', '/repos/bob/hall/transfer/accept');
  t.equal(await heard(bob, 'bob/hall'), 'server', 'an organisation that has it no longer');
  t.equal((await alice('PATCH', ids.get('/user/hooksalice')!, { active: false })).status, 200);
  t.equal((await alice('DELETE', ids.get('/admin/hooksserver')!)).status, 204);
  t.equal(await heard(alice, 'alice/site'), 'site');
  t.equal(await heard(carol, 'carol/vault'), 'carol');
});

t.test('nobody sees or changes the webhooks of another place', async (t) => {
  const { alice, bob, carol, anonymous, tokenOf } = await openWorld(t);
  await bob('POST', '/orgs', { username: 'guild' });
  const body = { type: 'gitea', config: { url: 'https://ci.example.org/hook' } };
  const ids: Record<string, number> = {};
  for (const [call, at] of [
    [alice, '/user/hooks'],
    [alice, '/admin/hooks'],
    [bob, '/user/hooks'],
    [bob, '/orgs/guild/hooks'],
    [alice, '/repos/alice/site/hooks'],
  ] as const) {
    const made = await call('POST', at, body);
    t.match(made, { status: 201, json: { active: true, events: ['push'] } }, at);
    ids[call === alice ? `alice ${at}` : `bob ${at}`] = made.json.id;
  }
  const all = Object.values(ids);
  for (const [call, at, own] of [
    [alice, '/user/hooks', ids['alice /user/hooks']],
    [bob, '/user/hooks', ids['bob /user/hooks']],
    [alice, '/admin/hooks', ids['alice /admin/hooks']],
    [bob, '/orgs/guild/hooks', ids['bob /orgs/guild/hooks']],
    [alice, '/repos/alice/site/hooks', ids['alice /repos/alice/site/hooks']],
  ] as const) {
    t.strictSame(
      (await call('GET', at)).json.map(({ id }: { id: number }) => id),
      [own],
      at,
    );
    for (const id of all) {
      const expected = id === own ? [200, 200] : [404, 404];
      const answers = [await call('GET', `${at}/${id}`), await call('PATCH', `${at}/${id}`, { active: true })];
      t.strictSame(
        answers.map(({ status }) => status),
        expected,
        `${at} ${id}`,
      );
      if (id !== own) t.equal((await call('DELETE', `${at}/${id}`)).status, 404);
    }
  }
  for (const [call, at, status] of [
    [carol, '/admin/hooks', 403],
    [carol, '/orgs/guild/hooks', 404],
    [anonymous, '/user/hooks', 401],
    [anonymous, '/admin/hooks', 401],
    [await tokenOf('alice', 'write'), '/user/hooks', 403],
    [await tokenOf('alice', 'write'), '/admin/hooks', 403],
  ] as const)
    for (const method of ['GET', 'POST'] as const)
      t.equal((await call(method, at, method === 'POST' ? body : undefined)).status, status, `${method} ${at}`);
  for (let more = 1; more < 20; more += 1) await alice('POST', '/admin/hooks', body);
  t.equal((await alice('POST', '/admin/hooks', body)).status, 409, 'twenty of each place');
  t.equal((await alice('POST', '/user/hooks', body)).status, 201);
});
