// An upgrade that is killed and continued leaves one copy, which a rollback takes.
// time limit: 120 s
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { migrations } from '../../migrations/index.ts';
import { listUpgradeCopies } from '../../src/backup/index.ts';
import { copyDatabase, createDatabase } from '../../src/db/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { databaseOptions } from '../fixtures/test-database.ts';

const killed = fileURLToPath(new URL('killed-migration.ts', import.meta.url));
const only = (versions: readonly number[]) => migrations.filter(({ version }) => versions.includes(version));
const newest = migrations.at(-1)!.version;

/** The database of an older program; its copies are in the folder of the file. */
async function older(file: string, versions: readonly number[]): Promise<void> {
  mkdirSync(path.dirname(file), { recursive: true });
  await (await createDatabase(databaseOptions(file, { migrations: only(versions) }))).close();
}

const appliedIn = (file: string): number[] => {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = database.prepare('SELECT name FROM migrations').all();
    return rows.map(({ name }) => Number(/^V(\d+)/.exec(String(name))![1])).sort((a, b) => a - b);
  } finally {
    database.close();
  }
};

/** Ends the upgrade before a statement of this step, as often as it is called. */
function killAt(file: string, version: number): void {
  const { signal, stderr } = spawnSync(process.execPath, [killed, file, String(version), '0'], { encoding: 'utf8' });
  if (signal !== 'SIGKILL') throw new Error(`not killed: ${stderr}`);
}

const starts: { title: string; from: number[]; kills: number[] }[] = [
  { title: 'in the second step', from: [1, 3, 13, 14], kills: [9] },
  { title: 'in the first step, where nothing was applied', from: [1, 3, 13, 14], kills: [2] },
  { title: 'twice', from: [1, 3, 13, 14, 15, 16], kills: [9, 40] },
  {
    title: 'from a schema with times',
    from: migrations.map((m) => m.version).filter((v) => v <= 58),
    kills: [98, 154],
  },
  { title: 'in the last step', from: migrations.map((m) => m.version).filter((v) => v <= 58), kills: [newest] },
];

for (const { title, from, kills } of starts) {
  t.test(`killed ${title}: one copy, of the database before the upgrade`, async (t) => {
    const folder = temporaryFolder(t);
    const file = path.join(folder, 'hearth.db');
    await older(file, from);
    const { snapshotDirectory } = databaseOptions(file);
    for (const version of kills.filter((each) => migrations.some((step) => step.version === each)))
      killAt(file, version);
    const db = await createDatabase(databaseOptions(file));
    const steps = await db.schema();
    await db.close();
    t.ok(steps.every(({ state }) => state === 'applied'));
    t.same(
      steps.filter(({ version, appliedAt }) => !from.includes(version) && appliedAt === null),
      [],
      'the times of the steps before the kill are recorded, too',
    );
    const copies = await listUpgradeCopies(snapshotDirectory);
    t.equal(copies.length, 1);
    t.strictSame(appliedIn(copies[0]!.file), from);
    t.notOk(existsSync(path.join(snapshotDirectory, 'upgrade.json')));
  });
}

t.test('a copy that an older program made of the half-migrated database is not taken', async (t) => {
  const folder = temporaryFolder(t);
  const upTo = (version: number) => migrations.map((step) => step.version).filter((each) => each <= version);
  const day = 86_400;
  const now = Math.floor(Date.now() / 1000);

  /** A copy as a program of that time made it. @param isHalf no times were recorded for its further steps */
  async function copy(place: string, from: number[], { at, isHalf = false }: { at: number; isHalf?: boolean }) {
    const file = path.join(place, `V${from.at(-1)}-before-V${newest}.db`);
    await older(path.join(place, 'made.db'), from);
    await copyDatabase(path.join(place, 'made.db'), file);
    rmSync(path.join(place, 'made.db'));
    const database = new DatabaseSync(file);
    if (isHalf && from.at(-1)! >= 58) database.exec('UPDATE migrations SET applied_at = NULL');
    database.close();
    utimesSync(file, at, at);
    return path.basename(file);
  }

  const cases: { title: string; copies: [number, { at: number; isHalf?: boolean }][]; taken: number; half: number }[] =
    [
      { title: 'one copy', copies: [[60, { at: now }]], taken: 60, half: 0 },
      {
        title: 'continued a minute later',
        copies: [
          [58, { at: now - 60 }],
          [60, { at: now, isHalf: true }],
        ],
        taken: 58,
        half: 1,
      },
      {
        title: 'continued a month later',
        copies: [
          [58, { at: now - 30 * day }],
          [60, { at: now, isHalf: true }],
        ],
        taken: 58,
        half: 1,
      },
      {
        title: 'continued twice',
        copies: [
          [58, { at: now - 60 }],
          [72, { at: now - 30, isHalf: true }],
          [98, { at: now, isHalf: true }],
        ],
        taken: 58,
        half: 2,
      },
      {
        title: 'rolled back, upgraded in two parts',
        copies: [
          [58, { at: now - 60 }],
          [60, { at: now }],
        ],
        taken: 60,
        half: 0,
      },
      {
        title: 'without times, at once',
        copies: [
          [16, { at: now - 60 }],
          [40, { at: now }],
        ],
        taken: 16,
        half: 1,
      },
      {
        title: 'without times, weeks later',
        copies: [
          [16, { at: now - 9 * day }],
          [40, { at: now }],
        ],
        taken: 40,
        half: 0,
      },
    ];
  for (const [index, { title, copies, taken, half }] of cases.entries()) {
    const place = path.join(folder, String(index));
    mkdirSync(place);
    for (const [version, when] of copies) await copy(place, upTo(version), when);
    const listed = await listUpgradeCopies(place);
    t.match(path.basename(listed[0]!.file), new RegExp(`^V${upTo(taken).at(-1)}-`), title);
    t.equal(listed.length, copies.length, 'the others are named');
    t.equal(listed.filter(({ isHalf }) => isHalf).length, half, title);
  }
});
