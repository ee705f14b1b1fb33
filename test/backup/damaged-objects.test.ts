// One changed byte in a pack or in a loose object is named wherever a repository is checked; a plain backup has no
// private key.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { openModules } from '../../src/app/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { runCli } from '../cli/run-cli.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const folder = temporaryFolder(t);
const dataDir = path.join(folder, 'data');
const env = { SERVICE_DATA_DIR: dataDir };
const { config } = loadConfig({ argvOverrides: {}, env, cwd: folder, readFile: () => '' });
const hearth = (line: string) => runCli(line.split(' '), { cwd: folder, env });
mkdirSync(dataDir, { mode: 0o700 });

const random = seededRandom(3);
const below = (most: number) => random.bytes(4).readUInt32BE() % most;

const modules = await openModules(config, { logger: silentLogger }, 'always');
t.teardown(() => modules.close());
await modules.accounts.addPerson({ username: 'alice' });
const paths: string[] = [];
for (const name of ['garden', 'whole', 'loose']) {
  await modules.repositories.create(localAdministrator, { owner: 'alice', name, visibility: 'PUBLIC' });
  const { path: cwd } = await modules.repositories.find(localAdministrator, 'alice', name);
  const entries = [];
  for (let file = 0; file < 20; file += 1) {
    const input = `${name} ${file} ${random.bytes(200).toString('hex')}\n`;
    const id = (await runGit(['hash-object', '-w', '--stdin'], { cwd, input })).trim();
    entries.push(`100644 blob ${id}\tfile-${file}\n`);
  }
  const tree = (await runGit(['mktree'], { cwd, input: entries.join('') })).trim();
  const commit = (await runGit(['commit-tree', '-m', 'first', tree], { cwd })).trim();
  await runGit(['update-ref', 'refs/heads/main', commit], { cwd });
  if (name !== 'loose') await runGit(['repack', '-adq'], { cwd });
  paths.push(cwd);
}
const [garden, whole, loose] = paths as [string, string, string];
const fileOf = (ending: string) => {
  const packs = path.join(garden, 'objects', 'pack');
  return path.join(packs, readdirSync(packs).find((name) => name.endsWith(ending))!);
};

/** Changes one bit, and keeps the time of the file, as a failing disk does. */
function flip(file: string, at: number): () => void {
  const { atime, mtime } = statSync(file);
  const good = readFileSync(file);
  const bad = Buffer.from(good);
  bad[at]! ^= 1 << below(8);
  const write = (bytes: Buffer) => {
    writeFileSync(file, bytes);
    utimesSync(file, atime, mtime);
  };
  // git writes packs read-only.
  write(bad);
  return () => write(good);
}

t.test('twenty random positions in the pack and in its index, each is named', async (t) => {
  t.strictSame(await modules.git.maintenance.check(garden), []);
  for (const ending of ['.pack', '.idx']) {
    const file = fileOf(ending);
    const { size } = statSync(file);
    const positions = [0, size - 1, ...Array.from({ length: 18 }, () => below(size))];
    for (const at of positions) {
      const mend = flip(file, at);
      t.strictSame(
        await modules.git.maintenance.check(garden),
        [`objects/pack/${path.basename(file)} does not match its checksum`],
        `${ending} ${at}`,
      );
      mend();
    }
  }
  t.strictSame(await modules.git.maintenance.check(garden), []);
});

const loosesOf = (repository: string) =>
  readdirSync(path.join(repository, 'objects'), { recursive: true })
    .map(String)
    .filter((name) => /^[0-9a-f]{2}\/[0-9a-f]+$/.test(name))
    .sort();

t.test('twenty random positions in loose objects, each is named', async (t) => {
  t.strictSame(await modules.git.maintenance.check(loose), []);
  const names = loosesOf(loose);
  t.equal(names.length, 22, 'blobs, a tree and a commit');
  for (const [turn, name] of [...names, ...names].slice(0, 40).entries()) {
    const file = path.join(loose, 'objects', name);
    const { size } = statSync(file);
    // Not the byte before the checksum, whose last bits mean nothing.
    const at = turn % 4 === 0 ? size - 1 : turn % 4 === 1 ? 0 : below(size - 5);
    const mend = flip(file, at);
    t.strictSame(
      await modules.git.maintenance.check(loose),
      [`objects/${name} does not match its name`],
      `${name} ${at}`,
    );
    mend();
  }
  const longer = path.join(loose, 'objects', names[0]!);
  const good = readFileSync(longer);
  for (const [what, bytes] of [
    ['cut', good.subarray(0, good.length - 7)],
    ['empty', Buffer.alloc(0)],
    ['longer', Buffer.concat([good, Buffer.from('x')])],
    ['of another', readFileSync(path.join(loose, 'objects', names[1]!))],
  ] as const) {
    writeFileSync(longer, bytes);
    t.strictSame(
      await modules.git.maintenance.checkRepositoryFiles(loose),
      [`objects/${names[0]} does not match its name`],
      what,
    );
  }
  writeFileSync(longer, good);
  t.strictSame(await modules.git.maintenance.check(loose), []);
});

t.test('a pack that is lost is named by its index, wherever a repository is checked', async (t) => {
  const pack = fileOf('.pack');
  const good = readFileSync(pack);
  rmSync(pack);
  t.strictSame(await modules.git.maintenance.checkRepositoryFiles(garden), [
    `objects/pack/${path.basename(pack)} is missing`,
  ]);
  const created = await hearth('backup create');
  t.match(created, { code: 7, stderr: `objects/pack/${path.basename(pack)} is missing` });
  writeFileSync(pack, good);
  t.strictSame(await modules.git.maintenance.checkRepositoryFiles(garden), []);
  // An index that goes first, as when git removes a pack, is no damage of a file.
  const index = fileOf('.idx');
  const bytes = readFileSync(index);
  rmSync(index);
  t.strictSame(await modules.git.maintenance.checkRepositoryFiles(garden), []);
  writeFileSync(index, bytes);
});

t.test('a ref that git cannot read is named, because git leaves it out', async (t) => {
  const ref = path.join(garden, 'refs', 'heads', 'broken');
  const id = (await runGit(['rev-parse', 'HEAD'], { cwd: garden })).trim();
  for (const [text, isBroken] of [
    ['\0'.repeat(41), true],
    ['', true],
    [`${id.slice(0, 20)}\n`, true],
    [`${'0'.repeat(40)}\n`, true],
    ['ref: nowhere\n', true],
    ['ref: refs/heads/main\n', false],
    [`${id}\n`, false],
  ] as const) {
    writeFileSync(ref, text);
    t.strictSame(
      await modules.git.maintenance.checkRepositoryFiles(garden),
      isBroken ? ['refs/heads/broken does not contain an object ID'] : [],
      JSON.stringify(text),
    );
  }
  writeFileSync(ref, 'broken');
  t.match(await hearth('backup create'), { code: 7, stderr: 'refs/heads/broken does not contain an object ID' });
  rmSync(ref);
  t.match(await hearth('backup create'), { code: 0 });
});

t.test('objects with SHA-256 names', async (t) => {
  const cwd = path.join(folder, 'sha256.git');
  await runGit(['init', '--quiet', '--bare', '--object-format=sha256', cwd], { cwd: folder });
  await runGit(['hash-object', '-w', '--stdin'], { cwd, input: 'a' });
  t.strictSame(await modules.git.maintenance.checkRepositoryFiles(cwd), []);
  const [name] = loosesOf(cwd);
  flip(path.join(cwd, 'objects', name!), 5);
  t.strictSame(await modules.git.maintenance.checkRepositoryFiles(cwd), [`objects/${name} does not match its name`]);
});

t.test('files that git derives', async (t) => {
  await runGit(['-c', 'pack.writeReverseIndex=true', 'repack', '-adq', '--write-bitmap-index', '--write-midx'], {
    cwd: whole,
  });
  await runGit(['commit-graph', 'write', '--reachable'], { cwd: whole });
  t.strictSame(await modules.git.maintenance.findDamagedIndexes(whole), []);
  const names = [
    'objects/info/commit-graph',
    ...readdirSync(path.join(whole, 'objects', 'pack'))
      .filter((name) => !/\.(pack|idx)$/.test(name))
      .map((name) => `objects/pack/${name}`),
  ];
  t.ok(names.length > 3, names.join());
  for (const name of names) {
    const file = path.join(whole, name);
    const mend = flip(file, below(statSync(file).size));
    t.strictSame(await modules.git.maintenance.findDamagedIndexes(whole), [name]);
    mend();
  }
});

t.test('backup, verify, drill, fsck and doctor name it, and no other repository', async (t) => {
  mkdirSync(path.join(dataDir, 'ssh'), { recursive: true });
  const key = '-----BEGIN OPENSSH PRIVATE KEY-----\n';
  for (const name of ['host_ed25519', 'host_rsa', 'host_ecdsa']) writeFileSync(path.join(dataDir, 'ssh', name), key);
  writeFileSync(path.join(dataDir, 'ssh', 'host_ed25519.pub'), 'ssh-ed25519 AAAA\n');

  const first = await hearth('backup create');
  t.equal(first.code, 0, first.stderr);
  const backup = first.stdout.split('\t')[0]!;
  const files = readdirSync(backup, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  t.strictSame(
    files
      .map((entry) => path.join(entry.parentPath, entry.name))
      .filter((file) => /PRIVATE KEY/.test(readFileSync(file, 'latin1'))),
    [],
    'no private key in a plain backup',
  );
  t.ok(files.some(({ name }) => name === 'host_ed25519.pub'));

  const mend = flip(fileOf('.pack'), 100);
  const created = await hearth('backup create');
  t.equal(created.code, 7, 'the file is linked to the good copy, and the source is read all the same');
  t.match(created.stderr, `${path.basename(garden)} is damaged: objects/pack/`);
  t.notMatch(created.stderr, path.basename(whole));
  t.match(await hearth('doctor --only repositories'), { code: 7, stdout: /alice\/garden is damaged: objects\/pack/ });
  t.match((await hearth('repo fsck --all')).stdout, /objects\/pack\/pack-.* does not match its checksum/);

  // A time that differs makes the backup copy the damaged file.
  utimesSync(fileOf('.pack'), 1_700_000_000, 1_700_000_000);
  const copied = await hearth('backup create');
  t.equal(copied.code, 7);
  const named = /does not match its checksum/;
  const verified = await hearth(`backup verify ${path.basename(copied.stdout.split('\t')[0]!)}`);
  t.not(verified.code, 0);
  t.match(verified.stdout + verified.stderr, named);
  const drilled = await hearth('backup drill');
  t.not(drilled.code, 0);
  t.match(drilled.stdout + drilled.stderr, named);
  mend();
  t.equal((await hearth('backup create')).code, 0);

  const [name] = loosesOf(loose);
  const mendLoose = flip(path.join(loose, 'objects', name!), 4);
  const saysLoose = new RegExp(`objects/${name} does not match its name`);
  t.match(await hearth('backup create'), { code: 7, stderr: saysLoose });
  t.match(await hearth('doctor --only repositories'), { code: 7, stdout: /alice\/loose is damaged: objects\// });
  utimesSync(path.join(loose, 'objects', name!), 1_700_000_000, 1_700_000_000);
  t.equal((await hearth('backup create')).code, 7);
  const { code, stdout, stderr } = await hearth('backup drill');
  t.not(code, 0);
  t.match(stdout + stderr, saysLoose);
  mendLoose();
});
