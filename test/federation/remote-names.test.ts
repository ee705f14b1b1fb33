// What followed repositories are called: their present name, wherever it was learned, and never the name of another.
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { runCli } from '../cli/run-cli.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { keysNumber, startFakePeer } from './fake-peer.ts';
import type { FakePeer } from './fake-peer.ts';
import { openFederation } from './federation-fixture.ts';
import { startPair } from './two-instances.ts';
import type { Pair } from './two-instances.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const hour = 3_600_000;

async function follow({ home, away, alice }: Pair, name: string): Promise<string> {
  const { handle } = await home.modules.federation.follow(alice.id, `${name}@${away.host}`);
  await home.modules.federation.drain();
  await away.modules.federation.drain();
  return handle;
}

async function pushTo({ away, bob }: Pair, name: string): Promise<void> {
  const work = path.join(away.folder, name.replace('/', '-'));
  await runGit(['init', '-q', '-b', 'main', work], { cwd: away.folder });
  await runGit(['commit', '-q', '--allow-empty', '-m', 'Begin'], { cwd: work });
  await runGit(['push', '-q', `http://bob:${bob.token}@${away.host}/git/${name}.git`, 'main'], { cwd: work });
  const queued = async () => (await away.modules.federation.countDeliveries()).pending > 0;
  await waitUntil(queued, 'the push is queued');
  await away.modules.federation.drain();
}

t.test('a followed repository that was renamed is known by its new name with its next push', async (t) => {
  const pair = await startPair(t);
  const { home, away, alice } = pair;
  const { repositories } = away.modules;
  await repositories.create(localAdministrator, { owner: 'bob', name: 'site', visibility: 'PUBLIC' });
  await follow(pair, 'bob/site');
  await repositories.rename(localAdministrator, 'bob', 'site', 'website');
  await repositories.create(localAdministrator, { owner: 'bob', name: 'site', visibility: 'PUBLIC' });
  await follow(pair, 'bob/site');
  const called = async () =>
    (await home.modules.federation.followingOf(alice.id)).repositories.map(({ handle, url }) => [handle, url]);
  t.same(
    (await called()).map(([handle]) => handle),
    [`bob/site@${away.host}`, `bob/site@${away.host}`],
    'the first one has not responded yet',
  );
  const env = {
    SERVICE_DATA_DIR: path.join(home.folder, 'data'),
    SERVICE_FEDERATION_ENABLED: 'true',
    SERVICE_FEDERATION_BASE_URL: home.origin,
    SERVICE_FEDERATION_DEV_ALLOW_INSECURE: 'true',
    SERVICE_FEDERATION_PEER_ALLOWLIST: '127.0.0.2',
  };
  const hearth = (...words: string[]) => runCli(words, { cwd: home.folder, env });
  const refused = await hearth('federation', 'unfollow', `bob/site@${away.host}`, '--user', 'alice');
  t.match(refused, { code: 4, stderr: `${away.origin}/ap/repos/bob/site, ${away.origin}/ap/repos/bob/site~2` });
  t.equal((await called()).length, 2, 'none of them was taken for the other');

  await pushTo(pair, 'bob/website');
  t.same((await called()).sort(), [
    [`bob/site@${away.host}`, `${away.origin}/repos/bob/site`],
    [`bob/website@${away.host}`, `${away.origin}/repos/bob/website`],
  ]);
  t.match((await home.modules.federation.followingOf(alice.id)).pushes, [
    { handle: `bob/website@${away.host}`, url: `${away.origin}/repos/bob/website` },
  ]);
  t.match(await hearth('federation', 'unfollow', `bob/site@${away.host}`, '--user', 'alice'), {
    code: 0,
    stdout: `alice no longer follows bob/site@${away.host}.`,
  });
  t.same(await called(), [[`bob/website@${away.host}`, `${away.origin}/repos/bob/website`]]);
  t.match(await hearth('federation', 'follow', `bob/website@${away.host}`, '--user', 'alice'), {
    stdout: `alice already follows bob/website@${away.host}.`,
  });
});

async function setStage(owner: Owner, documents: Record<string, Record<string, unknown>>) {
  const stage = await openFederation(owner);
  const peer = await startFakePeer(owner);
  const alice = await stage.modules.accounts.addPerson({ username: 'alice' });
  for (const [at, more] of Object.entries(documents))
    peer.addActor(at, { ...more, url: peer.origin + at }, keysNumber(1));
  return { ...stage, peer, alice };
}

/** WebFinger of a peer whose names and ids have nothing in common. */
function respondWebFinger(peer: FakePeer, subject: string, href: string): void {
  peer.respond('/.well-known/webfinger', (_request, response) => {
    const links = [{ rel: 'self', type: 'application/activity+json', href: peer.origin + href }];
    response.writeHead(200, { 'Content-Type': 'application/jrd+json' }).end(JSON.stringify({ subject, links }));
  });
}

t.test('an actor is called what WebFinger called it, also when its document does not say a name', async (t) => {
  const { peer, federation, alice, clock } = await setStage(t, {
    '/r/1': { type: 'Repository', preferredUsername: undefined },
  });
  respondWebFinger(peer, `acct:bob/tool@${peer.host}`, '/r/1');
  const handle = `bob/tool@${peer.host}`;
  t.match(await federation.follow(alice.id, `BOB/tool@${peer.host}`), { handle });
  const called = async () => (await federation.followingOf(alice.id)).repositories[0]!.handle;
  t.equal(await called(), handle);
  clock.advance(7 * hour);
  t.match(await federation.follow(alice.id, `${peer.origin}/r/1`), { handle }, 'and asked by its address it stays so');
  clock.advance(60 * 24 * hour);
  await federation.removeOld();
  t.match(await federation.follow(alice.id, `${peer.origin}/r/1`), { handle }, 'also months later');

  peer.addActor('/r/1', { type: 'Repository', preferredUsername: 'bob/new-name' }, keysNumber(1));
  t.match(await federation.follow(alice.id, `${peer.origin}/r/1`), { handle: `bob/new-name@${peer.host}` });
  t.equal(await called(), `bob/new-name@${peer.host}`, 'until the document says another name than before');
});

t.test('WebFinger names nothing on a host that is not its own', async (t) => {
  const { peer, federation, alice } = await setStage(t, {
    '/r/1': { type: 'Repository', preferredUsername: 'bob/tool' },
  });
  respondWebFinger(peer, 'acct:alice/tool@127.0.0.9', '/r/1');
  t.match(
    await federation.follow(alice.id, `bob/x@${peer.host}`),
    { handle: `bob/x@${peer.host}` },
    'then what was typed',
  );
  respondWebFinger(peer, 'acct:<b>@', '/r/1');
  t.match(await federation.follow(alice.id, `bob/y@${peer.host}`), { handle: `bob/y@${peer.host}` });
});

t.test('a person who was renamed is called by the new name after the next scan', async (t) => {
  const { peer, federation, alice, clock } = await setStage(t, { '/u/bob': { preferredUsername: 'bob' } });
  peer.respond('/u/bob/repositories', { type: 'OrderedCollection', totalItems: 0, orderedItems: [] });
  await federation.follow(alice.id, `${peer.origin}/u/bob`);
  peer.addActor('/u/bob', { preferredUsername: 'robert', url: `${peer.origin}/robert` }, keysNumber(1));
  clock.advance(7 * hour);
  await federation.resync();
  t.match((await federation.followingOf(alice.id)).people, [
    { handle: `robert@${peer.host}`, url: `${peer.origin}/robert` },
  ]);
});
