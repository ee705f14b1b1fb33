// The main task, as a newcomer does it: one command, an account, a push, a clone, the page.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { createFormClient } from './form-client.ts';
import { gitClient } from './git-client.ts';
import { startServerProcess } from './server-process.ts';
import type { ServerVariant } from './server-process.ts';

const programs: ServerVariant[] = ['checkout', 'executable'];
for (const which of programs) {
  t.test(`${which}: setup link → account → repository → push over HTTP → clone over SSH → page`, async (t) => {
    const server = await startServerProcess(t, which);
    const client = gitClient(server.folder);
    const open = createFormClient(server.url);
    t.ok(server.setupLink, 'the start block shows the setup link');
    t.equal((await open('/healthz')).status, 200);

    const password = 'correct horse battery';
    const setup = await open('/setup', {
      token: new URL(server.setupLink!).searchParams.get('token')!,
      handle: 'alice',
      username: 'alice',
      password,
    });
    t.equal(setup.status, 303, 'the first administrator is made');
    t.equal((await open(server.setupLink!)).status, 404, 'the link works once');

    const created = await open('/repos', { name: 'site', visibility: 'PUBLIC', description: 'A <b>bold</b> site' });
    t.equal(created.status, 303);
    t.equal(created.location, '/repos/alice/site');
    t.match((await open('/repos/alice/site')).text, /git push -u origin main/, 'an empty repository says what to do');

    const shown = await open('/settings/tokens', { name: 'laptop', access: 'write', expires_in: '30' });
    t.equal(shown.status, 303);
    const token = /hth_[A-Za-z0-9]{30,}/.exec((await open(shown.location!)).text)?.[0];
    t.ok(token, 'the token is shown once');
    t.notMatch((await open(shown.location!)).text, /hth_[A-Za-z0-9]{30,}/, 'and never again');
    t.equal((await open('/settings/keys', { title: 'laptop', key: client.publicKey })).status, 303);

    const work = path.join(server.folder, 'work');
    mkdirSync(path.join(work, 'docs'), { recursive: true });
    writeFileSync(path.join(work, 'README.md'), '# The site\n\nRead the [guide](docs/guide.md).\n');
    writeFileSync(path.join(work, 'docs/guide.md'), 'Welcome.\n');
    await client.expect(work, 'init', '-q', '-b', 'main');
    await client.expect(work, 'add', '.');
    await client.expect(work, 'commit', '-q', '-m', 'Begin');
    const http = new URL('/git/alice/site.git', server.url);
    http.username = token!;
    await client.expect(work, 'push', '-q', http.href, 'main');

    const clone = path.join(server.folder, 'clone');
    await client.expect(server.folder, 'clone', '-q', `ssh://git@127.0.0.1:${server.sshPort}/alice/site.git`, clone);
    t.equal(await client.expect(clone, 'rev-parse', 'HEAD'), await client.expect(work, 'rev-parse', 'HEAD'));
    t.ok(existsSync(path.join(clone, 'docs/guide.md')));

    const page = (await open('/repos/alice/site')).text;
    t.match(page, /docs/);
    t.match(page, /The site/, 'the README is rendered');
    t.match(page, /A &lt;b&gt;bold&lt;\/b&gt; site/, 'the description is text');

    const addressBar = path.join(server.folder, 'address-bar');
    await client.expect(server.folder, 'clone', '-q', `${server.url}/alice/site`, addressBar);
    t.ok(existsSync(path.join(addressBar, 'README.md')), 'the address in the browser clones, signed out');
    t.equal(await server.stop(), 0);
  });
}

t.test('a history with harmless faults of old tools can be pushed', async (t) => {
  const server = await startServerProcess(t, 'executable');
  const client = gitClient(server.folder);
  await server.command('user', 'add', 'alice', '--random-password');
  const token = await server.command('token', 'add', '--user', 'alice', '--name', 'laptop', '--access', 'write');
  await server.command('repo', 'create', 'alice/old');

  const work = path.join(server.folder, 'work');
  mkdirSync(work);
  await client.expect(work, 'init', '-q', '-b', 'main');
  // The date has a time zone of five digits, as some converters once wrote.
  const tree = await client.expect(work, 'hash-object', '-t', 'tree', '-w', '/dev/null');
  const person = 'Alice <alice@example.org> 1100000000 +051800';
  writeFileSync(path.join(work, 'commit'), `tree ${tree}\nauthor ${person}\ncommitter ${person}\n\nOld\n`);
  const commit = await client.expect(work, 'hash-object', '-t', 'commit', '-w', '--literally', 'commit');
  await client.expect(work, 'update-ref', 'refs/heads/main', commit);
  const response = await client.run(
    work,
    'push',
    `http://${token}@${new URL(server.url).host}/git/alice/old.git`,
    'main',
  );
  t.equal(response.code, 0, response.stderr);
});
