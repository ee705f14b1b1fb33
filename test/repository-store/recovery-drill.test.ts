// time limit: 300 s
// The trial of a recovery: what it proves, what it finds, and that it changes nothing in the store. Two repositories,
// rows of now and of an older copy; the alarm is seen in the doctor and in the metrics.
import { copyFileSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { scheduledTasks } from '../../src/app/scheduled-tasks.ts';
import { createDoctor } from '../../src/doctor/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { clientGit, sampleRepository } from '../git/git-fixture.ts';
import { startStoreServer } from './store-server.ts';

t.setTimeout(280_000);

const sample = sampleRepository();
const server = await startStoreServer(t, { SERVICE_METRICS_TOKEN: 'metrics' });
const { modules } = server.app;
const { recovery, db } = modules;
if (recovery === null) throw new Error('a server with the store has trials');
const push = async (name: string, ...refs: string[]): Promise<void> => {
  const { code, stderr } = await clientGit(['push', '--quiet', server.urlOf(name), ...refs], { cwd: sample });
  if (code !== 0) throw new Error(stderr);
  await modules.repositories.pushes.whenAnnounced(await idOf(name), 10_000);
};
const idOf = async (name: string) => (await modules.repositories.find(localAdministrator, 'alice', name)).repository.id;

for (const name of ['roof', 'shed']) {
  await server.newRepository(name);
  await push(name, 'main~1:refs/heads/main');
}
const isFile = db.dialect === 'sqlite';
const copy = path.join(temporaryFolder(t), 'copy.db');
await db.exportTo(copy);
await push('roof', 'main', 'topic');
const ids = { roof: await idOf('roof'), shed: await idOf('shed') };

const findings = async (): Promise<string[]> => {
  const doctor = createDoctor({
    ...modules,
    settingsFile: null,
    userId: null,
    backupState: () => modules.backups.state(),
    auditBreak: async () => null,
    recovery,
  });
  const found: string[] = [];
  for await (const report of doctor.examine('safety'))
    found.push(...report.findings.map(({ check }) => check).filter((check) => check.startsWith('recovery')));
  return found;
};
const contents = () => [...server.s3.objects].map(([key, { content }]) => `${key} ${content.toString('base64')}`);
const metric = async (): Promise<string | undefined> => {
  const response = await fetch(`${server.origin}/metrics`, { headers: { authorization: 'Bearer metrics' } });
  return /^hearth_recovery_proven_age_seconds (.*)$/m.exec(await response.text())?.[1];
};

t.test('rows of now, and of a copy that is older than the last push', async (t) => {
  const before = contents();
  t.equal(await metric(), undefined, 'not tried yet');
  for (const [what, options] of [
    ['all', { isWhole: true }],
    ['with the last push, which the copy does not have', { isWhole: true, database: copy }],
    ['at night: what is of the last day, too', {}],
  ] as const) {
    const { packs, bytes, faults } = await recovery.run(options);
    t.strictSame([packs, faults], [3, []], what);
    t.ok(bytes > 0);
  }
  t.strictSame(contents(), before, 'nothing changes in the store');
  t.strictSame(
    readdirSync(path.join(modules.config.dataDir, 'tmp')).filter((name) => name.startsWith('recovery')),
    [],
  );
  t.strictSame(await findings(), []);
  t.match(await metric(), /^\d/);
  t.ok(scheduledTasks(modules).some(({ name }) => name === 'recovery.drill'));
});

t.test('one changed byte, and a pack that is gone', async (t) => {
  for (const ending of ['pack', 'idx']) {
    const [key, object] = [...server.s3.objects].find(
      ([name]) => name.includes(`/packs/${ids.shed}/`) && name.endsWith(ending),
    )!;
    object.content[30]! ^= 1;
    const damaged = await recovery.run({ isWhole: true });
    t.equal(damaged.faults.length, 1);
    t.match(damaged.faults[0], new RegExp(`${ending} of ${ids.shed} is damaged`));
    t.strictSame(await findings(), ['recovery.failed']);
    object.content[30]! ^= 1;
    server.s3.objects.delete(key);
    t.match((await recovery.run({ isWhole: true })).faults, [/ is absent$/]);
    server.s3.objects.set(key, object);
  }
  t.strictSame((await recovery.run({ isWhole: true })).faults, []);
  t.strictSame(await findings(), []);
});

t.test('a journal that cannot be read, and a copy that is damaged', async (t) => {
  const [, object] = [...server.s3.objects]
    .filter(([name]) => name.includes(`/journal/${ids.roof}/`))
    .sort()
    .at(-1)!;
  const { content } = object;
  object.content = Buffer.from('{');
  t.match((await recovery.run({ database: copy })).faults, [new RegExp(`journal of ${ids.roof}`)]);
  object.content = content;
  const half = path.join(temporaryFolder(t), 'half.db');
  copyFileSync(copy, half);
  writeFileSync(half, readFileSync(half).subarray(0, 8192));
  await t.rejects(recovery.run({ database: half }).then(({ faults }) => faults.length === 0 || Promise.reject(faults)));
});

t.test('what was deleted meanwhile is no fault', { skip: !isFile }, async (t) => {
  await modules.repositories.trash.move(localAdministrator, 'alice', 'shed');
  await modules.repositories.trash.empty(0);
  t.strictSame((await recovery.run({ isWhole: true, database: copy })).faults, []);
});
