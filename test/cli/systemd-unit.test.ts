// time limit: 180 s
// The systemd unit, tested without systemd: what it forbids is not needed. The server runs as a dynamic user, without
// capabilities, on a root file system that is read-only, and every system call of it and its git is compared with the
// unit's filter.
import { execFileSync } from 'node:child_process';
import { copyFileSync, chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { systemdUnit } from '../../src/cli/serving/systemd-unit.ts';
import { gitClient } from '../e2e/git-client.ts';
import { startServerProcess } from '../e2e/server-process.ts';
import { requiredProgram } from '../fixtures/required-program.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const nobodyUserId = 65_534;
const unit = systemdUnit();

function works(file: string, ...words: string[]): boolean {
  try {
    execFileSync(file, words, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

for (const name of ['strace', 'systemd-analyze', 'setpriv']) requiredProgram(name);

const canTry =
  process.getuid?.() === 0 &&
  works('unshare', '-m', 'setpriv', '--help') &&
  existsSync(new URL('../../dist/hearth', import.meta.url));

/** The system calls of a set, with nested sets resolved. */
function callsOf(set: string): string[] {
  const text = execFileSync('systemd-analyze', ['syscall-filter', '--no-pager', set], { encoding: 'utf8' });
  const names = text
    .split('\n')
    .slice(1)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  return names.flatMap((name) => (name.startsWith('@') ? callsOf(name) : [name]));
}

/** As systemd evaluates the lines: allowed, removed, added again. */
function allowedCalls(): Set<string> {
  const allowed = new Set<string>();
  for (const [, minus, names = ''] of unit.matchAll(/^SystemCallFilter=(~?)(.*)$/gm)) {
    for (const call of names.split(' ').flatMap((name) => (name.startsWith('@') ? callsOf(name) : [name]))) {
      if (minus === '~') allowed.delete(call);
      else allowed.add(call);
    }
  }
  return allowed;
}

t.test('systemd accepts every line of the unit', async (t) => {
  const folder = temporaryFolder(t);
  const file = path.join(folder, 'hearth.service');
  writeFileSync(file, systemdUnit('/bin/true'));
  t.equal(
    execFileSync('sh', ['-c', 'systemd-analyze verify "$1" 2>&1 | grep hearth.service || true', 'sh', file], {
      encoding: 'utf8',
    }),
    '',
  );
});

if (process.getuid?.() === 0) {
  t.test('the user of the service can read the settings that root made for it, and not write them', async (t) => {
    const folder = temporaryFolder(t);
    chmodSync(folder, 0o755);
    const file = path.join(folder, 'etc', 'hearth', 'hearth.toml');
    const hearth = new URL('../../bin/hearth', import.meta.url).pathname;
    const verdict = execFileSync(
      'sh',
      [
        '-c',
        'umask 077; "$@" 2>&1',
        'sh',
        hearth,
        'init',
        '--config',
        file,
        '--data-dir',
        path.join(folder, 'data'),
        '--user',
        'nobody',
      ],
      { encoding: 'utf8' },
    );
    t.match(verdict, /systemctl enable --now hearth/);
    t.notMatch(verdict, /useradd/, 'the user is there');
    const asService = (...words: string[]) =>
      works('setpriv', '--reuid', String(nobodyUserId), '--regid', String(nobodyUserId), '--clear-groups', ...words);
    t.ok(asService('test', '-r', file));
    t.notOk(asService('test', '-w', file));
    t.ok(asService('test', '-w', path.join(folder, 'data')));
  });
} else {
  t.test('the settings that root made', { skip: 'needs root' }, async () => {});
}

if (canTry) {
  t.test('the server needs nothing that the unit forbids', async (t) => {
    const folder = temporaryFolder(t);
    for (const name of ['data', 'bin', 'trace']) mkdirSync(path.join(folder, name));
    for (const name of ['.', 'bin']) chmodSync(path.join(folder, name), 0o755);
    for (const name of ['data', 'trace']) chownSync(path.join(folder, name), nobodyUserId, nobodyUserId);
    copyFileSync(new URL('../../dist/hearth', import.meta.url), path.join(folder, 'bin', 'hearth'));
    const trace = path.join(folder, 'trace', 'calls');
    const server = await startServerProcess(t, 'executable', {
      folder,
      wrapper: [
        'unshare',
        '-m',
        'sh',
        '-c',
        `
        set -e
        folder=$1; trace=$2
        mount --make-rprivate / && mount --bind "$folder" "$folder" && mount --bind / / && mount -o remount,bind,ro /
        umask 077
        exec setpriv --reuid ${nobodyUserId} --regid ${nobodyUserId} --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all strace -f -qq -o "$trace" "$folder/bin/hearth" serve`,
        'sh',
        folder,
        trace,
      ],
    });
    const command = server.command;
    await command('user', 'add', 'alice', '--random-password', '--admin');
    const token = await command('token', 'add', '--user', 'alice', '--name', 'laptop', '--access', 'write');
    await command('repo', 'create', 'alice/site', '--public');
    const client = gitClient(folder);
    const work = path.join(folder, 'work');
    mkdirSync(work);
    await client.expect(work, 'init', '-q', '-b', 'main');
    writeFileSync(path.join(work, 'a.ts'), 'const one = 1;\n');
    await client.expect(work, 'add', '.');
    await client.expect(work, 'commit', '-q', '-m', 'first');
    await client.expect(work, 'push', '-q', `http://${token}@${new URL(server.url).host}/git/alice/site.git`, 'main');
    await client.expect(folder, 'clone', '-q', `${server.url}/git/alice/site.git`, 'clone');
    for (const page of [
      '/',
      '/repos/alice/site',
      '/repos/alice/site/blob/main/a.ts',
      '/repos/alice/site/commits/main',
      '/search?q=site',
    ]) {
      t.equal((await fetch(`${server.url}${page}`)).status, 200, page);
    }
    for (const job of ['backup.nightly', 'git.maintain', 'code-search.update']) await command('cron', 'run', job);
    // The started process is strace, with the server as its child.
    const { pid } = JSON.parse(readFileSync(path.join(server.dataDir, 'run', 'server.json'), 'utf8')) as {
      pid: number;
    };
    process.kill(pid, 'SIGTERM');
    await server.ended;

    const calls = new Set(
      [...readFileSync(trace, 'utf8').matchAll(/^\d+ +(?:<\.\.\. )?([a-z0-9_]+)(?:\(| resumed)/gm)].map(
        ([, name]) => name!,
      ),
    );
    t.ok(calls.size > 40, `${calls.size} different calls were seen`);
    const allowed = allowedCalls();
    t.same([...calls].filter((call) => !allowed.has(call)).sort(), []);
  });
} else {
  t.test('what the unit forbids', { skip: 'needs root, namespaces and dist/hearth' }, async () => {});
}
