// Damage that only reading finds: a deep check and the pass at night name it, and an ordinary check remembers it.
// time limit: 180 s
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { releaseFileKey } from '../../src/releases/index.ts';
import { runIntegrityPass } from '../../src/doctor/index.ts';
import { lfsKey } from '../../src/lfs/index.ts';
import { openCi, workflow } from '../ci/ci-fixture.ts';
import { runCli } from '../cli/run-cli.ts';
import { runGit } from '../fixtures/git-repositories.ts';

const day = 86_400_000;
const at = { owner: 'alice', name: 'work' };
const fixture = await openCi(t);
const { modules, found } = fixture;
const { dataDir } = modules.config;
const content = async function* (bytes: Buffer) {
  yield bytes;
};
await fixture.push(workflow('on: push\njobs:\n  a:\n    runs-on: linux\n    steps: [{run: one}]\n'));
const runner = await fixture.addRunner(['linux']);
const { taskId } = (await runner.fetch())!;
await runner.log(taskId, 0, ['one', 'two', 'three'], true);
await runner.report(taskId, { result: 'success', stoppedAt: fixture.clock.now() });
const films = [randomBytes(70_000), randomBytes(70_001)].map((bytes) => ({
  bytes,
  oid: createHash('sha256').update(bytes).digest('hex'),
}));
for (const { bytes, oid } of films)
  await modules.lfs.mirroring.store(
    found.repository,
    { oid, bytes: bytes.length, content: content(bytes) },
    { hasQuota: false },
  );
await modules.releases.create(localAdministrator, at, { tag: 'v1', target: 'main' });
const upload = (name: string) =>
  modules.releases.files.upload(localAdministrator, at, { tag: 'v1' }, { name, content: content(randomBytes(9_000)) });
const [file, whole] = [await upload('a.zip'), await upload('b.zip')];
await modules.repositories.create(localAdministrator, { owner: 'alice', name: 'whole', visibility: 'PRIVATE' });
await modules.audit.flush();

interface Finding {
  check: string;
  level: string;
  message: string;
}
async function doctor(...words: string[]): Promise<{ code: number; findings: Finding[] }> {
  const { code, stdout, stderr } = await runCli(['doctor', '--json', ...words], { env: { SERVICE_DATA_DIR: dataDir } });
  if (stdout === '') throw new Error(stderr);
  return { code, findings: (JSON.parse(stdout) as { findings: Finding[] }).findings };
}
const named = async (...words: string[]) =>
  (await doctor(...words)).findings.map(({ check, message }) => `${check}: ${message}`);
const stored = (key: string) => path.join(dataDir, 'objects', key);
/** Returns what puts the byte back. */
function flip(name: string): () => void {
  const good = readFileSync(name);
  const bad = Buffer.from(good);
  bad[good.length >> 1]! ^= 0x20;
  writeFileSync(name, bad);
  return () => writeFileSync(name, good);
}
const repositories = ['--only', 'repositories'];
const objects = ['--only', 'objects'];

t.test('a whole server has no damage', async (t) => {
  for (const group of [repositories, objects]) t.same(await named('--deep', ...group), []);
  const rows = await modules.db.read.query('SELECT count(*) AS n FROM integrity_checks WHERE problem IS NULL');
  t.equal(Number(rows[0].n), 2 + 6, 'two repositories, and every kind of objects but attachments');
});

t.test('a changed byte in a stored file is found by reading it, and stays known until it is mended', async (t) => {
  const keys = [releaseFileKey(file.id), lfsKey(found.repository.id, films[1]!.oid)];
  const mends = keys.map((key) => flip(stored(key)));
  t.same(await named(...objects), [], 'the sizes are right');
  const deep = await named('--deep', ...objects);
  t.match(deep, [
    `release files: 1 object with other bytes, such as ${keys[0]}`,
    `LFS objects: 1 object with other bytes, such as ${keys[1]}`,
  ]);
  t.equal(deep.length, 2);
  t.notMatch(deep.join(), whole.id);
  t.match(await doctor(...objects), {
    code: 7,
    findings: [{ check: 'objects.damaged' }, { check: 'objects.damaged' }],
  });
  for (const mend of mends) mend();
  t.equal((await named(...objects)).length, 2, 'nobody has read them since');
  t.same(await named('--deep', ...objects), []);
  t.same(await named(...objects), []);
});

t.test('a log that is shorter than its row says is found without reading', async (t) => {
  const log = path.join(dataDir, 'ci', 'logs', '0', `${taskId}.log`);
  const good = readFileSync(log);
  truncateSync(log, 10);
  t.match(await named(...objects), ['logs: 1 object with other bytes']);
  writeFileSync(log, good);
  t.same(await named(...objects), []);
});

t.test('a branch that moved behind the journal', async (t) => {
  const { path: cwd } = found;
  for (const name of ['topic', 'other'])
    await modules.repositories.branches.create(localAdministrator, 'alice', 'work', { name, from: 'main' });
  const tip = (await runGit(['rev-parse', 'refs/heads/main'], { cwd })).trim();
  const other = (await runGit(['commit-tree', '-m', 'other', `${tip}^{tree}`], { cwd })).trim();
  t.same(await named('--deep', ...repositories), []);
  await runGit(['update-ref', 'refs/heads/topic', other], { cwd });
  t.match(await named('--deep', ...repositories), [
    `repositories.moved: alice/work: refs/heads/topic is ${other.slice(0, 10)}, but its last push set it to ${tip.slice(0, 10)}`,
  ]);
  await runGit(['update-ref', '-d', 'refs/heads/topic'], { cwd });
  t.match(await named('--deep', ...repositories), ['repositories.moved: alice/work: refs/heads/topic is missing, but']);
  await runGit(['update-ref', 'refs/heads/topic', tip], { cwd });
  t.same(await named('--deep', ...repositories), []);
});

t.test('a folder without a row that is young is named, and left where it is', async (t) => {
  const young = path.join(path.dirname(found.path), '22222222-0000-4000-8000-000000000000.git');
  mkdirSync(young);
  t.match(await doctor('--fix', ...repositories), {
    code: 0,
    findings: [{ check: 'repositories.orphan', level: 'warning', fixed: null }],
  });
  t.ok(readFileSync(path.join(found.path, 'HEAD')));
  t.ok(statSync(young).isDirectory());
  rmSync(young, { recursive: true });
});

t.test('an index that git derives is removed by --fix', async (t) => {
  const { path: cwd } = found;
  await runGit(['commit-graph', 'write', '--reachable'], { cwd });
  t.same(await named(...repositories), []);
  flip(path.join(cwd, 'objects', 'info', 'commit-graph'));
  t.match(await named(...repositories), ['repositories.damaged_index: alice/work: objects/info/commit-graph does not']);
  await doctor('--fix', ...repositories);
  t.same(await named(...repositories), []);
});

t.test('the pass at night', async (t) => {
  const { clock } = fixture;
  const integrity = { everyMs: 30 * day, windowMs: 3_600_000 };
  const pass = (windowMs = integrity.windowMs, shouldContinue = async () => true) =>
    runIntegrityPass({ ...modules, config: { integrity: { ...integrity, windowMs } } }, shouldContinue);
  // The commands above have the clock of this machine.
  await modules.db.write(({ manager }) => manager.query('DELETE FROM integrity_checks'));
  t.match(await pass(), { repositories: 2, objects: 5, damaged: 0 });
  t.match(await pass(), { repositories: 0, objects: 0 }, 'within the month nothing is read again');

  clock.advance(31 * day);
  const mend = flip(stored(lfsKey(found.repository.id, films[0]!.oid)));
  const passes = [];
  // Each pass ends after one repository or object; what it was at goes on.
  for (let turn = 0; turn < 40; turn += 1) {
    let asked = 0;
    const { repositories: r, objects: o } = await pass(integrity.windowMs, async () => (asked += 1) < 4);
    passes.push(r + o);
    if (r + o === 0) break;
  }
  t.ok(passes.length > 2, passes.join());
  t.match(await named(...objects), [/^objects.damaged: Problems found when reading all objects on .*LFS objects/]);
  mend();
  clock.advance(31 * day);
  t.match(await pass(), { damaged: 0 });
  t.same(await named(...objects), []);
});

t.test('what is gone is forgotten', async (t) => {
  await modules.repositories.trash.move(localAdministrator, 'alice', 'whole');
  await runIntegrityPass({ ...modules, config: { integrity: { everyMs: day, windowMs: 1_000 } } });
  const rows = await modules.db.read.query("SELECT subject FROM integrity_checks WHERE subject LIKE 'repository:%'");
  t.same(rows, [{ subject: `repository:${found.repository.id}` }]);
});
