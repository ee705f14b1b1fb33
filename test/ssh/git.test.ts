// runs alone: it measures the memory of its process
import t from 'tap';
import { randomBytes } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ClientChannel } from 'ssh2';
import { makeBareRepository, runGit } from '../fixtures/git-repositories.ts';
import { startSsh } from './ssh-fixture.ts';
import type { ClientResult, RunOptions } from './ssh-fixture.ts';
import { rowOrder } from '../fixtures/test-database.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const hearth = await startSsh(t);
const alice = await hearth.person('alice');
const bob = await hearth.person('bob');
const { repositories, git: gitModule, db } = hearth.modules;

const site = hearth.url('alice/site.git');
const git = (args: string[], more: RunOptions = {}): Promise<ClientResult> =>
  hearth.git(args, { keys: [alice.key], ...more });
const at = (name: string) => path.join(hearth.work, name);
const good = async (args: string[], more: RunOptions = {}): Promise<string> => {
  const { code, stdout, stderr } = await git(args, more);
  if (code !== 0) throw new Error(`git ${args.join(' ')} ended with ${code}\n${stderr}`);
  return stdout + stderr;
};
const create = async (name: string, visibility: 'PUBLIC' | 'PRIVATE' = 'PRIVATE') => {
  await repositories.create(alice.viewer, { name, visibility });
  return (await repositories.find(alice.viewer, 'alice', name)).path;
};
const idle = () =>
  waitUntil(() => {
    const { reads, writes, short } = gitModule.load();
    return reads.running + writes.running + short.running === 0;
  });

const source = await makeBareRepository(hearth.folder, { commits: 60, branches: ['next'] });
const sitePath = await create('site');
await create('public', 'PUBLIC');
await good(['push', '--quiet', site, 'main', 'next'], { cwd: source });

t.test('pushed data is fetched unchanged, in all versions of the protocol', async (t) => {
  const head = await runGit(['rev-parse', 'main'], { cwd: source });
  for (const version of ['0', '1', '2']) {
    const v = ['-c', `protocol.version=${version}`];
    t.match(await good([...v, 'ls-remote', site]), `${head.trim()}\trefs/heads/main`, `ls-remote ${version}`);
    await good([...v, 'clone', '--quiet', site, at(`clone-${version}`)]);
    const clone = at(`clone-${version}`);
    t.equal(await runGit(['rev-parse', 'HEAD'], { cwd: clone }), head);
    await runGit(['fsck', '--full'], { cwd: clone });

    writeFileSync(path.join(clone, `new-${version}`), version);
    await runGit(['add', '.'], { cwd: clone });
    await runGit(['commit', '-qm', 'New'], { cwd: clone });
    await good([...v, 'push', 'origin', `HEAD:pushed-${version}`], { cwd: clone });
    t.match(await good([...v, 'push', 'origin', `HEAD:pushed-${version}`], { cwd: clone }), 'Everything up-to-date');
    await good([...v, 'fetch', '--quiet', '--prune'], { cwd: clone });
  }
  await runGit(['fsck', '--full'], { cwd: sitePath });
  t.ok(await idle(), 'and no git is left');
});

t.test('the environment sets the protocol version, and nothing else', async (t) => {
  const trace = async (version: string) => {
    const { stderr } = await git(['-c', `protocol.version=${version}`, 'ls-remote', site], {
      env: { GIT_TRACE_PACKET: '1' },
    });
    return /ls-remote< (version \d|[0-9a-f]{40} HEAD)/.exec(stderr)?.[1]?.replace(/^[0-9a-f]+ /, '');
  };
  t.equal(await trace('0'), 'HEAD');
  t.equal(await trace('1'), 'version 1');
  t.equal(await trace('2'), 'version 2');

  const firstLine = async (...variables: string[]) => {
    const command = ["git-upload-pack '/alice/site.git'"];
    const { stdout } = await hearth.ssh(command, {
      keys: [alice.key],
      options: [`SetEnv=${variables.join(' ')}`],
      input: '0000',
    });
    return stdout.split('\n')[0];
  };
  t.match(await firstLine('GIT_PROTOCOL=version=2'), /^000eversion 2$/);
  const trap = at('trap');
  for (const injected of [
    'GIT_PROTOCOL=version=3',
    'GIT_PROTOCOL=version=2:x',
    'GIT_PROTOCOL=',
    `GIT_DIR=${trap}`,
    `GIT_TRACE=${trap}`,
    'GIT_CONFIG_COUNT=1',
    `PATH=${trap}`,
    `LD_PRELOAD=${trap}`,
    `HOME=${trap}`,
  ]) {
    t.match(await firstLine(injected), /^[0-9a-f]{44} HEAD\0/, injected);
  }
  t.notOk(existsSync(trap));
});

t.test('a repository is found by every form of its address', async (t) => {
  const { port } = hearth;
  for (const address of [
    `ssh://git@127.0.0.1:${port}/alice/site.git`,
    `ssh://git@127.0.0.1:${port}/alice/site`,
    `ssh://git@127.0.0.1:${port}//ALICE/Site.git/`,
    'git@127.0.0.1:alice/site.git',
    'git@127.0.0.1:/alice/site',
    '127.0.0.1:Alice/SITE',
  ]) {
    t.equal((await git(['ls-remote', address], { options: [`Port=${port}`] })).code, 0, address);
  }
  for (const address of [
    'ssh://git@127.0.0.1/~alice/site.git',
    'git@127.0.0.1:~/site.git',
    'git@127.0.0.1:site.git',
    'git@127.0.0.1:alice/site.git.git',
  ]) {
    t.equal((await git(['ls-remote', address], { options: [`Port=${port}`] })).code, 128, address);
  }
});

t.test('shallow and partial clones, later fetches and archives work', async (t) => {
  await good(['clone', '--quiet', '--depth=1', site, at('shallow')]);
  t.equal(await runGit(['rev-list', '--count', 'HEAD'], { cwd: at('shallow') }), '1\n');
  await good(['fetch', '--quiet', '--unshallow'], { cwd: at('shallow') });
  t.equal(await runGit(['rev-list', '--count', 'HEAD'], { cwd: at('shallow') }), '60\n');
  await good(['clone', '--quiet', '--filter=blob:none', site, at('partial')]);
  const { code, stdout } = await git(['archive', '--format=tar', `--remote=${site}`, 'main', 'source']);
  t.equal(code, 0);
  t.match(stdout, 'source/part-');
  t.match(await git(['archive', `--remote=${site}`, 'no-such-branch']), { code: 1, stderr: /no such ref/ });
});

t.test('a push is journalled with its transport, and refusals per branch reach the client', async (t) => {
  const clone = at('pushes');
  await good(['clone', '--quiet', site, clone]);
  const outcome = await git(
    ['push', '--porcelain', 'origin', 'HEAD:refs/heads/one', 'HEAD:refs/heads/two', 'HEAD:refs/internal/x'],
    { cwd: clone },
  );
  t.equal(outcome.code, 1);
  t.match(outcome.stdout, /\[remote rejected\]/);
  await good(['push', '-o', 'a=b', 'origin', 'HEAD:refs/heads/three', ':refs/heads/next'], { cwd: clone });
  const [push] = await db.read.query(
    `SELECT via, user_id, settled_at FROM pushes ORDER BY created_at DESC, ${rowOrder(db)} DESC LIMIT 1`,
  );
  t.match(push, { via: 'ssh', user_id: alice.id, settled_at: Number });
  const refs = [...(await gitModule.refs.list(sitePath)).keys()];
  t.ok(refs.includes('refs/heads/three'));
  t.notOk(refs.includes('refs/heads/next'));
});

t.test('a reader who may not write gets that reason; others get none', async (t) => {
  const clone = at('foreign');
  await good(['clone', '--quiet', hearth.url('alice/public'), clone], { keys: [bob.key] });
  const push = (repository: string) => git(['push', hearth.url(repository), 'main'], { cwd: source, keys: [bob.key] });
  t.match(await push('alice/public'), {
    code: 1,
    stderr: /! \[remote rejected\] main -> main \(you may not write here; to propose a change: .*refs\/for\/main\)/,
  });
  const hidden = await push('alice/site');
  t.match(hidden, { code: 128, stderr: /^hearth: repository not found\n/ });
  t.same(await push('alice/nothing'), hidden);
  t.same(await gitModule.refs.list((await repositories.find(alice.viewer, 'alice', 'public')).path), new Map());
});

t.test('a reader pushes for review, where a repository is seen', async (t) => {
  const path = await create('reviewed', 'PUBLIC');
  await good(['push', '--quiet', hearth.url('alice/reviewed'), 'main~1:refs/heads/main'], { cwd: source });
  const push = (...args: string[]) => git(['push', ...args], { cwd: source, keys: [bob.key] });
  const pushed = await push('-o', 'title=By key', hearth.url('alice/reviewed'), 'main:refs/for/main/keys');
  t.match(pushed, { code: 0, stderr: /main -> refs\/pull\/1\/head/ });
  const head = (await runGit(['rev-parse', 'main'], { cwd: source })).trim();
  t.equal((await gitModule.refs.list(path)).get('refs/pull/1/head'), head);
  const opened = () => hearth.modules.pulls.find(bob.viewer, { owner: 'alice', name: 'reviewed', number: 1 });
  await waitUntil(() => opened().then(Boolean, () => false));
  t.match(await opened(), {
    issue: { title: 'By key', authorId: bob.viewer.id },
    pull: { topic: 'keys', headOid: head },
  });
  t.match(await push(hearth.url('alice/site'), 'main:refs/for/main'), {
    code: 128,
    stderr: /^hearth: repository not found\n/,
  });
});

t.test('re-keying every few kilobytes does not break a transfer', async (t) => {
  const big = at('big');
  mkdirSync(big);
  await runGit(['init', '-q', '-b', 'main'], { cwd: big });
  await runGit(['config', 'core.compression', '0'], { cwd: big });
  writeFileSync(path.join(big, 'data'), randomBytes(3_000_000));
  await runGit(['add', '.'], { cwd: big });
  await runGit(['commit', '-qm', 'Big'], { cwd: big });
  const options = ['RekeyLimit=512K'];
  await create('big');
  await good(['push', '--quiet', hearth.url('alice/big'), 'main'], { cwd: big, options });
  await good(['clone', '--quiet', hearth.url('alice/big'), at('big-clone')], { options });
  await runGit(['fsck', '--full'], { cwd: at('big-clone') });
});

t.test('clones at the same time get every byte, with each form of encryption, while keys change', async (t) => {
  const forms = [
    ['Ciphers=aes128-gcm@openssh.com'],
    ['Ciphers=aes256-gcm@openssh.com', 'RekeyLimit=512K'],
    ['Ciphers=aes128-ctr', 'MACs=hmac-sha2-256-etm@openssh.com'],
    ['Ciphers=aes256-ctr', 'MACs=hmac-sha2-512', 'RekeyLimit=512K'],
  ];
  const clones = forms.map(async (options, index) => {
    await good(['clone', '--quiet', hearth.url('alice/big'), at(`form-${index}`)], { options });
    await runGit(['fsck', '--full'], { cwd: at(`form-${index}`) });
    writeFileSync(path.join(at(`form-${index}`), 'more'), randomBytes(1_000_000));
    await runGit(['add', '.'], { cwd: at(`form-${index}`) });
    await runGit(['commit', '-qm', 'More'], { cwd: at(`form-${index}`) });
    await good(['push', '--quiet', 'origin', `HEAD:form-${index}`], { cwd: at(`form-${index}`), options });
  });
  t.equal((await Promise.all(clones)).length, forms.length);
});

t.test(
  'commands share one connection of a multiplexing client, and a third at the same time opens its own',
  async (t) => {
    const socket = path.join(hearth.folder, 'mux');
    const options = ['ControlMaster=auto', `ControlPath=${socket}`, 'ControlPersist=yes'];
    t.teardown(() => hearth.ssh([], { options, flags: ['-O', 'exit'] }));
    await good(['ls-remote', site], { options });
    const before = hearth.events('ssh.signed_in').length;
    for (let index = 0; index < 3; index += 1) await good(['ls-remote', site], { options });
    t.equal(hearth.events('ssh.signed_in').length, before);
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => git(['ls-remote', site], { options })));
    t.same(
      outcomes.map(({ code }) => code),
      [0, 0, 0, 0, 0],
    );
  },
);

/** Starts a fetch of everything by hand; the client never reads the response. */
async function neverendingFetch(t: Parameters<typeof hearth.client>[0], repository: string) {
  const client = await hearth.client(t, { privateKey: alice.key.privateKey });
  const channel = await new Promise<ClientChannel>((resolve, reject) => {
    client.exec(`git-upload-pack '/${repository}'`, (error, opened) =>
      error === undefined ? resolve(opened) : reject(error),
    );
  });
  const oid = (await runGit(['rev-parse', 'main'], { cwd: at('big') })).trim();
  const line = `want ${oid} side-band-64k no-progress\n`;
  channel.write(`${(line.length + 4).toString(16).padStart(4, '0')}${line}00000009done\n`);
  return { client, channel };
}

t.test('security I12: no git process outlives its client, however that ended', async (t) => {
  const ways: [string, (fetch: Awaited<ReturnType<typeof neverendingFetch>>) => void][] = [
    ['socket cut', ({ client }) => client.destroy()],
    ['connection ended', ({ client }) => client.end()],
    ['channel closed', ({ channel }) => channel.close()],
  ];
  for (const [name, leave] of ways) {
    t.ok(await idle());
    const fetch = await neverendingFetch(t, 'alice/big');
    t.ok(await waitUntil(() => gitModule.load().reads.running === 1), `${name}: git runs`);
    leave(fetch);
    t.ok(await idle(), `${name}: git is gone`);
  }
  t.equal((await git(['ls-remote', site])).code, 0);
});

t.test('an interrupted push leaves the repository unchanged', async (t) => {
  const target = await create('cut');
  const client = await hearth.client(t, { privateKey: alice.key.privateKey });
  const channel = await new Promise<ClientChannel>((resolve, reject) => {
    client.exec("git-receive-pack '/alice/cut'", (error, opened) =>
      error === undefined ? resolve(opened) : reject(error),
    );
  });
  channel.resume();
  const oid = (await runGit(['rev-parse', 'main'], { cwd: at('big') })).trim();
  const line = `${'0'.repeat(40)} ${oid} refs/heads/main\0 report-status side-band-64k\n`;
  channel.write(`${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`);
  channel.write(Buffer.concat([Buffer.from('PACK\0\0\0\x02\0\0\0\x03'), randomBytes(100)]));
  t.ok(await waitUntil(() => gitModule.load().writes.running === 1));
  client.destroy();
  t.ok(await idle());
  t.ok(
    await waitUntil(async () => (await db.read.query('SELECT 1 FROM pushes WHERE settled_at IS NULL')).length === 0),
  );
  t.same(await gitModule.refs.list(target), new Map());
  await good(['push', '--quiet', hearth.url('alice/cut'), 'main'], { cwd: at('big') });
});

t.test('a client that stops reading pauses git, and output is not buffered without limit', async (t) => {
  appendFileSync(path.join(at('big'), 'more'), randomBytes(30_000_000));
  await runGit(['add', '.'], { cwd: at('big') });
  await runGit(['commit', '-qm', 'Bigger'], { cwd: at('big') });
  await runGit(['push', '--quiet', (await repositories.find(alice.viewer, 'alice', 'big')).path, 'main'], {
    cwd: at('big'),
  });
  const before = process.memoryUsage().arrayBuffers;
  const { client } = await neverendingFetch(t, 'alice/big');
  (client as unknown as { _sock: { pause(): void } })._sock.pause();
  await new Promise((resolve) => setTimeout(resolve, 500));
  t.ok(process.memoryUsage().arrayBuffers - before < 16_000_000);
});

t.test('an old path is served, with a notice, until the name is used again', async (t) => {
  await create('before');
  await good(['push', '--quiet', hearth.url('alice/before.git'), 'main'], { cwd: source });
  await repositories.rename(alice.viewer, 'alice', 'before', 'after');
  const listed = await git(['ls-remote', hearth.url('Alice/Before.git')]);
  t.equal(listed.code, 0);
  t.match(listed.stdout, /refs\/heads\/main/);
  t.match(listed.stderr, /hearth: alice\/before has moved to alice\/after; please change/i);
  t.match(
    await good(['push', hearth.url('alice/before.git'), 'main:again'], { cwd: source }),
    /has moved to alice\/after/,
    'pushes follow, too',
  );
  const asBob = await git(['ls-remote', hearth.url('alice/before.git')], { keys: [bob.key] });
  const absent = await git(['ls-remote', hearth.url('alice/none.git')], { keys: [bob.key] });
  t.same([asBob.code, asBob.stderr], [absent.code, absent.stderr], 'who may not see it learns nothing');
  await create('before');
  const reused = await git(['ls-remote', hearth.url('alice/before.git')]);
  t.match([reused.code, reused.stdout, reused.stderr], [0, '', ''], 'the new repository of that name');
});

t.test('metrics count git requests over SSH, with their results and bytes', async (t) => {
  await create('counted');
  const source = at('counted-source');
  await runGit(['init', '-q', '-b', 'main', source], { cwd: hearth.work });
  writeFileSync(path.join(source, 'large'), randomBytes(200_000));
  await runGit(['add', '.'], { cwd: source });
  await runGit(['commit', '-qm', 'Large'], { cwd: source });
  const moved = (service: string, result: string) => {
    const found = [...gitModule.traffic.series()].find((each) => each.service === service && each.result === result);
    return found === undefined ? [0, 0, 0] : [found.seconds.count, found.receivedBytes, found.sentBytes];
  };
  const counted = async (service: string, result: string, args: string[]) => {
    const before = moved(service, result);
    await git(args, { cwd: source });
    t.ok(await waitUntil(() => moved(service, result)[0]! > before[0]!));
    return moved(service, result).map((value, index) => value - before[index]!);
  };
  const [pushes, received = 0, responded = 0] = await counted('receive-pack', 'ok', [
    'push',
    '-q',
    hearth.url('alice/counted.git'),
    'main',
  ]);
  t.ok(
    pushes === 1 && received > 200_000 && received < 300_000 && responded > 0 && responded < 10_000,
    `a push: ${received}, ${responded}`,
  );
  const [clones, requested = 0, served = 0] = await counted('upload-pack', 'ok', [
    'clone',
    '-q',
    '--bare',
    hearth.url('alice/counted.git'),
    at('counted-clone'),
  ]);
  t.ok(clones === 1 && requested > 0 && requested < 20_000 && served > 200_000, `a clone: ${requested}, ${served}`);
  t.equal((await counted('upload-pack', 'refused', ['ls-remote', hearth.url('alice/none.git')]))[0], 1);
});
