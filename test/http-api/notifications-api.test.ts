// Notifications and watching over the JSON API, in Gitea's shapes.
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import { viewerOf } from '../pages/issues/issues-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(120_000);

const hearth = await startHearth(t);
const alice = await hearth.addPerson('alice');
const bob = await hearth.addPerson('bob');
const { accounts, issues, notifications, repositories } = hearth.modules;
await repositories.create(localAdministrator, { owner: 'alice', name: 'roof', visibility: 'PUBLIC' });
await repositories.create(localAdministrator, { owner: 'alice', name: 'cellar', visibility: 'PRIVATE' });
const as = (person: typeof alice) => viewerOf(person.id, person.username);

/** What these tests read of responses; `t.match` compares the rest. */
type Answer = { id: number; login: string; length: number; 0: Answer; 1: Answer } & Answer[];

async function call(method: string, address: string, token = alice.token): Promise<{ status: number; json: Answer }> {
  const response = await fetch(`${hearth.url}/api/v1${address}`, {
    method,
    headers: { Authorization: `Bearer ${token}` },
  });
  const text = await response.text();
  return { status: response.status, json: (text === '' ? null : JSON.parse(text)) as Answer };
}

async function unread(person: typeof alice, count: number): Promise<void> {
  const hasCount = async () => (await notifications.countUnread(as(person))) === count;
  await waitUntil(hasCount, `${person.username} has ${count} unread notifications`);
}

t.test('threads are listed, counted, shown and marked', async (t) => {
  await issues.open(as(bob), { owner: 'alice', name: 'roof' }, { title: 'It rains in', body: '@alice' });
  await unread(alice, 1);
  await issues.open(as(bob), { owner: 'alice', name: 'roof' }, { title: 'It is cold' });
  await unread(alice, 2);
  t.same((await call('GET', '/notifications/new')).json, { new: 2 });
  const { json: listed } = await call('GET', '/notifications');
  t.match(listed, [
    { unread: true, reason: 'watching', subject: { title: 'It is cold', type: 'Issue', state: 'open' } },
    {
      unread: true,
      pinned: false,
      reason: 'mention',
      repository: { owner: { login: 'alice' }, name: 'roof' },
      subject: { html_url: `${hearth.url}/repos/alice/roof/issues/1` },
    },
  ]);
  const { id } = listed[1];
  t.match(await call('GET', `/notifications/threads/${id}`), { status: 200, json: { id, unread: true } });
  t.equal((await call('GET', `/notifications/threads/${id}`, bob.token)).status, 404, 'of another person');
  t.equal((await call('PATCH', `/notifications/threads/${id}?to-status=done`, bob.token)).status, 404);
  t.match(await call('PATCH', `/notifications/threads/${id}?to-status=pinned`), {
    json: { pinned: true, unread: true },
  });
  t.match(await call('PATCH', `/notifications/threads/${id}`), { status: 200, json: { unread: false } });
  t.match((await call('GET', '/notifications?status-types=pinned')).json, [{ id }]);
  t.equal((await call('GET', '/notifications?all=true')).json.length, 2);
  t.equal((await call('GET', '/notifications?all=true&limit=1&page=2')).json[0].id, id);
  t.match(await call('PATCH', `/notifications/threads/${id}?to-status=done`), { json: { done: true } });
  t.match((await call('GET', '/notifications?view=done')).json, [{ id }]);
  t.same((await call('GET', '/repos/alice/cellar/notifications')).json, []);
  t.match(await call('PUT', '/repos/alice/roof/notifications'), { status: 200, json: [{ unread: false }] });
  t.same((await call('GET', '/notifications/new')).json, { new: 0 });
  t.equal((await call('GET', '/notifications?since=yesterday')).status, 422);
});

t.test(
  'a token that is limited to a repository shows no other private one, and one that reads changes nothing',
  async (t) => {
    const viewer = as(alice);
    await repositories.collaborators.add(viewer, 'alice', 'cellar', { username: 'bob', role: 'write' });
    await issues.open(as(bob), { owner: 'alice', name: 'cellar' }, { title: 'Damp' });
    await unread(alice, 1);
    const { repository } = await repositories.find(viewer, 'alice', 'roof');
    const limited = await accounts.addToken(alice.id, {
      name: 'limited',
      access: 'write',
      repositoryIds: [repository.id],
      expiresAt: null,
    });
    t.same((await call('GET', '/notifications', limited.secret)).json, []);
    t.same((await call('GET', '/notifications/new', limited.secret)).json, { new: 0 });
    const reading = await accounts.addToken(alice.id, {
      name: 'r',
      access: 'read',
      repositoryIds: null,
      expiresAt: null,
    });
    t.equal((await call('GET', '/notifications', reading.secret)).json.length, 1);
    t.equal((await call('PUT', '/notifications', reading.secret)).status, 403);
    t.equal((await fetch(`${hearth.url}/api/v1/notifications`)).status, 401);
  },
);

t.test('watching is shown, set and taken back', async (t) => {
  const at = '/repos/alice/roof/subscription';
  t.match(await call('GET', at), { status: 200, json: { subscribed: true, ignored: false, level: 'everything' } });
  t.equal((await call('GET', at, bob.token)).status, 404);
  t.match(await call('PUT', at, bob.token), { status: 200, json: { subscribed: true } });
  t.match((await call('GET', '/user/subscriptions', bob.token)).json, [{ name: 'roof' }]);
  t.same((await call('GET', '/repos/alice/roof/subscribers')).json.map(({ login }) => login).sort(), ['alice', 'bob']);
  t.match(await call('PUT', `${at}?level=ignore`, bob.token), { json: { ignored: true } });
  t.same((await call('GET', '/user/subscriptions', bob.token)).json, []);
  t.equal((await call('DELETE', at, bob.token)).status, 204);
  t.equal((await call('GET', at, bob.token)).status, 404);
  t.equal((await call('PUT', '/repos/alice/absent/subscription', bob.token)).status, 404);
});
