// A corrupt database is named with a remedy by every command, wherever SQLite notices it.
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { runCli } from './run-cli.ts';

const folder = temporaryFolder(t);
const dataDir = path.join(folder, 'data');
mkdirSync(dataDir, { mode: 0o700 });
const file = path.join(dataDir, 'hearth.db');
const env = { SERVICE_DATA_DIR: dataDir };
const hearth = (line: string) => runCli(line.split(' '), { cwd: folder, env });

t.before(async () => {
  for (const line of ['migrate -q', 'user add alice --random-password']) {
    const { code, stderr } = await hearth(line);
    t.equal(code, 0, stderr);
  }
  copyFileSync(file, path.join(folder, 'good.db'));
});

/** Overwrites the header of the page with these words, which tells SQLite what the page is. */
function spoilPageAt(bytes: Buffer, offset: number): void {
  const start = offset - (offset % 4096);
  bytes.fill(0xff, start, start + 16);
}

const places: { [title: string]: (bytes: Buffer) => void } = {
  'its first bytes': (bytes) => void bytes.write('Xqlite'),
  'the root of the schema': (bytes) => void bytes.fill(0xff, 100, 4096),
  'another page of the schema': (bytes) => spoilPageAt(bytes, bytes.indexOf('CREATE TABLE audit_log')),
  'a page of rows': (bytes) => spoilPageAt(bytes, bytes.lastIndexOf('alice')),
};

for (const [title, damage] of Object.entries(places)) {
  t.test(`damage in ${title}`, async (t) => {
    const bytes = readFileSync(path.join(folder, 'good.db'));
    damage(bytes);
    for (const ending of ['-wal', '-shm']) rmSync(file + ending, { force: true });
    writeFileSync(file, bytes);
    const { size } = statSync(file);
    const doctor = await hearth('doctor');
    t.equal(doctor.code, 7, doctor.stderr);
    t.match(doctor.stdout, /hearth restore/);
    if (title === 'a page of rows') return;
    for (const line of ['user list', 'backup create']) {
      const { code, stderr } = await hearth(line);
      t.not(code, 0);
      t.match(stderr, /^hint: stop the server.*hearth backup list.*hearth restore/m, line);
      t.notMatch(stderr, /internal error/);
    }
    t.equal(statSync(file).size, size);
  });
}
