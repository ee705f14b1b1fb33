// Follows of other servers by the API: what a person sees of their own, and which tokens may change them.
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { keysNumber, startFakePeer } from '../federation/fake-peer.ts';
import { startPeer } from '../federation/two-instances.ts';
import { sendRequest } from '../fixtures/web-fixture.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';

async function openStage(t: Owner) {
  const home = await startPeer(t, { host: '127.0.0.1', allow: ['127.0.0.3'] });
  const peer = await startFakePeer(t);
  const [alice, bob] = [await home.addPerson('alice'), await home.addPerson('bob')];
  const { accounts, federation, repositories } = home.modules;
  const { id: garden } = await repositories.create(localAdministrator, {
    owner: 'alice',
    name: 'garden',
    visibility: 'PUBLIC',
  });
  const actorOf = (name: string) =>
    peer.addActor(
      `/r/bob/${name}`,
      { type: 'Repository', preferredUsername: `bob/${name}`, url: `${peer.origin}/bob/${name}` },
      keysNumber(1),
    );
  const actors = ['one', 'two', 'three'].map(actorOf);
  peer.respond('/u/carol/r', {
    type: 'OrderedCollection',
    totalItems: 1,
    orderedItems: [`${peer.origin}/r/bob/three`],
  });
  const carol = peer.addActor(
    '/u/carol',
    { preferredUsername: 'carol', repositories: `${peer.origin}/u/carol/r` },
    keysNumber(1),
  );
  const token = async (id: string, access: 'read' | 'write', repositoryIds: string[] | null = null) =>
    (
      await accounts.addToken(id, {
        name: `${access} ${repositoryIds ?? 'all'}`,
        access,
        repositoryIds,
        expiresAt: null,
      })
    ).secret;
  const web = { port: Number(new URL(home.origin).port) };
  const caller = (secret: string | null) => async (method: string, path: string, body?: object) => {
    const headers = {
      ...(secret === null ? {} : { Authorization: `Bearer ${secret}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const got = await sendRequest(web, `/api/v1${path}`, { method, headers, ...sent });
    return { ...got, json: got.body === '' ? null : JSON.parse(got.body) };
  };
  return {
    home,
    peer,
    federation,
    actors,
    carol,
    alice,
    anonymous: caller(null),
    asAlice: caller(await token(alice.id, 'write')),
    reading: caller(await token(alice.id, 'read')),
    limited: caller(await token(alice.id, 'write', [garden])),
    asBob: caller(await token(bob.id, 'write')),
  };
}

t.test('a person follows, sees why a follow waits, asks again, and stops, by the API', async (t) => {
  const { home, peer, federation, actors, carol, alice, asAlice } = await openStage(t);
  const [one] = actors;
  t.same((await asAlice('GET', '/user/follows')).json, []);
  const made = await asAlice('POST', '/user/follows', { target: one!.id });
  t.match(made, {
    status: 201,
    headers: { location: new RegExp(`/api/v1/user/follows/${made.json.id}$`) },
    json: {
      kind: 'repository',
      handle: `bob/one@${peer.host}`,
      actor: one!.id,
      url: `${peer.origin}/bob/one`,
      state: 'PENDING',
      acceptedAt: null,
      goneAt: null,
      through: null,
      repositories: null,
    },
  });
  const { id } = made.json;
  const same = await asAlice('POST', '/user/follows', { target: `${peer.origin}/r/bob/one` });
  t.match([same.status, same.json.id], [201, id], 'twice is once');
  await federation.drain();
  t.match((await asAlice('GET', `/user/follows/${id}`)).json.request, {
    why: 'unanswered',
    error: null,
    nextAttemptAt: null,
  });
  const { followId: before } = (await federation.followingOf(alice.id)).repositories[0]!;
  t.match(await asAlice('POST', `/user/follows/${id}/retry`), { status: 200, json: { id, state: 'PENDING' } });
  const { followId } = (await federation.followingOf(alice.id)).repositories[0]!;
  t.not(followId, before, 'a new request');

  const inbox = `${home.origin}/ap/instance/inbox`;
  await peer.deliver(one!, inbox, { id: peer.newId(), type: 'Accept', actor: one!.id, object: followId });
  const { json: accepted } = await asAlice('GET', `/user/follows/${id}`);
  t.match(accepted, { state: 'ACCEPTED', request: null, acceptedAt: /^20/ });
  await home.modules.db.write(({ manager }) => manager.query('UPDATE remote_follows SET gone_at = 5'));
  t.match((await asAlice('GET', `/user/follows/${id}`)).json, { state: 'GONE', goneAt: '1970-01-01T00:00:00Z' });

  const person = (await asAlice('POST', '/user/follows', { target: carol.id })).json;
  t.match(person, { kind: 'person', handle: `carol@${peer.host}`, state: null, repositories: 1, scanError: null });
  const { json: all } = await asAlice('GET', '/user/follows');
  t.equal(all.length, 3);
  t.match(
    all.find(({ handle }: { handle: string }) => handle.startsWith('bob/three')),
    { through: carol.id },
  );
  t.strictSame(
    all.find((each: { id: string }) => each.id === person.id),
    person,
    'a list has the same as the follow',
  );

  t.match(await asAlice('POST', '/user/follows', { target: 'bob/x@other.example' }), { status: 422 });
  t.match(await asAlice('POST', '/user/follows', { target: 'nonsense' }), { status: 422 });
  t.match(await asAlice('POST', '/user/follows', {}), { status: 422 });
  t.equal((await asAlice('DELETE', `/user/follows/${person.id}`)).status, 204);
  t.strictSame(
    (await asAlice('GET', '/user/follows')).json.map((each: { id: string }) => each.id),
    [id],
    'what came with a person goes with them',
  );
  t.equal((await asAlice('DELETE', `/user/follows/${id}`)).status, 204);
  t.match(await asAlice('DELETE', `/user/follows/${id}`), { status: 404, json: { error: { code: 'unknown_follow' } } });
});

t.test('follows have pages, and pushes of them are the newest', async (t) => {
  const { home, peer, actors, asAlice, asBob } = await openStage(t);
  for (const { id } of actors) await asAlice('POST', '/user/follows', { target: id });
  const { json: all } = await asAlice('GET', '/user/follows');
  const seen: unknown[] = [];
  for (let next: string | null = '/user/follows?limit=2'; next !== null; ) {
    const { json, headers }: Awaited<ReturnType<typeof asAlice>> = await asAlice('GET', next);
    t.ok(json.length <= 2);
    seen.push(...json);
    const link: string = /<[^>]*\/api\/v1([^>]+)>; rel="next"/.exec(String(headers['link'] ?? ''))?.[1] ?? '';
    next = link === '' ? null : link;
  }
  t.strictSame(seen, all, 'each once');
  t.equal((await asAlice('GET', '/user/follows?after=x')).status, 422);
  t.equal((await asAlice('GET', '/user/follows?after=-1')).status, 422);

  const [one] = actors;
  const push = (day: number, more: object = {}) =>
    peer.deliver(one!, `${home.origin}/ap/instance/inbox`, {
      id: peer.newId(),
      type: 'Push',
      actor: one!.id,
      published: `2026-01-0${day}T00:00:00Z`,
      target: { ref: 'refs/heads/main' },
      hashBefore: 'a'.repeat(40),
      hashAfter: 'b'.repeat(40),
      object: { totalItems: 1, orderedItems: [{ hash: 'b'.repeat(40), summary: `Day ${day}` }] },
      ...more,
    });
  await push(1);
  await push(2, { forced: true, attributedTo: `${peer.origin}/users/bob` });
  const { json } = await asAlice('GET', '/user/followed-pushes');
  t.strictSame(json[0], {
    handle: `bob/one@${peer.host}`,
    url: `${peer.origin}/bob/one`,
    branch: 'main',
    before: 'a'.repeat(40),
    after: 'b'.repeat(40),
    isForced: true,
    pusher: 'bob',
    commitCount: 1,
    commits: [{ id: 'b'.repeat(40), summary: 'Day 2', url: null }],
    pushedAt: '2026-01-02T00:00:00Z',
  });
  t.equal(json.length, 2);
  t.equal((await asAlice('GET', '/user/followed-pushes?limit=1')).json.length, 1);
  t.same((await asBob('GET', '/user/followed-pushes')).json, [], 'of those whom one follows');
});

t.test('SECURITY: who may see and change follows', async (t) => {
  const stage = await openStage(t);
  const { actors, home, alice } = stage;
  const { accounts, federation } = home.modules;
  const root = await accounts.addPerson({ username: 'root-of-all', isAdministrator: true });
  const { secret } = await accounts.addToken(root.id, {
    name: 'api',
    access: 'admin',
    repositoryIds: null,
    expiresAt: null,
  });
  const asRoot = async (method: string, path: string) =>
    sendRequest({ port: Number(new URL(home.origin).port) }, `/api/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${secret}` },
    });
  const { id } = (await stage.asAlice('POST', '/user/follows', { target: actors[0]!.id })).json;
  const absent = '00000000-0000-4000-8000-000000000000';
  const { followId } = (await federation.followingOf(alice.id)).repositories[0]!;
  const calls: [method: string, path: string, anonymous: number, limited: number, reading: number, other: number][] = [
    ['GET', '/user/follows', 401, 403, 200, 200],
    ['GET', `/user/follows/${id}`, 401, 403, 200, 404],
    ['GET', '/user/followed-pushes', 401, 403, 200, 200],
    ['POST', '/user/follows', 401, 403, 403, 422],
    ['POST', `/user/follows/${id}/retry`, 401, 403, 403, 404],
    ['DELETE', `/user/follows/${id}`, 401, 403, 403, 404],
  ];
  for (const [method, path, anonymous, limited, reading, other] of calls) {
    const body = method === 'POST' && path === '/user/follows' ? { target: 'nonsense' } : undefined;
    const about = `${method} ${path.replace(id, 'ID')}`;
    t.equal((await stage.anonymous(method, path, body)).status, anonymous, `${about}, without a token`);
    t.equal((await stage.limited(method, path, body)).status, limited, `${about}, a token of some repositories`);
    t.equal((await stage.reading(method, path, body)).status, reading, `${about}, a token that reads`);
    const got = await stage.asBob(method, path, body);
    t.equal(got.status, other, `${about}, another person`);
    if (other !== 404) continue;
    t.equal(got.body, (await stage.asBob(method, path.replace(id, absent))).body, 'as an absent one');
    t.equal((await asRoot(method, path)).status, 404, 'an administrator has pages and commands for those of others');
  }
  t.match((await federation.followingOf(alice.id)).repositories, [{ id, followId }], 'nothing has changed');
});

t.test('without federation the list is empty and following is refused with the reason', async (t) => {
  const home = await startPeer(t, { host: '127.0.0.1', allow: [], env: { SERVICE_FEDERATION_ENABLED: 'false' } });
  const alice = await home.addPerson('alice');
  const call = (method: string, body?: object) =>
    sendRequest({ port: Number(new URL(home.origin).port) }, '/api/v1/user/follows', {
      method,
      headers: { Authorization: `Bearer ${alice.token}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  t.match(await call('GET'), { status: 200, body: '[]' });
  t.match(await call('POST', { target: 'bob/one@forge.example' }), { status: 409, body: /"federation_off"/ });
});
