import { createHash } from 'node:crypto';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { newestSchema } from '../../src/app/index.ts';
import { restoreBackup } from '../../src/backup/index.ts';
import type { TaskContent } from '../../src/ci/index.ts';
import { instanceScope } from '../../src/ci/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { statusIcons } from '../../src/pages/app/status-icon.view.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { openCi, reasonOf, workflow } from './ci-fixture.ts';
import type { CiFixture } from './ci-fixture.ts';

const one = workflow('on: push\njobs: {build: {runs-on: linux, steps: [{run: make}]}}');
const dayMs = 86_400_000;

async function* bytesOf(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

/** Uploads an artifact as a job does. */
async function leave(
  { ci }: CiFixture,
  { context }: TaskContent,
  name: string,
  text: string,
  expiresAt: number | null = null,
  mediaType?: string,
) {
  const task = await ci.artifacts.authoriseTask(String(context.gitea_runtime_token));
  await ci.artifacts.receive(
    await ci.artifacts.create(task, { name, mediaType, expiresAt }),
    { kind: 'whole' },
    bytesOf(text),
  );
  return ci.artifacts.finish(task, {
    name,
    sizeBytes: Buffer.byteLength(text),
    digest: createHash('sha256').update(text).digest('hex'),
  });
}

async function read({ ci, found }: CiFixture, number: number, id: number): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of (await ci.artifacts.open(found, number, id)).content) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const filesOf = (fixture: CiFixture, what: string): string[] => {
  const folder = path.join(fixture.folder, 'data/ci', what, '0');
  return existsSync(folder) ? readdirSync(folder).sort() : [];
};

t.test(
  'expired logs and artifacts are removed and their rows record it; orphaned files are removed, too',
  async (t) => {
    const fixture = await openCi(t, { env: { SERVICE_CI_LOG_KEEP: '30d', SERVICE_CI_ARTIFACT_KEEP: '20d' } });
    const { ci, clock, found, push } = fixture;
    await push(one);
    const runner = await fixture.addRunner(['linux']);
    const first = (await runner.fetch())!;
    const short = await leave(fixture, first, 'short', 'a', clock.now() + 3 * dayMs);
    const long = await leave(fixture, first, 'long', 'b', clock.now() + 900 * dayMs);
    t.equal(long.expiresAt, clock.now() + 20 * dayMs, 'no longer than the settings allow');
    const open = await ci.artifacts.create(
      await ci.artifacts.authoriseTask(String(first.context.gitea_runtime_token)),
      {
        name: 'open',
        expiresAt: null,
      },
    );
    await ci.artifacts.receive(open, { kind: 'block', blockId: 'a' }, bytesOf('never finished'));
    await runner.finish(first.taskId);
    for (const stray of ['data/ci/logs/0/99.log', 'data/ci/artifacts/0/99.zip'])
      writeFileSync(path.join(fixture.folder, stray), 'x');

    t.match(await ci.removeOld(), { logs: 0, artifacts: 0, orphans: 3 }, 'the upload whose task is over counts as one');
    t.same(filesOf(fixture, 'logs'), [`${first.taskId}.log`]);
    clock.advance(4 * dayMs);
    t.match(await ci.removeOld(), { logs: 0, artifacts: 2, orphans: 0 });
    t.match(await ci.artifacts.list(found, 1), [
      { id: short.id, state: 'removed' },
      { id: long.id, state: 'ready' },
      { name: 'open', state: 'removed' },
    ]);
    t.equal(await reasonOf(read(fixture, 1, short.id)), 'artifact_not_found');
    t.equal(await read(fixture, 1, long.id), 'b');
    clock.advance(27 * dayMs);
    t.match(await ci.removeOld(), { logs: 1, artifacts: 1 });
    t.same([filesOf(fixture, 'logs'), filesOf(fixture, 'artifacts')], [[], []]);
    const job = (await fixture.state(1)).rows[0]!;
    t.match((await ci.runs.findJob(found, 1, job.id)).task, { logRemovedAt: clock.now() });
    t.match(await ci.removeOld(), { logs: 0, artifacts: 0, orphans: 0 });
  },
);

t.test(
  'a run is deleted by who administers its repository, with all it had, and its number is not used again',
  async (t) => {
    const fixture = await openCi(t);
    const { ci, modules, found, viewer, push } = fixture;
    const sha = await push(one);
    const ticks = () => statusIcons(modules.repositories, { id: found.repository.id, url: '/repos/alice/work' }, [sha]);
    const runner = await fixture.addRunner(['linux']);
    const task = (await runner.fetch())!;
    const artifact = await leave(fixture, task, 'site', 'content');
    t.equal(await reasonOf(ci.runs.remove(viewer, { ...found, level: 'write' }, 1)), 'repository_not_found');
    t.equal(await reasonOf(ci.runs.remove(viewer, found, 1)), 'run_not_ended');
    await runner.finish(task.taskId);
    t.equal((await ticks()).size, 1);
    const archived = { ...found, repository: { ...found.repository, archivedAt: 1 } };
    t.equal(await reasonOf(ci.runs.rerun(viewer, archived, 1, 'all')), 'repository_archived');
    t.equal(
      await reasonOf(ci.workflows.dispatch(viewer, archived, { path: 'ci.yml', ref: '', inputs: new Map() })),
      'repository_archived',
    );
    await ci.runs.remove(viewer, found, 1);
    t.equal(await reasonOf(ci.runs.find(found, 1)), 'run_not_found');
    t.equal(await reasonOf(read(fixture, 1, artifact.id)), 'run_not_found');
    t.equal((await ticks()).size, 0, 'the commit no longer shows a check that leads nowhere');
    t.same([filesOf(fixture, 'logs'), filesOf(fixture, 'artifacts')], [[], []]);
    t.equal(await reasonOf(ci.runs.remove(viewer, found, 1)), 'run_not_found');
    await push({ a: '1' });
    t.equal((await fixture.state(2)).run, 'waiting');
    t.match(
      fixture.log.find(({ event }) => event === 'ci.run_removed'),
      { number: 1 },
    );
  },
);

t.test('a job of a later attempt finds artifacts of an earlier one, and may reuse their names', async (t) => {
  const fixture = await openCi(t);
  const { ci, found, viewer, push } = fixture;
  await push(
    workflow(
      'on: push\njobs: {build: {runs-on: linux, steps: [{run: make}]}, test: {needs: build, runs-on: linux, steps: [{run: make}]}}',
    ),
  );
  const runner = await fixture.addRunner(['linux']);
  const build = (await runner.fetch())!;
  await leave(fixture, build, 'site', 'first');
  await runner.finish(build.taskId);
  const test = (await runner.fetch())!;
  await runner.finish(test.taskId, 'failure');
  await ci.runs.rerun(viewer, found, 1, 'failed');
  const again = (await runner.fetch())!;
  const task = await ci.artifacts.authoriseTask(String(again.context.gitea_runtime_token));
  t.match(await ci.artifacts.listOfTask(task), [{ name: 'site', attempt: 1 }]);
  const second = await leave(fixture, again, 'site', 'second');
  t.match(await ci.artifacts.listOfTask(task), [{ id: second.id, attempt: 2 }], 'of each name the newest');
  t.equal(await reasonOf(leave(fixture, again, 'site', 'third')), 'artifact_exists');
});

t.test('a backup contains logs and artifacts, and the key of secrets only with keys; a restore shows it', async (t) => {
  const fixture = await openCi(t);
  const { ci, modules, push } = fixture;
  await ci.secrets.set(instanceScope, { name: 'DEPLOY_KEY', value: 'do not tell' });
  await push(one);
  const runner = await fixture.addRunner(['linux']);
  const task = (await runner.fetch())!;
  const artifact = await leave(fixture, task, 'site', 'content');
  const open = await ci.artifacts.create(await ci.artifacts.authoriseTask(String(task.context.gitea_runtime_token)), {
    name: 'open',
    expiresAt: null,
  });
  await ci.artifacts.receive(open, { kind: 'block', blockId: 'a' }, bytesOf('unfinished'));
  await runner.finish(task.taskId);
  await push({ a: '1' });
  for (const withKeys of [true, false]) {
    const { folder: from, name } = await modules.backups.create({ withKeys });
    t.same(
      (await modules.backups.verify(name)).flatMap(({ problems }) => problems),
      [],
    );
    const folder = temporaryFolder(t);
    const { config } = loadConfig({
      env: { SERVICE_DATA_DIR: path.join(folder, 'data') },
      cwd: folder,
      readFile: () => '',
    });
    await restoreBackup({
      from,
      config,
      schema: newestSchema,
      replace: false,
      random: seededRandom(1),
      now: 0,
      logger: silentLogger,
    });
    t.equal(existsSync(path.join(folder, 'data/ci/secret.key')), withKeys);
    t.notOk(existsSync(path.join(folder, 'data/ci/artifacts/.uploading')), 'an unfinished upload is no artifact');
    const restored = await openCi(t, { folder });
    t.equal(await read(restored, 1, artifact.id), 'content');
    const { rows } = await restored.ci.logs.read(task.taskId, 0, 10);
    t.match(rows, [{ content: 'done' }]);
    const other = await restored.addRunner(['linux']);
    const next = await other.fetch();
    if (withKeys) t.equal(next?.secrets.get('DEPLOY_KEY'), 'do not tell');
    else
      t.match(
        (await restored.state(2)).rows[0],
        { status: 'failure', reason: /DEPLOY_KEY/ },
        'without it the job says which secret does not open',
      );
    await restored.close();
  }
});

t.test('an artifact that is no archive keeps its name and its type, and is one file', async (t) => {
  const fixture = await openCi(t);
  const { ci, found, push } = fixture;
  await push(one);
  const task = (await (await fixture.addRunner(['linux'])).fetch())!;
  const rows: [name: string, given: string | undefined, fileName: string, mediaType: string][] = [
    ['site', undefined, 'site.zip', 'application/zip'],
    ['bundle', 'application/zip', 'bundle.zip', 'application/zip'],
    ['dist.zip', 'application/zip', 'dist.zip', 'application/zip'],
    ['report.html', 'text/html; charset=utf-8', 'report.html', 'text/html; charset=utf-8'],
    ['app.tar.gz', 'application/gzip', 'app.tar.gz', 'application/gzip'],
    ['bad', 'text/html\r\nX: y', 'bad', 'application/octet-stream'],
    ['über ü.txt', 'text/plain', 'über ü.txt', 'text/plain'],
  ];
  for (const [name, given, fileName, mediaType] of rows) {
    const { id } = await leave(fixture, task, name, `content of ${name}`, null, given);
    const opened = await ci.artifacts.open(found, 1, id);
    t.match(opened, { fileName, mediaType }, name);
    opened.content.destroy();
    if (mediaType === 'application/zip') continue;
    const { files } = await ci.artifacts.files(found, 1, id);
    t.strictSame(files, [{ path: name, bytes: Buffer.byteLength(`content of ${name}`) }]);
    const file = await ci.artifacts.openFileIn(found, 1, id, name);
    t.equal((await file.content.toArray()).join(''), `content of ${name}`);
    t.equal(await reasonOf(ci.artifacts.openFileIn(found, 1, id, 'other')), 'artifact_not_found');
  }
});
