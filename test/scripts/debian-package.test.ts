// The package for Debian through the system's own dpkg, in a layer above this system that is thrown away: installed,
// upgraded, killed in the middle, on a full disk, removed and purged.
// time limit: 300 s
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { makeDebianPackage } from '../../scripts/release-parts/debian-package.ts';
import { requiredProgram } from '../fixtures/required-program.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';

requiredProgram('dpkg-deb');
const folder = temporaryFolder(t);
const versions = ['0.2.0', '0.3.0', '0.4.0'] as const;
const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
/** Where the packages are in the layer, whichever file system they are on. */
const packagesAt = '/packages';
const packageOf = (version: string) => path.join(folder, `hearth_${version}.deb`);

/** A program that says its version when all of it is there; a copy that ends earlier says nothing. */
const programOf = (version: string): Buffer => {
  const lines = `#!/bin/sh\n[ "$(tail -c 4 "$0")" = end. ] && echo ${version}\nexit\n`;
  return Buffer.concat([Buffer.from(lines), randomBytes(4 * 2 ** 20), Buffer.from('\nend.')]);
};

t.before(async () => {
  const [first] = versions;
  const [executable, workFolder, unpacked] = ['program', 'work', 'unpacked'].map((name) => path.join(folder, name));
  writeFileSync(executable!, '');
  mkdirSync(workFolder!);
  const release = {
    version: first,
    seconds: 1_700_000_000,
    source: fileURLToPath(new URL('../..', import.meta.url)),
    workFolder: workFolder!,
    notes: '- Serve pages\n',
    base: '',
    commit: '',
    maintainer: 'alice <alice@example.org>',
  };
  const options = { architecture, executable: executable!, licences: 'none', output: packageOf(first) };
  await makeDebianPackage(release, options);
  // The others are the same with another program, in an archive that costs no time.
  execFileSync('dpkg-deb', ['--raw-extract', packageOf(first), unpacked!]);
  const control = path.join(unpacked!, 'DEBIAN/control');
  for (const version of versions) {
    writeFileSync(control, readFileSync(control, 'utf8').replace(/^Version: .*$/m, `Version: ${version}`));
    writeFileSync(path.join(unpacked!, 'usr/bin/hearth'), programOf(version), { mode: 0o755 });
    execFileSync('dpkg-deb', ['--root-owner-group', '-Znone', '--build', unpacked!, packageOf(version)]);
  }
});

interface Layer {
  /** Runs words of a shell as root in that system. */
  run: (script: string) => { status: number | null; said: string };
  /** The same, started in a group of its own. */
  start: (script: string) => ChildProcess;
  /** What `hearth` prints there; empty when it is not whole, null without one. */
  hearth: () => string | null;
  /** Where a file of that system is for this one. */
  at: (file: string) => string;
}

/** This system, and above it a layer of so much memory for all that is written; null without the rights to mount it. */
async function openLayer(t: Owner, mebibytes: number): Promise<Layer | null> {
  if (process.getuid?.() !== 0) return null;
  const layer = temporaryFolder(t);
  const script = `set -e
    mount -t tmpfs -o size=${mebibytes}m tmpfs "$0" && mkdir "$0/root" "$0/upper" "$0/work"
    mount -t overlay -o lowerdir=/,upperdir="$0/upper",workdir="$0/work" overlay "$0/root"
    mount -t proc proc "$0/root/proc" && mount -t tmpfs tmpfs "$0/root/dev" && mknod -m 666 "$0/root/dev/null" c 1 3
    mount -t tmpfs tmpfs "$0/root/var/lib/dpkg" && cd "$0/root/var/lib/dpkg" && mkdir info updates && touch status
    mkdir "$0/root${packagesAt}" && mount --bind "$1" "$0/root${packagesAt}"
    echo mounted && exec sleep infinity`;
  // The mounts are in its namespace alone, and go with it.
  const holder = spawn('unshare', ['--mount', 'sh', '-c', script, layer, folder], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.teardown(() => holder.kill('SIGKILL'));
  const [first] = (await Promise.race([once(holder.stdout, 'data'), once(holder, 'exit')])) as [unknown];
  if (!String(first).startsWith('mounted')) return null;
  const root = `/proc/${holder.pid}/root${layer}/root`;
  const words = (command: string) => [
    '--target',
    String(holder.pid),
    '--mount',
    'chroot',
    `${layer}/root`,
    'sh',
    '-c',
    command,
  ];
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' };
  return {
    run: (command) => {
      const { status, stdout, stderr } = spawnSync('nsenter', words(command), { encoding: 'utf8', env });
      return { status, said: stdout + stderr };
    },
    start: (command) => spawn('nsenter', words(command), { env, detached: true, stdio: 'ignore' }),
    hearth: () => {
      if (!existsSync(`${root}/usr/bin/hearth`)) return null;
      return spawnSync('nsenter', words('hearth'), { encoding: 'utf8', env }).stdout.trim();
    },
    at: (file) => root + file,
  };
}

// Its dpkg knows no other package, which would take seconds.
const install = (version: string) => `dpkg --force-depends -i ${packagesAt}/hearth_${version}.deb`;
const kept = '/var/lib/hearth-previous';

const stateOf = ({ run }: Layer) => run("dpkg-query -W -f '${db:Status-Abbrev}${Version}' hearth").said.trim();

/** Names of files that are the package's, or were left by it. */
const leftovers = ({ at }: Layer): string[] =>
  [kept, '/usr/bin', '/var/lib', '/etc']
    .flatMap((name) => (existsSync(at(name)) ? readdirSync(at(name)).map((each) => `${name}/${each}`) : []))
    .filter((name) => name.includes('hearth'))
    .sort();

const whenInstalled = ['/etc/hearth', '/usr/bin/hearth', '/var/lib/hearth'];
const whenUpgraded = [...whenInstalled, kept, `${kept}/hearth`].sort();

const sayingOf = ({ run, at }: Layer, file: string) => (existsSync(at(file)) ? run(file).said.trim() : null);

t.test('installed, upgraded, removed and purged', async (t) => {
  const layer = await openLayer(t, 60);
  if (layer === null) return void t.pass('needs root, mount and overlay');
  const { run, hearth, at } = layer;
  const first = run(install('0.2.0'));
  t.equal(first.status, 0, first.said);
  t.match(first.said, 'hearth setup-url');
  t.strictSame([hearth(), stateOf(layer), leftovers(layer)], ['0.2.0', 'ii 0.2.0', whenInstalled]);
  t.equal(run('stat -c "%U:%G %a" /var/lib/hearth').said, 'hearth:hearth 700\n');
  t.equal(run('stat -c "%U:%G %a" /etc/hearth/hearth.toml').said, 'root:hearth 640\n');
  run(
    'echo "# mine" >>/etc/hearth/hearth.toml; touch /var/lib/hearth/hearth.db; chown hearth: /var/lib/hearth/hearth.db',
  );

  const second = run(install('0.3.0'));
  t.equal(second.status, 0, second.said);
  t.notMatch(second.said, 'setup-url', 'only the first time');
  t.strictSame([hearth(), stateOf(layer), leftovers(layer)], ['0.3.0', 'ii 0.3.0', whenUpgraded]);
  t.equal(sayingOf(layer, `${kept}/hearth`), '0.2.0', 'the program for the way back');
  t.match(readFileSync(at('/etc/hearth/hearth.toml'), 'utf8'), /# mine\n$/);

  const again = run(install('0.2.0'));
  t.equal(again.status, 0, 'back to the older one');
  t.strictSame([hearth(), sayingOf(layer, `${kept}/hearth`)], ['0.2.0', '0.3.0']);

  t.equal(run('dpkg --remove hearth').status, 0);
  t.strictSame([hearth(), leftovers(layer)], [null, ['/etc/hearth', '/var/lib/hearth']]);
  t.ok(existsSync(at('/var/lib/hearth/hearth.db')));
  const purge = run('dpkg --purge hearth');
  t.match(purge.said, 'The data stays in /var/lib/hearth');
  t.strictSame([leftovers(layer), run('id -un hearth').status], [['/var/lib/hearth'], 0], 'with the owner of the data');

  t.equal(run(install('0.4.0')).status, 0, 'over the data of before');
  t.equal(run('stat -c %U /var/lib/hearth/hearth.db').said, 'hearth\n');
  rmSync(at('/var/lib/hearth/hearth.db'));
  t.equal(run('dpkg --purge hearth').status, 0);
  t.strictSame([leftovers(layer), run('id -un hearth').status], [[], 1], 'without data nothing is left');
});

t.test('an upgrade on a full disk changes nothing, and succeeds when it is no longer full', async (t) => {
  const layer = await openLayer(t, 60);
  if (layer === null) return void t.pass('needs root, mount and overlay');
  const { run, hearth, at } = layer;
  for (const version of ['0.2.0', '0.3.0']) t.equal(run(install(version)).status, 0);
  // Space for half of the copy of the program of before; for that copy and half of the new program.
  for (const mebibytes of [3, 7]) {
    const { bavail, bsize } = statfsSync(at('/'));
    t.equal(run(`fallocate -l ${bavail * bsize - mebibytes * 2 ** 20} /var/full`).status, 0);
    const refused = run(install('0.4.0'));
    t.equal(refused.status, 1, `${mebibytes} MiB`);
    t.match(refused.said, /No space left on device/);
    t.strictSame(
      [hearth(), stateOf(layer), sayingOf(layer, `${kept}/hearth`), leftovers(layer)],
      ['0.3.0', 'ii 0.3.0', '0.2.0', whenUpgraded],
      refused.said,
    );
    rmSync(at('/var/full'));
  }
  t.equal(run(install('0.4.0')).status, 0);
  t.strictSame([hearth(), sayingOf(layer, `${kept}/hearth`), leftovers(layer)], ['0.4.0', '0.3.0', whenUpgraded]);
});

/** What is there when dpkg is killed, in the order in which it comes. */
const moments: Record<string, (at: Layer['at'], newer: string) => boolean> = {
  'the copy of the program of before': (at) => existsSync(at(`${kept}/hearth.unfinished`)),
  'half of the new program': (at) => existsSync(at('/usr/bin/hearth.dpkg-new')),
  'the new program': (at, newer) => readFileSync(at('/usr/bin/hearth')).includes(`echo ${newer}`),
};
t.test('dpkg is killed: a program is whole, and the upgrade can be finished', async (t) => {
  const layer = await openLayer(t, 60);
  if (layer === null) return void t.pass('needs root, mount and overlay');
  const { run, start, hearth, at } = layer;
  t.equal(run(install('0.2.0')).status, 0);
  let [older, newer] = ['0.2.0', '0.3.0'];
  for (const [moment, isThere] of Object.entries(moments)) {
    const dpkg = start(install(newer));
    const exit = once(dpkg, 'exit');
    while (dpkg.exitCode === null && !isThere(at, newer)) await sleep(1);
    if (dpkg.exitCode === null) process.kill(-dpkg.pid!, 'SIGKILL');
    await exit;
    t.ok([older, newer].includes(hearth()!), `${moment}: ${hearth()}`);
    // As docs/installation.md says.
    run('dpkg --configure -a');
    const again = run(install(newer));
    t.equal(again.status, 0, again.said);
    t.strictSame([hearth(), stateOf(layer), leftovers(layer)], [newer, `ii ${newer}`, whenUpgraded], moment);
    [older, newer] = [newer, older];
  }
});
