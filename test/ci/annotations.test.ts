// Annotations and summaries through the module's public interface: what is kept of the rows of a log, how often, and
// who sees it.
import t from 'tap';
import { parseAnnotation } from '../../src/ci/logs/parse-annotation.ts';
import type { CiFixture } from './ci-fixture.ts';
import { driveRunner, openCi, reasonOf, workflow } from './ci-fixture.ts';

const simple = workflow('on: push\njobs:\n  a:\n    runs-on: linux\n    steps: [{run: one}, {run: two}]\n');

t.test('annotations are stored once, at most 50 of a level, and come before the acknowledgement', async (t) => {
  const first = await openCi(t);
  const sha = await first.push(simple);
  const runner = await first.addRunner(['linux']);
  const { taskId } = (await runner.fetch())!;
  const of = (fixture: CiFixture) => fixture.modules.ci.annotations.ofCommit(first.found, sha);
  await runner.log(taskId, 0, ['plain', '::error file=src/a.ts,line=3,endLine=5,title=T::No%0Amore', '::notice::n']);
  t.match(await of(first), [
    { level: 'error', path: 'src/a.ts', firstLine: 3, lastLine: 5, title: 'T', message: 'No\nmore', row: 1 },
    { level: 'notice', path: null, firstLine: null, message: 'n', row: 2, run: { number: 1 } },
  ]);
  await runner.log(taskId, 1, ['::error file=src/a.ts,line=3,endLine=5,title=T::No%0Amore', '::notice::n']);
  t.equal((await of(first)).length, 2, 'a repeated call adds none');
  await first.close();
  const second = await openCi(t, { folder: first.folder });
  const again = await driveRunner(second.modules, runner.credentials);
  const many = Array.from({ length: 700 }, (_, at) => `::warning::w${at}`);
  t.equal(await again.log(taskId, 3, many), 703);
  t.equal(await again.log(taskId, 703, ['::error::late', '::warning::never']), 705);
  const all = await of(second);
  t.equal(all.filter(({ level }) => level === 'warning').length, 50);
  t.same(
    all.filter(({ level }) => level === 'error').map(({ row }) => row),
    [1, 703],
  );
  t.same(await second.modules.ci.logs.count(taskId, 0, 705), { errors: 2, warnings: 701 });
});

t.test('a new attempt replaces what the last one said; with debug logging it gets the switches', async (t) => {
  const fixture = await openCi(t);
  const sha = await fixture.push(simple);
  const runner = await fixture.addRunner(['linux']);
  const { taskId, secrets } = (await runner.fetch())!;
  t.notOk(secrets.has('ACTIONS_STEP_DEBUG'));
  await runner.log(taskId, 0, ['::error::old'], true);
  await runner.report(taskId, { result: 'failure', stoppedAt: fixture.clock.now() });
  const { ci } = fixture.modules;
  await ci.runs.rerun(fixture.viewer, fixture.found, 1, 'failed', { debug: true });
  t.same(await ci.annotations.ofCommit(fixture.found, sha), []);
  const next = (await runner.fetch())!;
  t.equal(next.secrets.get('ACTIONS_STEP_DEBUG'), 'true');
  await runner.log(next.taskId, 0, ['::error::new'], true);
  t.match(await ci.annotations.ofCommit(fixture.found, sha), [{ message: 'new' }]);
  const { jobs, run } = await ci.runs.find(fixture.found, 1, 1);
  t.match(await ci.annotations.ofJobs(run, jobs), [{ message: 'old' }], 'the page of the old attempt has its own');
});

t.test('the summary of a step is replaced by the next one, and belongs to the job of its token', async (t) => {
  const fixture = await openCi(t);
  await fixture.push(simple);
  const runner = await fixture.addRunner(['linux']);
  const { taskId, context } = (await runner.fetch())!;
  // The first report stores the steps of a task.
  const { ci } = fixture.modules;
  const task = await ci.artifacts.authoriseTask(String(context['gitea_runtime_token']));
  const set = (step: number, content: Buffer | string, job = task.jobId) =>
    ci.summaries.set(task, { job, step, content: Buffer.from(content) });
  await set(1, '# One');
  t.match(await ci.summaries.of([taskId]), [{ content: '# One' }], 'before the runner reports its steps');
  await runner.report(taskId);
  await set(1, '# Two \0');
  t.match(await ci.summaries.of([taskId]), [{ taskId, step: 1, content: '# Two ' }]);
  t.equal(await reasonOf(set(2, 'x')), 'step_not_found');
  t.equal(await reasonOf(set(0, 'x', task.jobId + 1)), 'task_not_found');
  t.equal(await reasonOf(set(0, Buffer.from([0xff]))), 'summary_not_text');
  await runner.report(taskId, { result: 'success', stoppedAt: fixture.clock.now() });
  t.equal(await reasonOf(ci.artifacts.authoriseTask(String(context['gitea_runtime_token']))), 'bad_runtime_token');
});

t.test('where an annotation points', (t) => {
  const place = (row: string) => {
    const found = parseAnnotation(row);
    return found && [found.path, found.firstLine, found.lastLine, found.message];
  };
  t.same(place('::error::main.go:12:5: vet: undefined: x'), ['main.go', 12, 12, 'vet: undefined: x']);
  t.same(place('::error::Ratio 3:4: no'), [null, null, null, 'Ratio 3:4: no']);
  t.same(place('::warning file=/workspace/alice/work/src/a.ts,line=2::m'), ['src/a.ts', 2, 2, 'm']);
  t.same(place('::error file=.\\src\\a.cs,line=7,endLine=3::m'), ['src/a.cs', 7, 7, 'm']);
  t.same(place('::error file=/etc/passwd,line=1::m'), [null, null, null, 'm']);
  t.same(place('::error file=a,line=0::m'), ['a', null, null, 'm']);
  t.equal(place('::debug file=a::m'), null);
  t.end();
});
