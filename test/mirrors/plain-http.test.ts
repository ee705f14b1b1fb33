// Mirrors and imports over plain http: git http-backend on hosts that an administrator has named, and on others.
import { createServer } from 'node:http';
import path from 'node:path';
import t from 'tap';
import type { PersonViewer } from '../../src/access/index.ts';
import type { MirrorInput } from '../../src/mirrors/index.ts';
import { reasonOf } from '../ci/ci-fixture.ts';
import { freePort } from '../fixtures/free-port.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import type { Hearth, TestPerson } from '../fixtures/start-hearth.ts';
import { addCommit, startHttpRemote, createBareRepository, readRefs } from './remote-servers.ts';
import type { HttpRemoteServer } from './remote-servers.ts';

t.setTimeout(120_000);

let [first, second, third]: [HttpRemoteServer, HttpRemoteServer, HttpRemoteServer] = [] as never;
let here: Hearth;
let alice: TestPerson;
let giteaPort: number;
let viewer: PersonViewer;
const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

t.before(async () => {
  giteaPort = await freePort();
  first = await startHttpRemote(t, { address: '127.0.0.2', password: 'bob:first password' });
  second = await startHttpRemote(t, { address: '127.0.0.3' });
  third = await startHttpRemote(t, { address: '127.0.0.4' });
  // 127.0.0.4 is named without its port, so only its default ports are open. No development switch is on.
  here = await startHearth(t, {
    env: { SERVICE_MIRRORS_ALLOWED_HOSTS: `${first.host},${second.host},127.0.0.4,127.0.0.5:${giteaPort}` },
  });
  alice = await here.addPerson('alice');
  viewer = {
    kind: 'person',
    id: alice.id,
    username: 'alice',
    isAdministrator: false,
    via: 'session',
    scope: 'admin',
    repositoryIds: null,
  };
  for (const side of [first, second, third]) createBareRepository(side.folder, 'tool.git');
});

const found = (name: string) => here.modules.repositories.find(viewer, 'alice', name);
const make = (name: string) => here.modules.repositories.create(viewer, { name, visibility: 'PRIVATE' });
const settings = (more: Partial<MirrorInput>): MirrorInput => ({
  direction: 'pull',
  address: `${first.url}/tool.git`,
  intervalMs: 8 * 3_600_000,
  prune: true,
  ...more,
});
const save = async (name: string, more: Partial<MirrorInput>) =>
  here.modules.mirrors.save(viewer, await found(name), settings(more));
const refsOf = async (name: string) => new Map(await here.modules.git.refs.list((await found(name)).path));
const row = async (name: string): Promise<{ url: string; secret_ciphertext: string | null }> =>
  (
    await here.modules.db.read.query('SELECT * FROM mirrors WHERE repository_id = ?', [
      (await found(name)).repository.id,
    ])
  )[0];

t.test('http is for named hosts and ports: a mirror pulls, another pushes, a third imports', async (t) => {
  await make('copy');
  await save('copy', { username: 'bob', secret: 'first password' });
  await here.modules.mirrors.runDue();
  t.strictSame(await refsOf('copy'), readRefs(path.join(first.folder, 'tool.git')));
  t.ok(first.authorizations.includes(basic('bob:first password')));

  createBareRepository(second.folder, 'target.git', { isEmpty: true });
  await here.modules.mirrors.end(viewer, await found('copy'));
  await save('copy', { direction: 'push', address: `${second.url}/target.git` });
  await here.modules.mirrors.runDue();
  t.strictSame(readRefs(path.join(second.folder, 'target.git')), await refsOf('copy'));

  await here.modules.mirrors.import(viewer, {
    name: 'imported',
    visibility: 'PRIVATE',
    address: `${second.url}/tool.git`,
    keepMirroring: false,
  });
  await here.modules.mirrors.runDue();
  t.strictSame(await refsOf('imported'), readRefs(path.join(second.folder, 'tool.git')));
});

t.test(
  'a host that is not named, or another port of one that is, is refused in words that name the entry',
  async (t) => {
    await make('guarded');
    const refusal = async (address: string): Promise<string> =>
      save('guarded', { address }).then(
        () => 'taken',
        (error: { reason: string; message: string }) => `${error.reason}: ${error.message}`,
      );
    t.match(
      await refusal(`${third.url}/tool.git`),
      `mirror_address_refused: Only https is allowed; http and ssh are for hosts that an administrator has named. An administrator can allow the host: mirrors.allowed_hosts = ["${third.host}"].`,
    );
    t.match(await refusal('http://git.example.org/tool.git'), /= \["git\.example\.org"\]\.$/);
    t.match(await refusal('ssh://git@git.example.org:2222/tool.git'), /= \["git\.example\.org:2222"\]\.$/);
    t.match(await refusal('git@git.example.org:tool.git'), /= \["git\.example\.org"\]\.$/);
    t.match(await refusal('https://10.0.0.1/tool.git'), /not a public address.*= \["10\.0\.0\.1"\]\.$/);
    // Named, so this goes further: nothing listens on the default port.
    t.match(await refusal('http://127.0.0.4/tool.git'), /^mirror_address_refused: (?!Only https|.*public)/);
    t.strictSame(third.authorizations, [], 'it was never asked');
  },
);

t.test('a mirror that is pointed at another host never sends it the old password', async (t) => {
  await make('moved');
  await save('moved', { username: 'bob', secret: 'first password' });
  await here.modules.mirrors.runDue();
  t.ok((await row('moved')).secret_ciphertext);

  second.authorizations.length = 0;
  await save('moved', { username: 'bob', address: `${second.url}/tool.git` });
  await here.modules.mirrors.runDue();
  t.ok(second.authorizations.length >= 2, 'it was tried, and synced');
  t.notMatch(second.authorizations.join(), /Basic (?!Ym9iOg==)/, 'with the user name at most');
  t.notMatch(
    second.authorizations
      .map((header) => Buffer.from(String(header).replace('Basic ', ''), 'base64').toString())
      .join(),
    /first password/,
  );
  t.equal((await row('moved')).secret_ciphertext, null, 'and it is not kept for later');

  t.equal(await reasonOf(save('moved', { username: 'bob' })), 'mirror_address_refused', 'nor does it come back');
});

t.test('a password belongs to its host also where the address was changed behind the program', async (t) => {
  await make('edited');
  await save('edited', { username: 'bob', secret: 'first password' });
  const { id } = (await found('edited')).repository;
  await here.modules.mirrors.runDue();
  second.authorizations.length = 0;
  await here.modules.db.write(({ manager }) =>
    manager.query('UPDATE mirrors SET url = ?, next_at = 0 WHERE repository_id = ?', [`${second.url}/tool.git`, id]),
  );
  await here.modules.mirrors.runDue();
  t.match(await here.modules.mirrors.find(id), { state: 'failing 1', lastError: /cannot be decrypted/ });
  t.strictSame(second.authorizations, []);
});

t.test('https to http of one host is another host for a password', async (t) => {
  await make('downgraded');
  await save('downgraded', { username: 'bob', secret: 'first password' });
  const { id } = (await found('downgraded')).repository;
  await here.modules.mirrors.runDue();
  // As it would be kept of https: sealed for that origin.
  await here.modules.db.write(({ manager }) =>
    manager.query('UPDATE mirrors SET url = ? WHERE repository_id = ?', [
      `${first.url.replace('http:', 'https:')}/tool.git`,
      id,
    ]),
  );
  first.authorizations.length = 0;
  t.equal(await reasonOf(save('downgraded', { username: 'bob' })), 'mirror_address_refused');
  t.notMatch(first.authorizations.join(), basic('bob:first password'));
});

t.test('a sync that is asked for during a sync is done after it', async (t) => {
  const { mirrors } = here.modules;
  await make('asked');
  const bare = createBareRepository(second.folder, 'asked.git');
  await save('asked', { address: `${second.url}/asked.git` });
  await mirrors.runDue();
  const { id } = (await found('asked')).repository;
  // The remote has served a sync with its objects; before that sync ends it moves on, and a second request comes.
  let late: string | null = null;
  second.beforeResponse = async (body) => {
    if (late !== null || !body.includes('packfile')) return;
    late = addCommit(bare, 'main', 'three');
    await mirrors.sync(id);
  };
  const two = addCommit(bare, 'main', 'two');
  await mirrors.sync(id);
  await mirrors.runDue();
  second.beforeResponse = null;
  t.not(late, null);
  t.not(late, two);
  t.equal((await refsOf('asked')).get('refs/heads/main'), late, 'without another wait for the interval');
});

t.test('a Gitea in the own network lists all its repositories, page by page, and they are imported', async (t) => {
  const { mirrors } = here.modules;
  const requestedUrls: string[] = [];
  // Gitea's paging: `limit` up to 50, 30 when it is not given, `Link` while there is more.
  const gitea = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://gitea');
    requestedUrls.push(`${url.pathname} ${request.headers.authorization ?? ''}`);
    const limit = Math.min(Number(url.searchParams.get('limit') ?? 30), 50);
    const page = Number(url.searchParams.get('page') ?? 1);
    const all = Array.from({ length: 120 }, (_, index) => ({
      name: `tool-${index}`,
      full_name: `bob/tool-${index}`,
      clone_url: `${second.url}/tool.git`,
      description: '',
      private: true,
    }));
    const rows = all.slice((page - 1) * limit, page * limit);
    if (page * limit < all.length)
      response.setHeader('Link', `<http://gitea/?page=${page + 1}>; rel="next",<http://gitea/?page=3>; rel="last"`);
    else response.setHeader('Link', '<http://gitea/?page=1>; rel="first"');
    response.end(JSON.stringify(rows));
  });
  await new Promise<void>((resolve) => gitea.listen(giteaPort, '127.0.0.5', resolve));
  t.teardown(() => gitea.close());
  const account = { login: 'bob', isStarred: false, secret: 'token' };
  const listed = await mirrors.repositoriesAt({ ...account, api: `http://127.0.0.5:${giteaPort}/api/v1` });
  t.equal(new Set(listed.map(({ fullName }) => fullName)).size, 120);
  t.strictSame([...new Set(requestedUrls)], ['/api/v1/user/repos Bearer token']);
  await mirrors.import(viewer, {
    name: listed[0]!.name,
    visibility: 'PRIVATE',
    address: listed[0]!.cloneUrl,
    keepMirroring: false,
  });
  await mirrors.runDue();
  t.ok((await refsOf('tool-0')).size > 0);

  requestedUrls.length = 0;
  const refusal = await mirrors
    .repositoriesAt({ ...account, api: `http://127.0.0.5:${giteaPort + 1}/api/v1` })
    .catch((error: unknown) => error);
  t.match(refusal, { reason: 'elsewhere_refused', message: `mirrors.allowed_hosts = ["127.0.0.5:${giteaPort + 1}"]` });
  t.strictSame(requestedUrls, [], 'the token went nowhere');
});
