// Attachments of issues and files of releases in backups: copied, tested by a restore test, restored.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { runCli } from '../cli/run-cli.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

t.setTimeout(180_000);

t.test('attachments and release files are in a backup, which is not sound without them, and come back', async (t) => {
  const hearth = await startHearth(t);
  await hearth.addPerson('alice');
  const at = { owner: 'alice', name: 'roof' };
  const { backups, issues, releases, repositories } = hearth.modules;
  await repositories.create(localAdministrator, { ...at, visibility: 'PUBLIC' });
  const { id } = await issues.addAttachment(localAdministrator, at, {
    name: 'notes.txt',
    content: (async function* () {
      yield Buffer.from('hello');
    })(),
  });
  await releases.create(localAdministrator, at, { tag: 'v1', isDraft: true });
  const file = await releases.files.upload(
    localAdministrator,
    at,
    { tag: 'v1' },
    {
      name: 'roof.zip',
      content: (async function* () {
        yield Buffer.from('tiles');
      })(),
    },
  );
  const released = `objects/releases/${file.id.slice(0, 2)}/${file.id}`;
  const place = `objects/attachments/${id.slice(0, 2)}/${id}`;
  mkdirSync(path.join(hearth.config.dataDir, 'objects', '.incoming'), { recursive: true });
  writeFileSync(path.join(hearth.config.dataDir, 'objects', '.incoming', '0123'), 'half');
  const { name, folder } = await backups.create();
  t.equal(readFileSync(path.join(folder, place), 'utf8'), 'hello');
  t.equal(readFileSync(path.join(folder, released), 'utf8'), 'tiles');
  t.notOk(existsSync(path.join(folder, 'objects', '.incoming')), 'what is half written is left out');
  t.strictSame((await backups.drill(name)).problems, []);

  const target = path.join(temporaryFolder(t), 'data');
  t.equal((await runCli(['restore', folder], { env: { SERVICE_DATA_DIR: target } })).code, 0);
  t.equal(readFileSync(path.join(target, place), 'utf8'), 'hello');
  t.equal(readFileSync(path.join(target, released), 'utf8'), 'tiles');

  const digestsAre = (sql: string) =>
    hearth.modules.db.write(async ({ manager }) => {
      for (const table of ['attachments', 'release_files']) await manager.query(`UPDATE ${table} SET sha256 = ${sql}`);
    });
  await digestsAre(`'x' || sha256`);
  const changed = await backups.create();
  const told = (await backups.verify(changed.name)).flatMap((part) => part.problems);
  t.strictSame(told, [
    `the attachment notes.txt (${id}) has another content`,
    `the release file roof.zip (${file.id}) has another content`,
  ]);
  await digestsAre('substr(sha256, 2)');
  rmSync(path.join(hearth.config.dataDir, place));
  rmSync(path.join(hearth.config.dataDir, released));
  const second = await backups.create();
  const problems = (await backups.verify(second.name)).flatMap((part) => part.problems);
  t.strictSame(problems, [
    `the attachment notes.txt (${id}) has no file`,
    `the release file roof.zip (${file.id}) has no file`,
  ]);
  const doctor = await runCli(['doctor', '--only', 'releases', '--json'], {
    env: { SERVICE_DATA_DIR: hearth.config.dataDir },
  });
  t.equal(doctor.stderr, '');
  t.match(doctor.stdout, /The release file roof\.zip is missing/);
});
