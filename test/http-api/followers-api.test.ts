// Who follows something here from other servers, and the notes that they get, by the API.
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { startFakePeer } from '../federation/fake-peer.ts';
import type { FakeActor } from '../federation/fake-peer.ts';
import { startPeer } from '../federation/two-instances.ts';
import { sendRequest } from '../fixtures/web-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const home = await startPeer(t, {
  host: '127.0.0.1',
  allow: ['127.0.0.9'],
  env: { SERVICE_FEDERATION_OPEN_FOLLOWERS: 'true' },
});
const peer = await startFakePeer(t, { host: '127.0.0.10' });
const { accounts, organisations, repositories, federation, db } = home.modules;
const [alice, bob] = [await home.addPerson('alice'), await home.addPerson('bob')];
await organisations.create(localAdministrator, { name: 'acme', owner: 'alice' });
await organisations.create(localAdministrator, { name: 'guild', owner: 'bob' });
const create = (owner: string, name: string, visibility: 'PUBLIC' | 'PRIVATE' = 'PUBLIC') =>
  repositories.create(localAdministrator, { owner, name, visibility });
const tool = await create('alice', 'tool');
await create('alice', 'secret', 'PRIVATE');
const other = await create('bob', 'other');

const tokenOf = async (id: string, access: 'read' | 'write' | 'admin', repositoryIds: string[] | null = null) =>
  (
    await accounts.addToken(id, {
      name: `${access} ${repositoryIds?.length ?? 'all'}`,
      access,
      repositoryIds,
      expiresAt: null,
    })
  ).secret;
const caller = (secret: string | null) => async (method: string, path: string, body?: object) => {
  const headers = {
    ...(secret === null ? {} : { Authorization: `Bearer ${secret}` }),
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
  };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const web = { port: Number(new URL(home.origin).port) };
  const got = await sendRequest(web, `/api/v1${path}`, { method, headers, ...sent });
  return { ...got, json: got.body === '' ? null : JSON.parse(got.body) };
};
const asAlice = caller(await tokenOf(alice.id, 'admin'));
const asBob = caller(await tokenOf(bob.id, 'admin'));

/** What alice decides about, beside the same of bob; `actor` is what is followed. */
const places = [
  { at: '/repos/alice/tool', actor: 'repos/alice/tool', foreign: '/repos/bob/other', theirs: 'repos/bob/other' },
  { at: '/orgs/acme', actor: 'orgs/acme', foreign: '/orgs/guild', theirs: 'orgs/guild' },
  { at: '/user', actor: 'users/alice', foreign: '/user', theirs: 'users/bob' },
] as const;

const [carol, dave, erin] = ['carol', 'dave', 'erin'].map((name) => peer.addActor(`/users/${name}`)) as [
  FakeActor,
  FakeActor,
  FakeActor,
];

async function follow(actor: FakeActor, subject: string): Promise<void> {
  const object = `${home.origin}/ap/${subject}`;
  const sent = { id: peer.newId(), type: 'Follow', actor: actor.id, object };
  t.equal((await peer.deliver(actor, `${object}/inbox`, sent)).status, 202);
}
const answersTo = (actor: FakeActor) =>
  peer
    .activities()
    .filter((each) => (each['object'] as { actor?: string }).actor === actor.id)
    .map(({ type }) => type);

for (const { at, actor, foreign, theirs } of places) {
  t.test(`followers of ${actor}: listed, approved, removed`, async (t) => {
    peer.received.length = 0;
    await follow(carol, actor);
    await follow(erin, theirs);
    const list = () => asAlice('GET', `${at}/federation/followers`);
    await waitUntil(async () => (await list()).json.length === 1, 'the follow is recorded');
    t.match(await list(), {
      status: 200,
      headers: { 'x-total-count': '1' },
      json: [{ actor: carol.id, handle: /^@?carol@/, host: /^127\.0\.0\.10/, createdAt: /^20.*Z$/ }],
    });
    t.same((await asAlice('GET', `${at}/federation/followers?page=2&limit=1`)).json, []);

    t.same((await asAlice('GET', `${at}/federation`)).json, { approvesFollowers: false });
    t.match(await asAlice('PUT', `${at}/federation`, { approvesFollowers: true }), { status: 200 });
    t.same((await asAlice('GET', `${at}/federation`)).json, { approvesFollowers: true });
    t.same((await asBob('GET', `${foreign}/federation`)).json, { approvesFollowers: false }, 'that of bob stays');
    await follow(dave, actor);
    const requests = () => asAlice('GET', `${at}/federation/requests`);
    await waitUntil(async () => (await requests()).json.length === 1, 'the request waits');
    t.match((await requests()).json, [{ actor: dave.id }]);
    t.match((await list()).json, [{ actor: carol.id }]);

    const accept = { actor: dave.id };
    t.match(await asBob('POST', `${foreign}/federation/requests/accept`, accept), { status: 404 }, 'of another one');
    t.match(await asAlice('POST', `${at}/federation/requests/accept`, { actor: erin.id }), { status: 404 });
    t.equal((await asAlice('POST', `${at}/federation/requests/accept`, accept)).status, 204);
    t.same((await requests()).json, []);
    t.equal((await list()).headers['x-total-count'], '2');
    await federation.drain();
    t.same(answersTo(dave), ['Accept']);

    const remove = (actorId: string) => `/federation/followers?actor=${encodeURIComponent(actorId)}`;
    t.match(await asAlice('DELETE', at + remove(erin.id)), { status: 404 }, 'who follows something else');
    t.match(await asBob('DELETE', foreign + remove(carol.id)), { status: 404 });
    t.equal((await asAlice('DELETE', at + remove(carol.id))).status, 204);
    t.match(await asAlice('DELETE', at + remove(carol.id)), { status: 404 }, 'once');
    t.match((await list()).json, [{ actor: dave.id }]);
    await federation.drain();
    t.same(answersTo(carol), ['Accept', 'Reject']);
    t.match((await asBob('GET', `${foreign}/federation/followers`)).json, [{ actor: erin.id }]);
  });
}

t.test('who may not decide learns nothing, and changes nothing', async (t) => {
  const limited = caller(await tokenOf(bob.id, 'admin', [other.id]));
  const reading = caller(await tokenOf(alice.id, 'read'));
  const actor = encodeURIComponent(dave.id);
  const calls: [method: string, path: string, body?: object][] = [
    ['GET', '/federation/followers'],
    ['DELETE', `/federation/followers?actor=${actor}`],
    ['GET', '/federation/requests'],
    ['POST', '/federation/requests/accept', { actor: dave.id }],
    ['GET', '/federation'],
    ['PUT', '/federation', { approvesFollowers: false }],
  ];
  const notes: typeof calls = [
    ['GET', '/federation/notes'],
    ['GET', '/federation/notes/choices'],
    ['PUT', '/federation/notes/choices', { pushes: false, releases: false, issues: false, pulls: false }],
    ['DELETE', `/federation/notes/${tool.id}`],
  ];
  const before = await db.read.query('SELECT * FROM follow_approvals ORDER BY 1');
  for (const at of [
    '/repos/alice/tool',
    '/repos/alice/secret',
    '/repos/alice/absent',
    '/orgs/acme',
    '/user',
  ] as const) {
    const all = at.startsWith('/repos') ? [...calls, ...notes] : calls;
    for (const [method, path, body] of all) {
      const what = `${method} ${at}${path}`;
      t.match(await caller(null)(method, at + path, body), { status: 401 }, `${what}, signed out`);
      if (at !== '/user') {
        const { status } = await asBob(method, at + path, body);
        t.equal(status, 404, `${what}, by bob`);
      }
      if (at !== '/repos/alice/tool') t.match(await limited(method, at + path, body), { status: /40[34]/ }, what);
      if (method !== 'GET' && !at.endsWith('absent'))
        t.match(await reading(method, at + path, body), { status: 403 }, `${what}, by a token that reads`);
    }
  }
  t.same(await db.read.query('SELECT * FROM follow_approvals ORDER BY 1'), before);
});

t.test('bad input: a clear refusal', async (t) => {
  const cases: [method: string, path: string, body: object | undefined, status: number][] = [
    ['DELETE', '/federation/followers', undefined, 422],
    ['DELETE', '/federation/followers?actor=', undefined, 422],
    ['POST', '/federation/requests/accept', {}, 422],
    ['POST', '/federation/requests/accept', { actor: 7 }, 422],
    ['POST', '/federation/requests/accept', { actor: 'nobody' }, 404],
    ['PUT', '/federation', {}, 422],
    ['PUT', '/federation', { approvesFollowers: 'yes' }, 422],
    ['PUT', '/federation', { approvesFollowers: true, approves: true }, 422],
    ['PUT', '/federation/notes/choices', { pushes: true }, 422],
    ['DELETE', '/federation/notes/none', undefined, 404],
  ];
  for (const [method, path, body, status] of cases)
    t.match(await asAlice(method, `/repos/alice/tool${path}`, body), { status }, `${method} ${path}`);
});

t.test('notes of a repository are chosen, listed and deleted', async (t) => {
  const at = '/repos/alice/tool/federation/notes';
  const usual = { pushes: true, releases: true, issues: false, pulls: false };
  t.same((await asAlice('GET', `${at}/choices`)).json, usual);
  const chosen = { ...usual, issues: true };
  t.same((await asAlice('PUT', `${at}/choices`, chosen)).json, chosen);
  t.same((await asBob('GET', '/repos/bob/other/federation/notes/choices')).json, usual);
  t.same((await asAlice('GET', at)).json, []);
  t.equal((await asAlice('POST', '/repos/alice/tool/issues', { title: 'The gate is open' })).status, 201);
  await waitUntil(async () => (await asAlice('GET', at)).json.length > 0, 'the note is written');
  const { json: notes } = await asAlice('GET', at);
  t.match(notes, [{ url: /\/issues\/1$/, content: /The gate is open/ }]);
  const [note] = notes;
  t.ok(note.uri.startsWith(`${home.origin}/ap/repos/alice/tool/notes/`), 'the one of the repository');
  await federation.drain();
  const told = () => peer.activities().filter(({ type }) => type === 'Create' || type === 'Delete');
  const [created] = told();
  t.equal(told().length, 1, 'dave follows the repository and its owner, and gets it once');
  t.match(await asBob('DELETE', `/repos/bob/other/federation/notes/${note.id}`), { status: 404 }, 'of another one');
  t.equal((await asAlice('DELETE', `${at}/${note.id}`)).status, 204);
  t.match(await asAlice('DELETE', `${at}/${note.id}`), { status: 404 });
  t.same((await asAlice('GET', at)).json, []);
  t.same(await db.read.query("SELECT 1 FROM federation_outbox WHERE type = 'Create'"), [], 'nor what the owner sent');
  await federation.drain();
  t.match(told().slice(1), [{ type: 'Delete', object: { id: (created as { object: { id: string } }).object.id } }]);
});
