// time limit: 400 s
// A runner that talks to two servers of one PostgreSQL and one bucket, as it does behind a proxy: whatever one has
// received, the other shows and goes on with.
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { openModules } from '../../src/app/index.ts';
import type { TaskContent } from '../../src/ci/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { silentLogger, systemRandom } from '../../src/kernel/index.ts';
import { InstanceKey } from '../../src/sealing/index.ts';
import { driveRunner, openCi, reasonOf, workflow } from '../ci/ci-fixture.ts';
import { pushTo } from '../ci/pulls-fixture.ts';
import { startFakeS3 } from '../fixtures/fake-s3-server.ts';
import { startPostgres } from '../fixtures/postgres.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { createPostgresDatabaseFor, testPostgresUrl } from '../fixtures/test-postgres.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(380_000);

const postgres = testPostgresUrl ?? (await startPostgres(t)).url;
const s3 = await startFakeS3(t);
const maxArtifactBytes = 64 * 1024;
const env = {
  SERVICE_CI_MAX_ARTIFACT_SIZE: '64KiB',
  SERVICE_DATABASE_URL: await createPostgresDatabaseFor(t, postgres),
  SERVICE_DATABASE_POOL: '4',
  ...s3.env,
};

const a = await openCi(t, { env });
const { clock } = a;

/** Another server with a folder of its own, but for the instance key and the repositories. */
async function openSecond() {
  const folder = temporaryFolder(t);
  const data = path.join(folder, 'data');
  mkdirSync(path.join(data, 'ci'), { recursive: true, mode: 0o700 });
  const from = path.join(a.folder, 'data');
  new InstanceKey(path.join(from, 'ci', 'secret.key'), systemRandom, 'nodes').for('nodes');
  copyFileSync(path.join(from, 'ci', 'secret.key'), path.join(data, 'ci', 'secret.key'));
  symlinkSync(path.join(from, 'repositories'), path.join(data, 'repositories'));
  const { config } = loadConfig({
    env: { SERVICE_DATA_DIR: data, SERVICE_BASE_URL: 'https://git.example.org', ...env },
    cwd: folder,
    readFile: () => '',
  });
  const modules = await openModules(config, { logger: silentLogger, clock });
  t.teardown(() => modules.close());
  await modules.ci.recover();
  return modules;
}

const runnerA = await a.addRunner(['linux']);
const b = await openSecond();
const runnerB = await driveRunner({ ...b, clock }, runnerA.credentials);
await a.push(workflow('on: push\njobs:\n  build: {runs-on: linux, steps: [{run: make}]}\n'));

async function nextTask(): Promise<TaskContent> {
  const task = await runnerA.fetch();
  if (task === null) throw new Error('no task');
  return task;
}

const lines = async (ci: typeof a.ci, task: number): Promise<string[]> =>
  (await ci.logs.read(task, 0, 1000)).rows.map(({ content }) => content);

/** What a follower at a node has seen, until the log is complete. */
async function follow(ci: typeof a.ci, task: number): Promise<string[]> {
  const seen: string[] = [];
  for await (const news of ci.logs.follow(task, 0, AbortSignal.timeout(300_000)))
    seen.push(...news.rows.map(({ content }) => content));
  return seen;
}

t.test('a log: rows through both nodes, read and followed at both, complete in the store', async (t) => {
  const { taskId: id } = await nextTask();
  await runnerA.report(id);
  const followed = [follow(a.ci, id), follow(b.ci, id)];
  t.equal(await runnerA.log(id, 0, ['one', 'two']), 2);
  t.strictSame(await lines(b.ci, id), ['one', 'two'], 'what came to a is shown by b');
  t.equal(await runnerB.log(id, 1, ['two', 'three', 'nul \0 end']), 4, 'an overlap at the other node');
  t.equal(await runnerA.log(id, 0, ['one', 'two']), 2, 'a repeated call');
  t.equal(await runnerB.log(id, 9, ['gap']), 4, 'behind a gap nothing is stored');
  const both = await Promise.all([runnerA.log(id, 4, ['five', 'six']), runnerB.log(id, 4, ['five', 'six'])]);
  t.strictSame(both, [6, 6], 'the same rows at the same time');
  t.equal(await runnerA.log(id, 6, ['last'], true), 7);
  const expected = ['one', 'two', 'three', 'nul \uFFFD end', 'five', 'six', 'last'];
  for (const ci of [a.ci, b.ci]) t.strictSame(await lines(ci, id), expected);
  for (const seen of await Promise.all(followed)) t.strictSame(seen, expected, 'followed to its end');
  t.equal(await reasonOf(runnerB.log(id, 7, ['more'])), 'log_sealed');
  await runnerB.report(id, { result: 'success', stoppedAt: clock.now() });

  clock.advance(120_000);
  t.equal(s3.objects.size, 0);
  await Promise.all([a.ci.storeLogs(), b.ci.storeLogs()]);
  t.strictSame(
    [...s3.objects.keys()].map((key) => path.basename(key)),
    [`${id}.log`],
  );
  t.strictSame(await a.db.read.query('SELECT * FROM ci_log_parts'), []);
  for (const ci of [a.ci, b.ci]) t.strictSame(await lines(ci, id), expected, 'from the store');
  t.equal(await reasonOf(runnerA.log(id, 7, ['more'])), 'log_sealed');
});

t.test('a runner that reports to one node for long is no lost one for the other', async (t) => {
  await a.push(workflow('on: push\njobs:\n  build: {runs-on: linux, steps: [{run: make}]}\n'));
  const { taskId: id } = await nextTask();
  await runnerA.report(id);
  for (let minutes = 0; minutes < 12; minutes += 2) {
    clock.advance(115_000);
    await runnerA.report(id);
    await a.ci.sweep();
    await b.ci.sweep();
  }
  t.match(await a.db.read.query('SELECT status FROM ci_tasks WHERE id = $1', [id]), [{ status: 'running' }]);
  await runnerB.log(id, 0, ['the other node'], false);
  for (let minutes = 0; minutes < 12; minutes += 2) {
    clock.advance(115_000);
    await runnerB.report(id);
    await b.ci.sweep();
    await a.ci.sweep();
  }
  t.match(await a.db.read.query('SELECT status FROM ci_tasks WHERE id = $1', [id]), [{ status: 'running' }]);
  clock.advance(20 * 60_000);
  await a.ci.sweep();
  t.notMatch(
    await a.db.read.query('SELECT status FROM ci_tasks WHERE id = $1', [id]),
    [{ status: 'running' }],
    'one that is silent at both is lost',
  );
});

/** A running job that uploads through either node; ended by the caller. */
async function startJob() {
  await a.push(workflow('on: push\njobs:\n  build: {runs-on: linux, steps: [{run: make}]}\n'));
  const { taskId, context } = await nextTask();
  await runnerA.report(taskId);
  const token = String((context as { gitea_runtime_token: string }).gitea_runtime_token);
  return { taskId, task: await a.ci.artifacts.authoriseTask(token) };
}

const at = (node: 'a' | 'b') => (node === 'a' ? a.ci : b.ci).artifacts;
async function* bytesOf(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}
const partObjects = (): string[] => [...s3.objects.keys()].filter((key) => key.includes('/artifact-parts/'));

t.test('an artifact whose parts arrive at both nodes', async (t) => {
  const { taskId, task } = await startJob();
  type Step = ['a' | 'b', 'block' | 'more' | 'whole' | 'list', ...string[]];
  const uploads: Record<string, { steps: Step[]; finish: 'a' | 'b'; content: string | null }> = {
    blocks: {
      steps: [
        ['a', 'block', '1', 'one '],
        ['b', 'block', '3', 'wrong'],
        ['b', 'block', '2', 'two '],
        ['a', 'block', '3', 'three'],
        ['a', 'block', '4', 'left out'],
        ['b', 'block', '5', ''],
        ['b', 'list', '1', '5', '2', '1', '3'],
      ],
      finish: 'a',
      content: 'one two one three',
    },
    appended: {
      steps: [
        ['a', 'more', ''],
        ['b', 'more', 'one '],
        ['a', 'more', 'two '],
        ['b', 'more', 'three'],
      ],
      finish: 'a',
      content: 'one two three',
    },
    again: {
      steps: [
        ['a', 'whole', 'the first try'],
        ['b', 'whole', 'all of it'],
      ],
      finish: 'a',
      content: 'all of it',
    },
    nothing: { steps: [], finish: 'b', content: null },
  };
  for (const [name, { steps, finish, content }] of Object.entries(uploads)) {
    const query = await at('a').create(task, { name, expiresAt: null });
    for (const [node, kind, ...texts] of steps) {
      if (kind === 'list') await at(node).assemble(query, texts);
      else if (kind === 'block') await at(node).receive(query, { kind, blockId: texts[0]! }, bytesOf(texts[1]!));
      else await at(node).receive(query, { kind }, bytesOf(texts[0]!));
    }
    const end = { name, sizeBytes: content?.length ?? null, digest: null };
    if (content === null) {
      t.equal(await reasonOf(at(finish).finish(task, end)), 'artifact_incomplete', name);
      continue;
    }
    t.equal(await reasonOf(at(finish).finish(task, { ...end, sizeBytes: 99 })), 'artifact_size_differs', name);
    const { id } = await at(finish).finish(task, end);
    t.equal((await at('b').finish(task, end)).id, id, `${name}: told twice`);
    const opened = await at('b').openBySignedUrl(await at('b').signedUrl(task, name));
    t.equal(await text(opened.content), content, name);
  }
  t.strictSame(partObjects(), [], 'nothing is left of parts');
  t.strictSame(await a.db.read.query('SELECT * FROM ci_artifact_parts'), []);

  const open = await at('a').create(task, { name: 'limits', expiresAt: null });
  t.equal(await reasonOf(at('b').assemble(open, ['1'])), 'missing_block');
  await at('a').receive(open, { kind: 'block', blockId: '1' }, bytesOf('x'.repeat(maxArtifactBytes - 10)));
  t.equal(
    await reasonOf(at('b').receive(open, { kind: 'block', blockId: '2' }, bytesOf('x'.repeat(11)))),
    'artifact_too_large',
    'what the other node has counts',
  );
  t.equal(partObjects().length, 1, 'and what was refused goes');
  await runnerA.report(taskId, { result: 'success', stoppedAt: clock.now() });
  await b.ci.removeOld();
  t.strictSame(partObjects(), [], 'the night removes what an ended job has not finished');
  t.equal(await reasonOf(at('b').receive(open, { kind: 'whole' }, bytesOf('x'))), 'bad_runtime_token');
});

t.test('a file of the older protocol whose parts arrive at both nodes', async (t) => {
  const { taskId, task } = await startJob();
  const { id } = await at('a').openFileArtifact(task, { name: 'files', ttlMs: null });
  const send = (node: 'a' | 'b', path: string, start: number, part: string, total: number) =>
    at(node).receiveFile(task, id, {
      itemPath: `files/${path}`,
      start,
      end: start + part.length,
      total,
      isGzipped: false,
      sizeBytes: total,
      body: bytesOf(part),
    });
  await send('a', 'one.txt', 0, 'first try ', 16);
  await send('a', 'one.txt', 0, '01234', 16);
  t.equal(await reasonOf(send('b', 'one.txt', 9, 'gap', 16)), 'invalid_range');
  await send('b', 'one.txt', 5, '56789a', 16);
  await send('a', 'one.txt', 5, '56789a', 16);
  await send('a', 'one.txt', 8, '89abcdef', 16);
  await send('b', 'two.txt', 0, 'short', 5);
  await at('b').finishFileArtifact(task, 'files');
  for (const [path, content] of [
    ['one.txt', '0123456789abcdef'],
    ['two.txt', 'short'],
  ] as const)
    for (const node of ['a', 'b'] as const)
      t.equal(await text((await at(node).openFile(task, id, `files/${path}`)).content), content, `${path} at ${node}`);
  t.strictSame(partObjects(), [], 'nothing is left of parts');
  await runnerA.report(taskId, { result: 'success', stoppedAt: clock.now() });
});

t.test('the merge queue of a branch: one node at a time', async (t) => {
  const queueWorkflow = 'name: Queue\non: [merge_group]\njobs: {test: {runs-on: linux, steps: [{run: ls}]}}\n';
  const place = { owner: 'alice', name: 'work' };
  const first = await a.push({ '.hearth/workflows/ci.yml': null, '.hearth/workflows/queue.yml': queueWorkflow });
  await a.modules.repositories.rules.add(a.viewer, place.owner, place.name, {
    pattern: 'main',
    target: 'BRANCH',
    merging: { upToDate: 'queue', adminsToo: false },
  });
  await pushTo(a, 'topic', { 'topic.txt': 'topic\n' }, first);
  const { issue } = await a.modules.pulls.open(a.viewer, place, { title: 'Topic', body: '', head: 'topic' });
  const turn = await b.leases.take(`queue ${a.found.repository.id} main`);
  t.ok(turn);
  await a.modules.pulls.queue.enter(a.viewer, { ...place, number: issue.number }, { style: 'merge', round: 1 });
  const stateOf = async () => (await a.db.read.query('SELECT state FROM pull_queue')) as { state: string }[];
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  t.match(await stateOf(), [{ state: 'WAITING' }], 'while the other node has it, nothing happens');
  await turn?.end();
  await waitUntil(async () => (await stateOf())[0]?.state !== 'WAITING');
  t.match(await stateOf(), [{ state: 'TESTING' }], 'then it goes on by itself');
});

t.test('a runner that waits at one node gets the job that was queued at the other', async (t) => {
  const waiting = (async () => {
    for (;;) {
      const found = await runnerB.fetch(20_000);
      if (found !== null) return found;
    }
  })();
  await a.push(workflow('on: push\njobs:\n  build: {runs-on: linux, steps: [{run: make}]}\n'));
  const task = await waiting;
  t.equal(await reasonOf(runnerA.log(task.taskId, 0, ['hello'], true)), 'nothing');
  await runnerA.report(task.taskId, { result: 'success', stoppedAt: clock.now() });
  const ended = await b.db.read.query('SELECT status FROM ci_tasks WHERE id = $1', [task.taskId]);
  t.match(ended, [{ status: 'success' }]);
});
