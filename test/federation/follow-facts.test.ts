// What the pages say of follows and pushes besides their state: who pushed, forced pushes, links, repositories that are
// not there any more, accepts that were held back, deliveries that are sent before their time.
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { insertRow } from '../fixtures/test-database.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { sendRequest } from '../fixtures/web-fixture.ts';
import { runCli } from '../cli/run-cli.ts';
import { keysNumber, startFakePeer } from './fake-peer.ts';
import { openFederation } from './federation-fixture.ts';
import { startPeer } from './two-instances.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

async function openStage(t: Owner) {
  const clock = fixedClock(Date.now());
  const home = await startPeer(t, { host: '127.0.0.1', allow: ['127.0.0.3'], clock });
  const peer = await startFakePeer(t);
  const alice = await home.addPerson('alice');
  const tool = peer.addActor(
    '/r/bob/tool',
    { type: 'Repository', preferredUsername: 'bob/tool', url: `${peer.origin}/bob/tool` },
    keysNumber(1),
  );
  const inbox = `${home.origin}/ap/instance/inbox`;
  const { federation } = home.modules;
  async function acceptedFollow(): Promise<string> {
    const { id } = await federation.follow(alice.id, tool.id);
    const { followId } = (await federation.followingOf(alice.id)).repositories.find((each) => each.id === id)!;
    await peer.deliver(tool, inbox, { id: peer.newId(), type: 'Accept', actor: tool.id, object: followId });
    return id;
  }
  const web = { port: Number(new URL(home.origin).port) };
  const signedIn = (session: string) => ({ Cookie: `hearth_session=${session}`, Origin: home.origin });
  const get = async (target: string, session = alice.session): Promise<string> =>
    (await sendRequest(web, target, { headers: signedIn(session) })).body;
  const post = (target: string, session = alice.session) =>
    sendRequest(web, target, { headers: signedIn(session), form: {} });
  return { home, peer, alice, tool, inbox, clock, federation, acceptedFollow, get, post };
}

t.test(
  'a push names who pushed, says that it was forced, and its hashes lead to the pages of its server',
  async (t) => {
    const { peer, tool, inbox, clock, acceptedFollow, get } = await openStage(t);
    await acceptedFollow();
    const hash = (digit: string) => digit.repeat(40);
    const page = (digit: string) => `${peer.origin}/bob/tool/commit/${hash(digit)}`;
    const push = (more: object) => {
      clock.advance(1_000);
      return peer.deliver(tool, inbox, {
        id: peer.newId(),
        type: 'Push',
        actor: tool.id,
        target: { ref: 'refs/heads/main' },
        hashBefore: hash('a'),
        hashAfter: hash('b'),
        object: {
          type: 'OrderedCollection',
          totalItems: 60,
          orderedItems: [{ hash: hash('b'), summary: 'New', url: page('b') }],
        },
        ...more,
      });
    };
    const newest = async () => /<ul class="rows">([^]*?)<\/li>/.exec(await get('/following'))![1]!;

    await push({ forced: true, attributedTo: `${peer.origin}/users/bob` });
    t.match(await newest(), /60 commits, forced, by bob\b/);
    t.match(await newest(), new RegExp(`<a [^>]*href="${page('b')}"[^>]*>[^]*${'b'.repeat(10)}`));
    t.match(await newest(), /<a [^>]*rel="[^"]*nofollow/, 'addresses of others are not followed by search engines');

    await push({ attributedTo: { id: 'https://people.example.org/users/carol' }, published: '2099-01-01T00:00:00Z' });
    t.match(await newest(), /by carol@people\.example\.org/, 'a person of another server has its host');
    t.notMatch(await newest(), /forced/);

    const elsewhere = 'https://evil.example/commit';
    for (const [attributedTo, forced] of [
      [`${peer.origin}/ap/instance`, 'true'],
      [tool.id, 1],
      [undefined, undefined],
    ] as const) {
      await push({
        attributedTo,
        forced,
        object: { orderedItems: [{ hash: hash('b'), summary: 'New', url: elsewhere }] },
      });
      t.notMatch(await newest(), /, by|forced/, 'a server is no pusher, and only `true` is forced');
      t.notMatch(await newest(), elsewhere, 'an address of another server is no link');
    }
    await push({ hashBefore: hash('0'), hashAfter: hash('a'), object: { totalItems: 0, orderedItems: [] } });
    t.match(await newest(), /new branch/);
    t.notMatch(await newest(), /0 commits/);
  },
);

t.test('a followed repository that its server has no more is "Not there", until it is public again', async (t) => {
  const { home, peer, tool, federation, clock, alice, acceptedFollow, get } = await openStage(t);
  await acceptedFollow();
  const look = async (): Promise<string> => {
    clock.advance(6 * 3_600_000 + 1);
    await federation.checkFollowed();
    return get('/following');
  };
  const { document } = tool;
  let status = 503;
  peer.respond('/r/bob/tool', (_request, response) => void response.writeHead(status).end());
  t.match(await look(), />Following<\/span>/, 'a server that is down says nothing about the repository');
  status = 410;
  const gone = await look();
  t.match(gone, />Not found<\/span>/);
  t.match(gone, /no public repository under this name: it was deleted or made private/);
  t.notMatch(gone, />Following<\/span>/);
  const listed = await runCli(['federation', 'follows', '--user', 'alice', '--json'], {
    cwd: home.folder,
    openModules: async (config) => ({ ...home.modules, config, close: async () => {} }),
    env: { SERVICE_DATA_DIR: path.join(home.folder, 'data') },
  });
  t.match(JSON.parse(listed.stdout), [{ state: 'ACCEPTED', why: /^not there since / }]);
  const [{ goneAt } = { goneAt: 0 }] = (await federation.followingOf(alice.id)).repositories;
  status = 404;
  await look();
  t.equal((await federation.followingOf(alice.id)).repositories[0]!.goneAt, goneAt, 'it keeps the time of the first');
  peer.respond('/r/bob/tool', document);
  t.match(await look(), />Following<\/span>/);
});

t.test('an Accept that was held back by a private flip goes out with the next push once it is public', async (t) => {
  const { home, peer, federation, alice } = await openStage(t);
  const { repositories } = home.modules;
  await repositories.create(localAdministrator, { owner: 'alice', name: 'tool', visibility: 'PUBLIC' });
  const mallory = peer.addActor('/users/mallory');
  const object = `${home.origin}/ap/repos/alice/tool`;
  const follow = { id: peer.newId(), type: 'Follow', actor: mallory.id, object };
  await peer.deliver(mallory, `${object}/inbox`, follow);
  await repositories.changeVisibility(localAdministrator, 'alice', 'tool', 'PRIVATE');
  await federation.drain();
  t.match(
    (await federation.listDeliveries()).map(({ type, state, cancelledAt }) => [type, state, cancelledAt !== null]),
    [['Accept', 'FAILED', true]],
  );

  const cwd = home.folder;
  const remote = `${home.url.replace('://', `://alice:${alice.token}@`)}/alice/tool.git`;
  await runGit(['init', '--quiet', '-b', 'main', 'clone'], { cwd });
  const commit = async () => {
    await runGit(['-C', 'clone', 'commit', '--quiet', '--allow-empty', '-m', 'One'], { cwd });
    await runGit(['-C', 'clone', 'push', '--quiet', remote, 'main'], { cwd });
  };
  await commit();
  await new Promise((resolve) => setTimeout(resolve, 300));
  t.equal((await federation.listDeliveries()).length, 1, 'a push of what is still private sends nothing');
  await repositories.changeVisibility(localAdministrator, 'alice', 'tool', 'PUBLIC');
  await commit();
  await waitUntil(async () => (await federation.listDeliveries()).length >= 3, 'the push is announced');
  await federation.drain();
  t.match(
    peer
      .activities()
      .map(({ type }) => type)
      .sort(),
    ['Accept', 'Push'],
  );
  t.match(
    peer.activities().find(({ type }) => type === 'Accept'),
    { object: { id: follow.id } },
  );
  await commit();
  await waitUntil(async () => (await federation.listDeliveries()).length >= 4, 'the next one, too');
  await federation.drain();
  t.same(
    peer
      .activities()
      .map(({ type }) => type)
      .sort(),
    ['Accept', 'Push', 'Push'],
    'an Accept is sent once',
  );
});

t.test('"Send now" makes a delivery that waits due, for administrators', async (t) => {
  const { home, peer, federation, alice, clock, get, post, tool } = await openStage(t);
  const { accounts } = home.modules;
  const { id: carolId } = await accounts.addPerson({ username: 'carol', isAdministrator: true });
  const root = { session: (await accounts.startSession(carolId, { address: '127.0.0.1', userAgent: 'test' })).secret };
  let status = 503;
  peer.respond('/r/bob/tool/inbox', (_request, response) => void response.writeHead(status).end());
  await federation.follow(alice.id, tool.id);
  await federation.drain();
  const list = '/admin/federation/deliveries';
  const [waiting] = await federation.listDeliveries();
  t.match(waiting, { state: 'PENDING', attempts: 1 });
  const [, action = ''] = /action="([^"]+\/send)"/.exec(await get(list, root.session)) ?? [];
  t.equal(action, `${list}/${waiting!.id}/send`);
  t.equal((await post(action)).status, 404, 'for administrators');
  t.equal((await federation.showDelivery(waiting!.id)).nextAttemptAt, waiting!.nextAttemptAt);

  status = 202;
  await federation.drain();
  t.match(await federation.showDelivery(waiting!.id), { attempts: 1 }, 'not before its time');
  t.match(await post(action, root.session), { status: 303, headers: { location: /done=delivery-/ } });
  t.equal((await federation.showDelivery(waiting!.id)).nextAttemptAt, clock.now());
  await federation.drain();
  t.match(await federation.showDelivery(waiting!.id), { state: 'DELIVERED' });
  t.notMatch(await get(list, root.session), `${waiting!.id}/send`);
  t.match(await post(action, root.session), { status: 409, body: /is not pending/ });
  t.equal((await post(`${list}/99999/send`, root.session)).status, 404);
});

t.test('one row for a host whose entry allows every port; two where it does not', async (t) => {
  for (const dev of [true, false]) {
    const { federation, modules } = await openFederation(t, { allow: ['forge.example', 'other.example'], dev });
    await modules.db.write(async (tx) => {
      await insertRow(tx, 'federation_peers', { host: 'forge.example:34605', failures: 0, retry_at: 0 });
      await insertRow(tx, 'federation_peers', { host: 'absent.example', failures: 0, retry_at: 0 });
    });
    const rows = (await federation.listPeers()).map(({ host, allowed }) => `${host} ${allowed}`);
    t.strictSame(
      rows,
      dev
        ? ['absent.example no', 'forge.example:34605 settings', 'other.example settings']
        : ['absent.example no', 'forge.example settings', 'forge.example:34605 no', 'other.example settings'],
      dev ? 'development' : 'elsewhere a port has to be named',
    );
  }
});
