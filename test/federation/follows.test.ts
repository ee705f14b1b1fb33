import t from 'tap';
import { parseFollowTarget } from '../../src/federation/follows/follow-target.ts';
import { keysNumber, startFakePeer } from './fake-peer.ts';
import type { FakeActor, FakePeer } from './fake-peer.ts';
import { openFederation } from './federation-fixture.ts';
import type { FederationFixture } from './federation-fixture.ts';
import { viewFollowedPerson, viewFollowStatus } from '../../src/pages/follows/follow-status.view.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { insertRow } from '../fixtures/test-database.ts';

t.test('SPEC §4.7 follow targets are parsed as people type them', async (t) => {
  const table: [typed: string, meant: object | null][] = [
    ['bob/tool@forge.example', { kind: 'handle', account: 'bob/tool@forge.example', host: 'forge.example' }],
    ['@bob/tool@forge.example', { account: 'bob/tool@forge.example' }],
    ['bob@forge.example', { account: 'bob@forge.example' }],
    ['  @bob@forge.example ', { account: 'bob@forge.example' }],
    ['acct:bob@forge.example', { account: 'bob@forge.example' }],
    ['ACCT:Bob/Tool@Forge.Example:8443', { account: 'Bob/Tool@forge.example:8443', host: 'forge.example:8443' }],
    ['https://forge.example/repos/bob/tool', { kind: 'url', url: 'https://forge.example/repos/bob/tool' }],
    ['http://forge.example/x', { kind: 'url' }],
    ['', null],
    ['bob', null],
    ['bob/tool', null],
    ['@bob', null],
    ['bob@', null],
    ['@', null],
    ['a/b/c@forge.example', null],
    ['bob@for ge.example', null],
    ['bob@forge.example/x', null],
    ['bob@forge.example?x', null],
    ['bob@a@forge.example', null],
    ['ftp://forge.example/x', null],
    ['javascript:alert(1)', null],
    ['https://', null],
    [`${'x'.repeat(600)}@forge.example`, null],
    ['bob@[', null],
  ];
  for (const [typed, meant] of table) {
    const got = parseFollowTarget(typed);
    if (meant === null) t.equal(got, null, typed.slice(0, 60));
    else t.match(got, meant, typed);
  }
});

interface Stage extends FederationFixture {
  peer: FakePeer;
  alice: { id: string };
  follow(target: string): ReturnType<FederationFixture['federation']['follow']>;
  following(): ReturnType<FederationFixture['federation']['followingOf']>;
  /** Types and objects of the activities that are queued. */
  queued(): Promise<string[]>;
}

async function setStage(t: Owner): Promise<Stage> {
  const stage = await openFederation(t);
  const peer = await startFakePeer(t);
  const alice = await stage.modules.accounts.addPerson({ username: 'alice' });
  peer.respond('/.well-known/webfinger', (request, response) => {
    const resource = new URL(request.path, peer.origin).searchParams.get('resource') ?? '';
    const name = /^acct:([^@]+)@/.exec(resource)?.[1] ?? new URL(resource).pathname.replace(/^\/repos\//, '');
    const href = `${peer.origin}/${name.includes('/') ? 'r' : 'u'}/${name}`;
    if (!known.has(href)) return void response.writeHead(404).end();
    response
      .writeHead(200, { 'Content-Type': 'application/jrd+json' })
      .end(JSON.stringify({ subject: resource, links: [{ rel: 'self', type: 'application/activity+json', href }] }));
  });
  known.clear();
  return {
    ...stage,
    peer,
    alice,
    follow: (target) => stage.federation.follow(alice.id, target),
    following: () => stage.federation.followingOf(alice.id),
    async queued() {
      const rows: { activity: string }[] = await stage.modules.db.read.query(
        'SELECT o.activity FROM federation_delivery d JOIN federation_outbox o ON o.id = d.outbox_id ORDER BY d.id',
      );
      return rows.map(({ activity }) => {
        const { type, object } = JSON.parse(activity) as { type: string; object: string | { object: string } };
        return `${type} ${(typeof object === 'string' ? object : object.object).split('/').at(-1)}`;
      });
    },
  };
}

const known = new Set<string>();

function addRepository(peer: FakePeer, name: string): FakeActor {
  known.add(`${peer.origin}/r/bob/${name}`);
  return peer.addActor(
    `/r/bob/${name}`,
    { type: 'Repository', preferredUsername: `bob/${name}`, name, url: `${peer.origin}/repos/bob/${name}` },
    keysNumber(1),
  );
}

function addPerson(peer: FakePeer, repositories: readonly string[], more: Record<string, unknown> = {}): FakeActor {
  known.add(`${peer.origin}/u/bob`);
  const items = repositories.map((name) => (name.includes('://') ? name : `${peer.origin}/r/bob/${name}`));
  peer.respond('/u/bob/repositories', {
    type: 'OrderedCollection',
    totalItems: repositories.length,
    first: { type: 'OrderedCollectionPage', orderedItems: items, next: `${peer.origin}/u/bob/repositories?page=2` },
    ...more,
  });
  return peer.addActor(
    '/u/bob',
    { preferredUsername: 'bob', repositories: `${peer.origin}/u/bob/repositories`, url: `${peer.origin}/bob` },
    keysNumber(1),
  );
}

t.test('SPEC §3 following a repository by handle, by actor URL, by the address of its page', async (t) => {
  const { peer, follow, following, queued } = await setStage(t);
  for (const name of ['one', 'two', 'three']) addRepository(peer, name);
  peer.respond(
    '/repos/bob/three',
    (_request, response) => void response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>'),
  );
  t.match(await follow(`bob/one@${peer.host}`), { kind: 'repository', handle: `bob/one@${peer.host}` });
  t.match(await follow(`${peer.origin}/r/bob/two`), { handle: `bob/two@${peer.host}` });
  t.match(await follow(`${peer.origin}/repos/bob/three`), { handle: `bob/three@${peer.host}` });
  t.same(await queued(), ['Follow one', 'Follow two', 'Follow three']);
  const { repositories } = await following();
  t.match(
    repositories.map(({ status, url }) => [status.state, url]).sort(),
    ['one', 'three', 'two'].map((name) => ['PENDING', `${peer.origin}/repos/bob/${name}`]),
  );
  await follow(`@bob/one@${peer.host}`);
  t.equal((await queued()).length, 3, 'a second follow does nothing');
});

t.test(
  'SPEC §7 an unresolvable target is reported in these words, with the likely cause and nothing more',
  async (t) => {
    const { peer, follow, federation, modules, alice } = await setStage(t);
    addRepository(peer, 'ok');
    const messageOf = async (target: string) =>
      follow(target).then(
        () => 'it was followed',
        (error: Error) => error.message,
      );
    const cases: [target: string, cause: RegExp][] = [
      ['nonsense', /Write owner\/name@host/],
      ['bob/tool@other.example', /other\.example is not on this server's peer list/],
      ['https://other.example/x', /not on this server's peer list/],
      [`bob/absent@${peer.host}`, /knows no public repository or person of this name/],
      [`${peer.origin}/r/bob/absent`, /knows no public repository or person/],
      ['bob/tool@127.0.0.3:9', /127\.0\.0\.3:9 did not answer/],
      ['ftp://127.0.0.3/x', /Write owner/],
    ];
    peer.addActor('/note', { type: 'Note' });
    // It names a list that is not there, which is not the same as having none.
    peer.addActor('/u/gone', { repositories: `${peer.origin}/u/gone/repositories` });
    peer.respond(
      '/html',
      (_request, response) => void response.writeHead(200, { 'Content-Type': 'text/html' }).end('x'),
    );
    peer.respond('/broken', (_request, response) => void response.writeHead(500).end());
    cases.push(
      [`${peer.origin}/note`, /neither a repository nor a person/],
      [`${peer.origin}/u/gone`, /knows no public repository or person/],
      [`${peer.origin}/html`, /knows no public/],
      [`${peer.origin}/broken`, /knows no public/],
    );
    for (const [target, cause] of cases) {
      const message = await messageOf(target);
      t.match(message, /^Could not resolve handle\. /, target);
      t.match(message, cause, target);
    }
    t.match(await messageOf('alice@127.0.0.1:9'), /This repository is on this server/);
    t.equal(Number((await modules.db.read.query('SELECT count(*) AS n FROM remote_follows'))[0].n), 0);
    const nameless = await modules.accounts.addPerson({});
    await t.rejects(federation.follow(nameless.id, `bob/ok@${peer.host}`), /no such person/);
    await t.rejects(federation.unfollow(alice.id, 'nothing'), /no such follow/);
  },
);

t.test('WebFinger cannot lead to a host that is not allowed', async (t) => {
  const { peer, follow } = await setStage(t);
  const sentinel = await startFakePeer(t, { host: '127.0.0.9' });
  sentinel.addActor('/users/x');
  peer.respond(
    '/.well-known/webfinger',
    (_request, response) =>
      void response.writeHead(200, { 'Content-Type': 'application/jrd+json' }).end(
        JSON.stringify({
          links: [{ rel: 'self', type: 'application/activity+json', href: `${sentinel.origin}/users/x` }],
        }),
      ),
  );
  await t.rejects(follow(`bob/x@${peer.host}`), /Could not resolve handle/);
  peer.respond(
    '/.well-known/webfinger',
    (_request, response) =>
      void response.writeHead(302, { Location: `${sentinel.origin}/.well-known/webfinger` }).end(),
  );
  await t.rejects(follow(`bob/y@${peer.host}`), /Could not resolve handle/);
  t.equal(sentinel.connections(), 0);
});

t.test(
  'SPEC §3 unfollowing deletes the row and sends an Undo of the Follow that was sent, also when the peer is gone',
  async (t) => {
    const { peer, follow, following, federation, alice, queued, modules } = await setStage(t);
    const one = addRepository(peer, 'one');
    const { id } = await follow(one.id);
    const sent = (await following()).repositories[0]!.followId;
    await peer.stop();
    await federation.unfollow(alice.id, id);
    t.same(await queued(), ['Follow one', 'Undo one']);
    const [undo] = await modules.db.read.query(`SELECT activity FROM federation_outbox WHERE type = 'Undo'`);
    t.match(JSON.parse(undo.activity), {
      type: 'Undo',
      to: [one.id],
      object: { id: sent, type: 'Follow', object: one.id },
    });
    t.same((await following()).repositories, []);
    await t.rejects(federation.unfollow(alice.id, id), /no such follow/);
  },
);

t.test('a deleted account undoes what it followed, and its key can be had until all of that is said', async (t) => {
  const { peer, modules, federation, follow, queued, origin } = await setStage(t);
  modules.accounts.onAccountDeletion(async (tx, personId) => {
    await federation.endAllFollows(tx, personId);
    return async () => {};
  });
  const bob = await modules.accounts.addPerson({ username: 'bobby' });
  for (const name of ['one', 'two']) await federation.follow(bob.id, addRepository(peer, name).id);
  await follow(`${peer.origin}/r/bob/one`);
  await federation.drain();
  const before = await federation.publications.actor('/ap/users/bobby');

  await modules.accounts.deletePerson(bob.id);
  t.same((await queued()).slice(3).sort(), ['Undo one', 'Undo two'], 'of the others nothing');
  t.equal((await modules.db.read.query('SELECT * FROM remote_follows')).length, 1);
  const left = await federation.publications.actor('/ap/users/bobby');
  t.match(left, { id: `${origin}/ap/users/bobby`, type: 'Person', publicKey: before['publicKey'] });
  t.same(
    Object.keys(left).sort(),
    ['@context', 'id', 'inbox', 'preferredUsername', 'publicKey', 'type'],
    'and not a word about the person',
  );
  await t.rejects(federation.publications.webFinger('acct:bobby@127.0.0.1'), { code: 'not_found' });

  await federation.drain();
  t.same(
    peer.received
      .filter(({ method }) => method === 'POST')
      .map(({ body }) => (JSON.parse(String(body)) as { type: string }).type)
      .sort(),
    ['Follow', 'Follow', 'Follow', 'Undo', 'Undo'],
  );
  await t.rejects(federation.publications.actor('/ap/users/bobby'), { code: 'not_found' }, 'gone for good');
});

t.test('what one server received has its own address, too, for its recipients', async (t) => {
  const { peer, modules, federation, follow, alice, origin } = await setStage(t);
  const { id } = await follow(addRepository(peer, 'one').id);
  await federation.unfollow(alice.id, id);
  const rows: { activity: string }[] = await modules.db.read.query(
    'SELECT activity FROM federation_outbox ORDER BY created_at',
  );
  for (const { activity } of rows) {
    const document = JSON.parse(activity) as { id: string };
    const at = new URL(document.id).pathname.split('/');
    t.same(await federation.publications.activity('/ap/users/alice', at.at(-1)!), document);
    await t.rejects(
      federation.publications.activity('/ap/instance', at.at(-1)!),
      { code: 'not_found' },
      'of another actor',
    );
  }
  t.match(rows.map(({ activity }) => (JSON.parse(activity) as { type: string }).type).sort(), ['Follow', 'Undo']);
  t.match(
    await federation.publications.collection('/ap/users/alice', 'outbox', null),
    { id: `${origin}/ap/users/alice/outbox`, totalItems: 0 },
    'not listed',
  );
});

t.test('security E01, J08 a follow belongs to the person who made it', async (t) => {
  const { peer, follow, federation, modules } = await setStage(t);
  const { id } = await follow(addRepository(peer, 'one').id);
  const bob = await modules.accounts.addPerson({ username: 'bob' });
  await t.rejects(federation.unfollow(bob.id, id), /no such follow/);
  await t.rejects(federation.retryFollow(bob.id, id), /no such follow/);
});

t.test('why a follow waits: not sent, not through, unanswered, given up; a retry sends a new Follow', async (t) => {
  const { peer, follow, following, federation, alice, clock, modules } = await setStage(t);
  const { id } = await follow(addRepository(peer, 'one').id);
  const followStatus = async () => (await following()).repositories[0]!.status;
  t.match(await followStatus(), { state: 'PENDING', why: 'queued', attempts: 0 });
  let status = 401;
  peer.respond('/r/bob/one/inbox', (_request, response) => void response.writeHead(status).end());
  await federation.drain();
  t.match(await followStatus(), {
    state: 'PENDING',
    why: 'retrying',
    attempts: 1,
    error: /both servers must allow each other/,
  });
  status = 202;
  clock.advance(60_000);
  await federation.drain();
  t.match(await followStatus(), { state: 'PENDING', why: 'unanswered', deliveredAt: clock.now() });
  const first = (await following()).repositories[0]!.followId;
  await federation.retryFollow(alice.id, id);
  t.not((await following()).repositories[0]!.followId, first, 'with a new id');
  t.match(await followStatus(), { state: 'PENDING', why: 'queued' });
  await modules.db.write(({ manager }) =>
    manager.query(
      `UPDATE federation_delivery SET state = 'FAILED', attempts = 8, last_error = 'it broke' WHERE state = 'PENDING'`,
    ),
  );
  t.match(await followStatus(), { state: 'PENDING', why: 'failed', attempts: 8, error: 'it broke' });
  await modules.db.write(({ manager }) =>
    manager.query(`UPDATE remote_follows SET state = 'ACCEPTED', accepted_at = 5`),
  );
  t.match(await followStatus(), { state: 'ACCEPTED', since: 5 });
  const before = (await following()).repositories[0]!.followId;
  await federation.retryFollow(alice.id, id);
  t.equal((await following()).repositories[0]!.followId, before, 'nothing to retry');
});

t.test('a follow that waits for a server that is down says so, and asking again leaves one request', async (t) => {
  const { peer, follow, following, federation, alice, clock } = await setStage(t);
  const ids: string[] = [];
  for (const name of ['one', 'two', 'three']) ids.push((await follow(addRepository(peer, name).id)).id);
  await peer.stop();
  await federation.drain();
  const { repositories } = await following();
  t.same(repositories.map(({ status }) => (status as { why: string }).why).sort(), ['retrying', 'waiting', 'waiting']);
  const waiting = repositories.find(({ status }) => (status as { why: string }).why === 'waiting')!;
  t.match(waiting.status, { attempts: 0, error: /it refused the connection/, nextAttemptAt: clock.now() + 60_000 });
  const view = viewFollowStatus(waiting, clock.now());
  t.match(view, {
    sentence: /^Not sent yet: .* did not respond: it refused the connection\. Next attempt in 1 minute\.$/,
    mayRetry: true,
  });
  const retried = repositories.find(({ status }) => (status as { why: string }).why === 'retrying')!;
  t.match(viewFollowStatus(retried, clock.now()).sentence, /^Tried once: /);

  for (const id of ids) await federation.retryFollow(alice.id, id);
  const pending = async () => (await federation.listDeliveries({ state: 'PENDING' })).length;
  t.equal(await pending(), 3, 'one for each');
  t.match(
    (await federation.listDeliveries({ state: 'FAILED' })).map(({ lastError, cancelledAt }) => ({
      lastError,
      cancelledAt,
    })),
    Array.from({ length: 3 }, () => ({ lastError: 'a newer request took its place', cancelledAt: clock.now() })),
  );
  for (const id of ids) await federation.retryFollow(alice.id, id);
  t.equal(await pending(), 3);
});

t.test('how many repositories of a followed person are followed counts those that were followed before', async (t) => {
  const { peer, follow, following } = await setStage(t);
  for (const name of ['one', 'two', 'three']) await follow(addRepository(peer, name).id);
  addPerson(peer, ['one', 'two', 'three']);
  await follow(`bob@${peer.host}`);
  const view = viewFollowedPerson((await following()).people[0]!, 0);
  t.match(view, { count: '3 of at least 3', repositories: [], nothing: /followed individually, below/ });

  const other = await setStage(t);
  for (const name of ['one', 'two']) addRepository(other.peer, name);
  addPerson(other.peer, ['one', 'two']);
  const one = await other.follow(`bob/one@${other.peer.host}`);
  await other.follow(`bob@${other.peer.host}`);
  const count = async () => viewFollowedPerson((await other.following()).people[0]!, 0).count;
  t.equal(await count(), '2 of at least 2');
  await other.federation.unfollow(other.alice.id, one.id);
  t.equal(await count(), '1 of at least 2');

  const emptyStage = await setStage(t);
  addPerson(emptyStage.peer, []);
  await emptyStage.follow(`bob@${emptyStage.peer.host}`);
  t.match(viewFollowedPerson((await emptyStage.following()).people[0]!, 0), {
    count: '0 of at least 0',
    nothing: /^No public repositories so far/,
  });
});

t.test('SPEC §3 following a person follows each repository of the first page, tagged', async (t) => {
  const { peer, follow, following, queued, modules } = await setStage(t);
  const direct = addRepository(peer, 'direct');
  for (const name of ['one', 'two']) addRepository(peer, name);
  peer.addActor('/r/bob/person', { type: 'Person' }, keysNumber(1));
  const sentinel = await startFakePeer(t, { host: '127.0.0.9' });
  const bob = addPerson(peer, [
    'one',
    'two',
    'direct',
    'absent',
    'person',
    'one',
    `${sentinel.origin}/r/x`,
    'javascript:alert(1)',
  ]);
  await follow(direct.id);
  t.match(await follow(`bob@${peer.host}`), { kind: 'person', handle: `bob@${peer.host}` });
  t.same((await queued()).sort(), ['Follow direct', 'Follow one', 'Follow two']);
  const now = await following();
  t.match(now.people, [{ handle: `bob@${peer.host}`, totalItems: 8 }]);
  t.same(
    now.people[0]!.repositories.map(({ handle, viaUserActorId }) => [handle, viaUserActorId]),
    [`bob/one@${peer.host}`, `bob/two@${peer.host}`].map((handle) => [handle, bob.id]),
  );
  t.same(
    now.repositories.map(({ handle }) => handle),
    [`bob/direct@${peer.host}`],
    'a direct follow stays untagged',
  );
  t.notOk(
    peer.received.some(({ path }) => path.includes('page=2')),
    'SPEC §8: next pages are not followed',
  );
  t.equal(sentinel.connections(), 0);
  t.same(
    (
      await modules.db.read.query('SELECT via_user_actor_id FROM remote_follows WHERE remote_actor_id = ?', [direct.id])
    )[0].via_user_actor_id,
    null,
  );
  await follow(`bob@${peer.host}`);
  t.equal((await queued()).length, 3, 'twice is once');
  await follow(`bob/one@${peer.host}`);
  t.same((await following()).repositories.length, 2, 'following one of them for itself takes it out of the group');
});

t.test('SPEC §3 the re-scan adds what is new, and only adds', async (t) => {
  const { peer, follow, following, federation, alice, clock } = await setStage(t);
  for (const name of ['one', 'two', 'three', 'four']) addRepository(peer, name);
  addPerson(peer, ['one', 'two']);
  await follow(`bob@${peer.host}`);
  const handles = async () => (await following()).people[0]!.repositories.map(({ handle }) => handle.split('@')[0]);
  addPerson(peer, ['two', 'three']);
  t.same(await federation.scanDuePeople(), [], 'not before its time');
  clock.advance(5 * 60_000);
  t.match(await federation.scanDuePeople(), [
    { handle: `bob@${peer.host}`, added: [`bob/three@${peer.host}`], error: null },
  ]);
  t.same(await handles(), ['bob/one', 'bob/three', 'bob/two'], 'what disappeared stays');

  const two = (await following()).people[0]!.repositories.find(({ handle }) => handle.startsWith('bob/two'))!;
  await federation.unfollow(alice.id, two.id);
  clock.advance(5 * 60_000);
  t.match(await federation.scanDuePeople(), [{ added: [] }]);
  t.same(await handles(), ['bob/one', 'bob/three'], 'what was unfollowed by hand does not come back');

  peer.respond('/u/bob/repositories', (_request, response) => void response.writeHead(503).end());
  clock.advance(5 * 60_000);
  t.match(await federation.scanDuePeople(), [{ added: [], error: /answered 503/ }]);
  t.match((await following()).people[0], { scanError: /answered 503/ });
  addPerson(peer, ['four']);
  t.match(await federation.resync(), [{ added: [`bob/four@${peer.host}`] }], 'by hand at any time');
  t.match((await following()).people[0], { scanError: null });
});

t.test('SPEC §3 unfollowing a person undoes every tagged follow and nothing else', async (t) => {
  const { peer, follow, following, federation, alice, queued } = await setStage(t);
  const direct = addRepository(peer, 'direct');
  for (const name of ['one', 'two']) addRepository(peer, name);
  addPerson(peer, ['one', 'two', 'direct']);
  await follow(direct.id);
  const { id } = await follow(`bob@${peer.host}`);
  await federation.unfollow(alice.id, id);
  t.same((await queued()).slice(3).sort(), ['Undo one', 'Undo two']);
  t.match(await following(), { people: [], repositories: [{ handle: `bob/direct@${peer.host}` }] });
});

t.test("a person's list may be a plain collection, or name its first page", async (t) => {
  for (const shape of ['items', 'first'] as const) {
    const { peer, follow, following } = await setStage(t);
    addRepository(peer, 'one');
    addPerson(peer, []);
    const ids = [{ id: `${peer.origin}/r/bob/one`, type: 'Repository' }];
    peer.respond(
      '/u/bob/repositories',
      shape === 'items'
        ? { type: 'Collection', items: ids }
        : { type: 'OrderedCollection', first: `${peer.origin}/u/bob/first` },
    );
    peer.respond('/u/bob/first', { type: 'OrderedCollectionPage', orderedItems: ids });
    await follow(`bob@${peer.host}`);
    t.equal((await following()).people[0]!.repositories.length, 1, shape);
  }
});

t.test('two people who follow the same person ask its server once a scan', async (t) => {
  const { peer, follow, federation, modules } = await setStage(t);
  addRepository(peer, 'one');
  addPerson(peer, ['one']);
  await follow(`bob@${peer.host}`);
  const carol = await modules.accounts.addPerson({ username: 'carol' });
  await federation.follow(carol.id, `bob@${peer.host}`);
  const before = peer.received.filter(({ path }) => path === '/u/bob/repositories').length;
  t.equal((await federation.resync()).length, 2);
  t.equal(peer.received.filter(({ path }) => path === '/u/bob/repositories').length, before + 1);
});

t.test('SPEC §8 the newest 50 pushes, across what a person follows', async (t) => {
  const { peer, follow, following, modules, clock } = await setStage(t);
  const [one, two] = [addRepository(peer, 'one'), addRepository(peer, 'two')];
  await follow(one.id);
  await follow(two.id);
  const other = addRepository(peer, 'other');
  await modules.db.write(async ({ manager, now }) => {
    for (let index = 0; index < 70; index++) {
      for (const actor of [[one, two][index % 2]!, other]) {
        await manager.query(
          `INSERT INTO received_pushes (id, actor_id, activity_id, branch, commit_count, commits, pushed_at, received_at) VALUES (?, ?, ?, ?, 1, '[]', ?, ?)`,
          [`${actor.id} ${index}`, actor.id, String(index), `b${index}`, now + index, now],
        );
      }
    }
  });
  const { pushes } = await following();
  t.same(
    pushes.map(({ branch }) => branch),
    Array.from({ length: 50 }, (_, index) => `b${69 - index}`),
  );
  t.match(pushes[0], {
    handle: `bob/two@${peer.host}`,
    url: `${peer.origin}/repos/bob/two`,
    pushedAt: clock.now() + 69,
  });
});

t.test('the newest pushes of what is followed, however many are followed and however much each has sent', async (t) => {
  const { federation, modules, alice } = await setStage(t);
  const bob = await modules.accounts.addPerson({ username: 'bob' });
  const random = seededRandom(3);
  const sent: { activity: string; actor: string; at: number }[] = [];
  await modules.db.write(async (tx) => {
    for (let actor = 0; actor < 70; actor += 1) {
      const id = `https://other.example.org/r/${actor}`;
      const follower = actor < 60 ? alice : bob;
      await insertRow(tx, 'remote_follows', {
        id: `follow-${actor}`,
        user_id: follower.id,
        remote_actor_id: id,
        remote_inbox: `${id}/inbox`,
        host: 'other.example.org',
        handle: `r/${String(actor).padStart(2, '0')}`,
        follow_id: `f/${actor}`,
        state: actor % 10 === 0 ? 'PENDING' : 'ACCEPTED',
        created_at: 1,
      });
      for (let push = 0; push < random.below(9); push += 1) {
        const activity = `${actor}/${push}`;
        const at = random.below(1_000_000);
        sent.push({ activity, actor: id, at });
        await insertRow(tx, 'received_pushes', {
          id: random.uuid(),
          actor_id: id,
          activity_id: activity,
          branch: 'main',
          commit_count: 1,
          commits: '[]',
          pushed_at: at,
          received_at: 1,
        });
      }
    }
  });
  const expected = sent
    .filter(({ actor }) => Number(actor.split('/').at(-1)) < 60)
    .sort((a, b) => b.at - a.at)
    .map(({ activity }) => activity);
  const { pushes, repositories } = await federation.followingOf(alice.id);
  t.strictSame(
    pushes.map(({ activityId }) => activityId),
    expected.slice(0, 50),
  );
  const news = await federation.followedNews(alice.id, 5);
  t.strictSame(
    news.pushes.map(({ activityId, handle }) => [activityId, handle]),
    pushes.slice(0, 5).map(({ activityId, handle }) => [activityId, handle]),
  );
  t.strictSame(
    news.pending,
    repositories.filter(({ state }) => state === 'PENDING'),
  );
  const [first, second] = await Promise.all([
    federation.followingOf(alice.id, { limit: 40 }),
    federation.followingOf(alice.id, { limit: 40, skip: 40 }),
  ]);
  t.strictSame([...first.repositories, ...second.repositories], repositories, 'in parts, by handle');
});
