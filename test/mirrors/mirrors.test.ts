// Two Hearths: what one has, the other follows.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import type { PersonViewer } from '../../src/access/index.ts';
import type { MirrorInput } from '../../src/mirrors/index.ts';
import { gitClient } from '../e2e/git-client.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import type { Hearth, TestPerson } from '../fixtures/start-hearth.ts';
import { reasonOf } from '../ci/ci-fixture.ts';

t.setTimeout(180_000);

const viewerOf = ({ id, username }: TestPerson): PersonViewer => ({
  kind: 'person',
  id,
  username,
  isAdministrator: false,
  via: 'session',
  scope: 'admin',
  repositoryIds: null,
});
const hourMs = 3_600_000;

let there: Hearth;
let here: Hearth;
let bob: TestPerson;
let alice: TestPerson;
let work: string;
let git: ReturnType<typeof gitClient>;
const inWork = (...args: string[]) => git.expect(work, ...args);

/** Another host, which asks for a password and writes down what it gets. */
const otherHost = { port: 0, authorizations: [] as string[] };

t.before(async () => {
  const server = createServer((request, response) => {
    otherHost.authorizations.push(request.headers.authorization ?? '');
    response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="git"' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  otherHost.port = (server.address() as AddressInfo).port;
  there = await startHearth(t);
  const host = new URL(there.url).host;
  here = await startHearth(t, {
    env: { SERVICE_MIRRORS_ALLOWED_HOSTS: `${host}, 127.0.0.1:${otherHost.port}` },
  });
  bob = await there.addPerson('bob');
  alice = await here.addPerson('alice');
  await there.modules.repositories.create(viewerOf(bob), { name: 'tool', visibility: 'PRIVATE' });
  git = gitClient(here.folder);
  work = `${here.folder}/work`;
  await git.expect(here.folder, 'init', '--quiet', '-b', 'trunk', work);
  await inWork('remote', 'add', 'there', there.url.replace('://', `://x:${bob.token}@`) + '/git/bob/tool.git');
  await inWork('commit', '--quiet', '--allow-empty', '-m', 'one');
  await inWork('tag', 'v1');
  await inWork('branch', 'topic');
  await inWork('push', '--quiet', 'there', 'trunk', 'topic', 'v1');
});

const address = () => `${there.url}/git/bob/tool.git`;
const found = (name: string) => here.modules.repositories.find(viewerOf(alice), 'alice', name);
const settings = (more: Partial<MirrorInput> = {}): MirrorInput => ({
  direction: 'pull',
  address: address(),
  username: 'bob',
  secret: bob.token,
  intervalMs: 8 * hourMs,
  prune: true,
  ...more,
});
const refsOf = async (name: string) => [...(await here.modules.git.refs.list((await found(name)).path)).keys()];
const mirrorOf = async (name: string) => here.modules.mirrors.find((await found(name)).repository.id);
/** Due at once, and waited for. */
async function sync(name: string): Promise<void> {
  await here.modules.mirrors.sync((await found(name)).repository.id);
  await here.modules.mirrors.runDue();
}

t.test('a pull mirror follows branches, tags and the default branch, and every listener is notified', async (t) => {
  const { repositories, mirrors } = here.modules;
  await repositories.create(viewerOf(alice), { name: 'copy', visibility: 'PUBLIC' });
  const received: string[][] = [];
  repositories.pushes.onPush({
    name: 'test',
    record: async (_tx, push) => void received.push([push.via, ...push.updates.map(({ ref }) => ref)]),
  });
  const saved = await mirrors.save(viewerOf(alice), await found('copy'), settings());
  t.match(saved, { hasSecret: true, direction: 'pull' });
  t.notMatch(
    JSON.stringify([saved, await mirrors.list(), here.log, await here.modules.db.read.query('SELECT * FROM mirrors')]),
    bob.token,
  );
  await mirrors.runDue();
  t.same(await refsOf('copy'), ['refs/heads/topic', 'refs/heads/trunk', 'refs/tags/v1']);
  t.equal((await found('copy')).repository.defaultBranch, 'trunk');
  t.match(await mirrorOf('copy'), { state: 'ok', failures: 0, lastError: null, progress: null });
  await repositories.pushes.finish();
  t.match(received, [['mirror', 'refs/heads/topic', 'refs/heads/trunk', 'refs/tags/v1']]);

  await inWork('commit', '--quiet', '--allow-empty', '-m', 'two');
  await inWork('push', '--quiet', 'there', 'trunk', ':topic');
  await sync('copy');
  t.same(await refsOf('copy'), ['refs/heads/trunk', 'refs/tags/v1']);
  t.equal(
    (await here.modules.git.refs.list((await found('copy')).path)).get('refs/heads/trunk'),
    await inWork('rev-parse', 'trunk'),
  );
});

t.test('the default branch of the remote is taken once: a later choice here stays', async (t) => {
  const { repositories } = here.modules;
  await inWork('push', '--quiet', 'there', 'trunk:side');
  await sync('copy');
  await repositories.edit(viewerOf(alice), 'alice', 'copy', { defaultBranch: 'side' });
  await sync('copy');
  t.equal((await found('copy')).repository.defaultBranch, 'side');
  await repositories.edit(viewerOf(alice), 'alice', 'copy', { defaultBranch: 'trunk' });
  await inWork('push', '--quiet', 'there', ':side');
  await sync('copy');
});

t.test('the old tip of a branch rewritten at the remote is preserved', async (t) => {
  const { repositories } = here.modules;
  const before = await inWork('rev-parse', 'trunk');
  await there.modules.repositories.edit(viewerOf(bob), 'bob', 'tool', { defaultBranchProtected: false });
  await inWork('commit', '--quiet', '--amend', '--allow-empty', '-m', 'rewritten');
  await inWork('push', '--quiet', '--force', 'there', 'trunk');
  await sync('copy');
  await repositories.pushes.finish();
  t.match(await repositories.pushes.listLostTips(await found('copy')), [
    { ref: 'refs/heads/trunk', oldId: before, forced: true },
    { ref: 'refs/heads/side' },
    { ref: 'refs/heads/topic' },
  ]);
});

t.test('a push to a copy is refused in one line that says where to push', async (t) => {
  const remote = here.url.replace('://', `://x:${alice.token}@`) + '/git/alice/copy.git';
  const { code, stderr } = await git.run(work, 'push', remote, 'trunk:mine');
  t.not(code, 0);
  t.match(stderr, new RegExp(`mine.*this repository is a copy of ${address()}; push there`));
});

t.test('what fails is shown, tried again later each time, and waits for a person in the end', async (t) => {
  const { mirrors, db } = here.modules;
  const { id } = (await found('copy')).repository;
  await there.modules.repositories.rename(viewerOf(bob), 'bob', 'tool', 'moved');
  await there.modules.repositories.create(viewerOf(bob), { name: 'tool', visibility: 'PRIVATE' });
  const token = (await there.modules.accounts.listTokens(bob.id))[0]!;
  await there.modules.accounts.removeToken(bob.id, token.id);
  for (const failures of [1, 2, 3]) {
    await db.write(({ manager }) => manager.query('UPDATE mirrors SET next_at = 0 WHERE repository_id = ?', [id]));
    await mirrors.runDue();
    const mirror = (await mirrors.find(id))!;
    t.match(mirror, { state: `failing ${failures}`, lastError: /username and a password/ });
    t.ok(mirror.nextAt - Date.now() > (2 ** (failures - 1) - 0.5) * 60_000, `after ${failures} failures`);
  }
  await db.write(({ manager }) =>
    manager.query('UPDATE mirrors SET next_at = 0, failures = 9 WHERE repository_id = ?', [id]),
  );
  await mirrors.runDue();
  t.match(await mirrors.find(id), { state: 'paused', failures: 10 });
  await db.write(({ manager }) => manager.query('UPDATE mirrors SET next_at = 0 WHERE repository_id = ?', [id]));
  t.equal(await mirrors.runDue(), 0);

  t.equal(
    await reasonOf(mirrors.save(viewerOf(alice), await found('copy'), settings())),
    'mirror_address_refused',
    'an expired secret is told at once',
  );
  const { secret } = await there.modules.accounts.addToken(bob.id, {
    name: 'new',
    access: 'admin',
    repositoryIds: null,
    expiresAt: null,
  });
  bob.token = secret;
  await inWork('remote', 'set-url', 'there', there.url.replace('://', `://x:${secret}@`) + '/git/bob/tool.git');
  await inWork('push', '--quiet', 'there', 'trunk', 'v1');
  t.match(await mirrors.save(viewerOf(alice), await found('copy'), settings()), { failures: 0, isPaused: false });
  await mirrors.runDue();
  t.match(await mirrors.find(id), { state: 'ok' });
  // gitea #30416: saving something else must not lose the secret.
  t.match(await mirrors.save(viewerOf(alice), await found('copy'), settings({ secret: '', intervalMs: hourMs })), {
    hasSecret: true,
    intervalMs: hourMs,
  });
  await sync('copy');
  t.match(await mirrors.find(id), { state: 'ok', lastError: null });
  t.equal(
    await reasonOf(
      mirrors.save(
        viewerOf(alice),
        await found('copy'),
        settings({ secret: '', address: `${there.url.replace('127.0.0.1', 'localhost')}/git/bob/tool.git` }),
      ),
    ),
    'mirror_address_refused',
    'another host never gets it',
  );
});

t.test('a password goes to the host that it was given for, and to no other', async (t) => {
  const { mirrors, db } = here.modules;
  const { id } = (await found('copy')).repository;
  const before = await mirrors.find(id);
  const elsewhere = `http://127.0.0.1:${otherHost.port}/git/bob/tool.git`;
  const refusal = await reasonOf(
    mirrors.save(viewerOf(alice), await found('copy'), settings({ secret: '', address: elsewhere })),
  );
  t.equal(refusal, 'mirror_address_refused');
  t.strictSame(await mirrors.find(id), before, 'a refused change changes nothing');
  t.ok(otherHost.authorizations.length > 0, 'the other host was asked');
  t.strictSame(
    otherHost.authorizations.filter((value) => value.includes(Buffer.from(`bob:${bob.token}`).toString('base64'))),
    [],
    'without the password',
  );

  const heard = otherHost.authorizations.length;
  const pointTo = (url: string) =>
    db.write(({ manager }) =>
      manager.query('UPDATE mirrors SET url = ?, next_at = 0 WHERE repository_id = ?', [url, id]),
    );
  await pointTo(elsewhere);
  await mirrors.runDue();
  t.match(
    await mirrors.find(id),
    { lastError: /cannot be decrypted/ },
    'nor does it open when the row names another host',
  );
  t.equal(otherHost.authorizations.length, heard);
  await pointTo(address());
  await mirrors.runDue();
  t.match(await mirrors.find(id), { state: 'ok' });
});

t.test('security G01 private addresses, other protocols and redirects are refused', async (t) => {
  const { mirrors, repositories } = here.modules;
  await repositories.create(viewerOf(alice), { name: 'guarded', visibility: 'PRIVATE' });
  for (const [url, reason] of [
    ['https://127.0.0.1/x.git', 'mirror_address_refused'],
    ['https://localhost/x.git', 'mirror_address_refused'],
    ['https://10.0.0.1/x.git', 'mirror_address_refused'],
    ['http://git.example.org/x.git', 'mirror_address_refused'],
    ['file:///etc', 'mirror_address_refused'],
    ['ext::sh -c true', 'mirror_address_refused'],
    ['ssh://git.example.org/x.git', 'mirror_address_refused'],
    ['git://git.example.org/x.git', 'mirror_address_refused'],
    ['--upload-pack=true', 'invalid_mirror'],
    ['/etc/passwd', 'invalid_mirror'],
    ['https://bob:pw@git.example.org/x.git', 'invalid_mirror'],
  ] as const) {
    t.equal(
      await reasonOf(mirrors.save(viewerOf(alice), await found('guarded'), settings({ address: url }))),
      reason,
      url,
    );
  }
  const refusal = await mirrors
    .save(viewerOf(alice), await found('guarded'), settings({ address: 'https://10.0.0.1/x.git' }))
    .catch((error: Error) => error.message);
  t.match(refusal, /mirrors\.allowed_hosts/);
  // The old address of a renamed repository responds with a redirect.
  t.equal(
    await reasonOf(
      mirrors.save(viewerOf(alice), await found('guarded'), settings({ address: `${there.url}/repos/bob/moved` })),
    ),
    'mirror_address_refused',
  );
  t.equal(await mirrorOf('guarded'), null);
  t.equal(await reasonOf(mirrors.sync((await found('guarded')).repository.id)), 'no_mirror');
});

t.test('git connects to the address that was checked, whatever the name says by now', async (t) => {
  const url = new URL(address());
  url.hostname = 'nowhere.internal';
  const remote = { url, addresses: ['127.0.0.1'], username: 'bob', secret: bob.token, caFile: null };
  const { refs, head } = await here.modules.git.remotes.list(remote);
  t.same([head, [...refs.keys()]], ['trunk', ['refs/heads/trunk', 'refs/tags/v1']]);
});

t.test('a push mirror updates the remote soon after each push', async (t) => {
  const { mirrors, repositories } = here.modules;
  await repositories.create(viewerOf(alice), { name: 'source', visibility: 'PRIVATE' });
  await there.modules.repositories.create(viewerOf(bob), { name: 'target', visibility: 'PRIVATE' });
  const remote = here.url.replace('://', `://x:${alice.token}@`) + '/git/alice/source.git';
  await inWork('push', '--quiet', remote, 'trunk:main', 'trunk:old');
  t.equal(
    await reasonOf(mirrors.save(viewerOf(alice), await found('source'), settings())),
    'repository_not_empty',
    'a copy does not begin with branches of its own',
  );
  await mirrors.save(
    viewerOf(alice),
    await found('source'),
    settings({ direction: 'push', address: `${there.url}/git/bob/target.git` }),
  );
  await mirrors.runDue();
  const target = async () => [
    ...(
      await there.modules.git.refs.list((await there.modules.repositories.find(viewerOf(bob), 'bob', 'target')).path)
    ).keys(),
  ];
  t.same(await target(), ['refs/heads/main', 'refs/heads/old']);
  await inWork('push', '--quiet', remote, 'trunk:new', ':old');
  await repositories.pushes.finish();
  await mirrors.runDue();
  t.same(await target(), ['refs/heads/main', 'refs/heads/new']);
  t.match(await mirrorOf('source'), { state: 'ok' });

  // Asked for during a run, whose push is past the refs that it has read.
  const source = (await found('source')).repository.id;
  const { remotes } = here.modules.git;
  const { push } = remotes;
  remotes.push = async (...request) => {
    remotes.push = push;
    const refused = await push(...request);
    await mirrors.sync(source);
    return refused;
  };
  await inWork('push', '--quiet', remote, 'trunk:newer');
  await repositories.pushes.finish();
  t.equal((await mirrors.runDue()) + (await mirrors.runDue()), 2, 'it runs once more');
});

t.test('an import is done once, and the repository is one like any other then', async (t) => {
  const { mirrors, repositories } = here.modules;
  t.equal(
    await reasonOf(
      mirrors.import(viewerOf(alice), {
        name: 'imported',
        visibility: 'PRIVATE',
        address: `${there.url}/git/bob/none.git`,
        keepMirroring: false,
      }),
    ),
    'mirror_address_refused',
  );
  t.equal(
    await reasonOf(found('imported')),
    'repository_not_found',
    'nothing is made for an address that does not work',
  );
  await mirrors.import(viewerOf(alice), {
    name: 'imported',
    visibility: 'PRIVATE',
    address: address(),
    username: 'bob',
    secret: bob.token,
    keepMirroring: false,
  });
  await mirrors.runDue();
  t.same(await refsOf('imported'), ['refs/heads/trunk', 'refs/tags/v1']);
  t.equal((await found('imported')).repository.defaultBranch, 'trunk');
  t.equal(await mirrorOf('imported'), null);
  t.equal(
    (await here.modules.git.remotes.fetchedRefs((await found('imported')).path)).size,
    0,
    'and leaves no hidden names',
  );
  const remote = here.url.replace('://', `://x:${alice.token}@`) + '/git/alice/imported.git';
  await inWork('push', '--quiet', remote, 'trunk:mine');
  t.same(await here.modules.git.maintenance.check((await found('imported')).path), []);
  await mirrors.end(viewerOf(alice), await found('copy'));
  t.equal(await mirrorOf('copy'), null);
  await repositories.pushes.finish();
});
