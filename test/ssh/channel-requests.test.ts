import t from 'tap';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { exec, startSsh } from './ssh-fixture.ts';
import type { KeyFiles, ClientResult } from './ssh-fixture.ts';

const hearth = await startSsh(t, { env: { SERVICE_BASE_URL: 'https://git.example.org' } });
const alice = await hearth.person('alice');
const bob = await hearth.person('bob');
const { repositories } = hearth.modules;
await repositories.create(alice.viewer, { name: 'site', visibility: 'PRIVATE', description: 'The site of alice' });
await repositories.create(bob.viewer, { name: 'tools', visibility: 'PUBLIC' });

const asAlice = (words: string[], more: { options?: string[]; flags?: string[] } = {}): Promise<ClientResult> =>
  hearth.ssh(words, { keys: [alice.key], ...more });
const fixedLine = 'hearth: only git and a few words are understood here; "help" lists them\n';

t.test('security F04: an unknown command gets one fixed line and runs nothing', async (t) => {
  const trap = path.join(hearth.folder, 'trap');
  const lines = [
    `touch ${trap}`,
    `git-upload-pack '/alice/site.git'; touch ${trap}`,
    `git-upload-pack '/alice/site.git' $(touch ${trap})`,
    `git-upload-pack "$(touch ${trap})"`,
    `git-upload-pack '--upload-pack=touch ${trap}'`,
    `git-upload-pack '/alice/site.git\n' touch ${trap}`,
    "git-shell -c 'git-upload-pack x'",
    'scp -t /tmp/x',
    'rsync --server -e.LsfxC . /tmp',
    'bash -i',
    'exit',
    'x'.repeat(20_000),
    '\u001b[2J',
    '\0',
    ' ',
  ];
  const client = await hearth.client(t, { privateKey: alice.key.privateKey });
  for (const line of lines) {
    t.same(await exec(client, line), { code: 1, stdout: '', stderr: fixedLine }, JSON.stringify(line.slice(0, 60)));
  }
  t.notOk(existsSync(trap));
});

t.test('a path in another program’s form is rejected with the accepted form', async (t) => {
  const { port } = hearth;
  const meant = `, here ssh://git@git.example.org:${port}/alice/site.git`;
  const examples: [string, string][] = [
    ['~/alice/site', meant],
    ['alice//site', meant],
    ['/git/alice/site.git', meant],
    ['/~alice/site.git', meant],
    ['../../data', ''],
    ['site', ''],
  ];
  for (const [path, example] of examples) {
    t.strictSame(
      await asAlice([`git-upload-pack '${path}'`]),
      { code: 1, stdout: '', stderr: `hearth: there is no repository at this path; write OWNER/NAME${example}\n` },
      path,
    );
  }
});

t.test('git-lfs gets the address on the web and a token, if git would be served', async (t) => {
  const lfs = (key: KeyFiles, repository: string, operation: string) =>
    hearth.ssh([`git-lfs-authenticate ${repository} ${operation}`], { keys: [key] });
  const tokenOf = async (key: KeyFiles, repository: string, operation: string) => {
    const { code, stdout, stderr } = await lfs(key, repository, operation);
    t.strictSame([code, stderr], [0, '']);
    const { href, header, expires_in: seconds } = JSON.parse(stdout);
    t.strictSame(
      [href, seconds],
      [`https://git.example.org/git/${repository.replace('.git', '')}.git/info/lfs`, 1_800],
    );
    const grant = await hearth.modules.lfs.tokens.verify(header.Authorization.replace('Bearer ', ''));
    return grant ?? t.fail('the token is not good');
  };
  const site = (await repositories.find(alice.viewer, 'alice', 'site')).repository.id;
  for (const operation of ['upload', 'download']) {
    const grant = await tokenOf(alice.key, 'alice/site.git', operation);
    t.match(grant, { repositoryId: site, operation, object: null, viewer: { id: alice.id, repositoryIds: [site] } });
    const hidden = await lfs(bob.key, 'alice/site.git', operation);
    t.strictSame(hidden, { code: 1, stdout: '', stderr: 'hearth: repository not found\n' });
    t.strictSame(await lfs(bob.key, 'alice/absent.git', operation), hidden);
  }
  t.match(await tokenOf(alice.key, 'alice/site.git', 'download'), { viewer: { scope: 'read' } });
  await tokenOf(alice.key, 'bob/tools', 'download');
  t.match(await tokenOf(alice.key, 'bob/tools', 'upload'), { operation: 'upload' }, 'a reader may push for review');
  const transfer = await asAlice(["git-lfs-transfer '/alice/site.git' upload"]);
  t.match(transfer, { code: 1, stdout: '', stderr: /over HTTP here/ }, 'clients ask as above then');
});

t.test('security F03: terminal, subsystems and every kind of forwarding are refused', async (t) => {
  t.match(await asAlice(['whoami'], { flags: ['-tt'] }), { code: 255, stderr: /PTY allocation request failed/ });
  // Programs like sftp and scp show their user what arrives on stderr.
  const noFiles = {
    code: 1,
    stdout: '',
    stderr: 'hearth: there are no files to copy here; use git, or "git archive --remote"\n',
  };
  t.strictSame(await asAlice(['sftp'], { flags: ['-s'] }), noFiles);
  t.strictSame(await asAlice(['whoami'], { flags: ['-s'] }), noFiles);
  t.match(await asAlice([], { flags: ['-W', '127.0.0.1:22'] }), {
    code: 255,
    stderr: /administratively prohibited: hearth: there are no tunnels here; this server speaks git/,
  });
  const failing = { options: ['ExitOnForwardFailure=yes'] };
  t.match(await asAlice(['whoami'], { ...failing, flags: ['-R', '127.0.0.1:0:127.0.0.1:22'] }), {
    code: 255,
    stderr: /remote port forwarding failed/,
  });
  t.match(await asAlice(['whoami'], { ...failing, flags: ['-R', `${hearth.folder}/r.sock:127.0.0.1:22`] }), {
    code: 255,
    stderr: /forwarding failed/,
  });
  t.notOk(existsSync(`${hearth.folder}/r.sock`));

  const client = await hearth.client(t, { privateKey: alice.key.privateKey });
  const refused = (work: (done: (error?: Error) => void) => void) =>
    t.rejects(
      new Promise<void>((resolve, reject) => work((error) => (error === undefined ? resolve() : reject(error)))),
    );
  await refused((done) => client.forwardOut('127.0.0.1', 1, '127.0.0.1', 22, (error) => done(error)));
  await refused((done) => client.openssh_forwardOutStreamLocal('/tmp/x.sock', (error) => done(error)));
  await refused((done) => client.forwardIn('127.0.0.1', 0, (error) => done(error)));
  await refused((done) => client.exec('whoami', { x11: true }, (error) => done(error)));
  await refused((done) => client.shell({ term: 'xterm' }, (error) => done(error)));
  t.same(await exec(client, 'whoami'), { code: 0, stdout: 'alice\n', stderr: '' }, 'and the connection is still good');
});

t.test('a shell shows the account and its repositories', async (t) => {
  t.match(await asAlice([], { flags: ['-T'] }), {
    code: 0,
    stdout: 'Hello alice. This is Hearth; there is no shell here.\n\nYour repositories:\n  alice/site  private\n',
    stderr: '',
  });
  const { key } = await hearth.person('newcomer');
  t.match((await hearth.ssh([], { keys: [key], flags: ['-T'] })).stdout, 'You have no repositories yet.');
});

t.test('the commands list and create repositories under the access policy', async (t) => {
  t.match((await asAlice(['help'])).stdout, /repo create/);
  t.equal((await asAlice(['hearth', 'whoami'])).stdout, 'alice\n');
  t.match((await asAlice(['repo', 'list'])).stdout, /^alice\/site\tPRIVATE\t\d{4}-\d\d-\d\dT[\d:]+Z\n$/);
  t.match(
    (await asAlice(['repo', 'list', '--all'])).stdout
      .split('\n')
      .map((line) => line.split('\t')[0])
      .sort(),
    ['', 'alice/site', 'bob/tools'],
  );
  t.same((await hearth.ssh(['repo', 'list', '--all'], { keys: [bob.key] })).stdout.split('\t')[0], 'bob/tools');
  t.match(
    (await asAlice(['repo', 'info', 'ALICE/Site.git'])).stdout,
    ['name\talice/site', 'visibility\tPRIVATE', 'description\tThe site of alice', 'default branch\tmain'].join('\n'),
  );
  t.match(
    (await asAlice(['repo', 'info', 'alice/site'])).stdout,
    `clone\tssh://git@git.example.org:${hearth.port}/alice/site.git\n`,
  );

  t.match(await asAlice(['repo', 'create', 'notes', '--public', '--description', 'Of all sorts']), {
    code: 0,
    stdout: /^Created alice\/notes\. Clone it with: git clone ssh:/,
  });
  const { repository } = await repositories.find(alice.viewer, 'alice', 'notes');
  t.match(repository, { visibility: 'PUBLIC', description: 'Of all sorts' });
  t.match(await asAlice(['repo', 'create', 'notes']), {
    code: 1,
    stderr: /^hearth: .*already has a repository named notes/,
  });
  t.match(await asAlice(['repo', 'create', 'bob/mine']), { code: 1, stderr: /^hearth: This owner does not exist/ });
});

t.test('a long list is complete', async (t) => {
  const { list } = repositories;
  t.teardown(() => (repositories.list = list));
  const [row] = (await list(alice.viewer, { limit: 1 })).repositories;
  repositories.list = async (_viewer, { after }) => {
    const page = Number(after ?? 0);
    const names = Array.from({ length: 100 }, (_, index) => ({ ...row!, name: `r${page * 100 + index}` }));
    return { repositories: names, next: page < 9 ? String(page + 1) : null, previous: null };
  };
  const { stdout } = await asAlice(['repo', 'list']);
  t.equal(new Set(stdout.trim().split('\n')).size, 1_000);
});

t.test('security E03: a hidden repository and an absent one give the same bytes', async (t) => {
  const runCommand = (command: string) => hearth.ssh([command], { keys: [bob.key] });
  for (const command of ["git-upload-pack '%'", "git-receive-pack '%'", "git-upload-archive '%'", 'repo info %']) {
    const hidden = await runCommand(command.replace('%', 'alice/site'));
    t.same(hidden, await runCommand(command.replace('%', 'alice/absent')));
    t.same(hidden, await runCommand(command.replace('%', 'nobody/site')));
    t.same(hidden, { code: 1, stdout: '', stderr: 'hearth: repository not found\n' });
  }
});

t.test('an internal error shows an id, which is in the log too', async (t) => {
  const { find } = repositories;
  t.teardown(() => (repositories.find = find));
  repositories.find = () => Promise.reject(new Error('disk /dev/x is broken'));
  const { code, stderr } = await asAlice(['repo', 'info', 'alice/site']);
  const [, id] = /^hearth: internal error \(([0-9a-f]{8})\)\n$/.exec(stderr) ?? [];
  t.equal(code, 1);
  t.match(hearth.events('ssh.fault'), [{ faultId: id, error: { message: 'disk /dev/x is broken' } }]);
});
