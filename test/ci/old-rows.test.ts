// Rows that grow with every push and run go when they are old: what a ref, a badge or an undo needs stays.
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { openCi, workflow } from './ci-fixture.ts';

const day = 86_400_000;
const fixture = await openCi(t);
const { modules, clock, found } = fixture;
const { ci, db, repositories } = modules;
const count = async (table: string, where = '1 = 1'): Promise<number> =>
  Number(((await db.read.query(`SELECT count(*) AS n FROM ${table} WHERE ${where}`)) as { n: number }[])[0]!.n);

t.test('runs go with their jobs, tasks and statuses after `ci.run_keep`; the newest of a workflow stays', async (t) => {
  await fixture.push(workflow('on: push\njobs:\n  a:\n    runs-on: linux\n    steps: [{run: one}]\n'));
  const runner = await fixture.addRunner(['linux']);
  const finishOne = async () => runner.finish((await runner.fetch())!.taskId);
  await finishOne();
  for (const turn of [1, 2]) {
    await fixture.push({ [`file-${turn}`]: String(turn) });
    await finishOne();
  }
  t.equal(await count('ci_runs', 'finished_at IS NOT NULL'), 3);
  clock.advance(729 * day);
  await ci.removeOld();
  t.equal(await count('ci_runs'), 3, 'not yet');
  await fixture.push({ running: 'x' });
  t.equal(await count('ci_runs'), 4);
  clock.advance(2 * day);
  await ci.removeOld();
  t.strictSame(
    ((await db.read.query('SELECT number FROM ci_runs ORDER BY number')) as { number: number }[]).map(
      (row) => row.number,
    ),
    [4],
    'three are old; the one that has not ended stays',
  );
  t.equal(await count('ci_jobs'), 1);
  t.equal(await count('ci_tasks', `job_id NOT IN (SELECT id FROM ci_jobs)`), 0);
  await finishOne();
  clock.advance(800 * day);
  await ci.removeOld();
  t.equal(await count('ci_runs'), 1, 'the newest run of the workflow, however old');
  await fixture.push({ next: 'x' });
  t.equal(await count('ci_runs', 'number = 5'), 1, 'numbers go on');
});

t.test('pushes go after `repositories.push_keep`, but for the values of refs and what can be undone', async (t) => {
  const names = ['one', 'two', 'three'];
  await db.write(({ manager }) => manager.query('DELETE FROM pushes'));
  for (const name of names)
    await repositories.branches.create(localAdministrator, 'alice', 'work', { name, from: 'main' });
  const two = (await modules.git.refs.list(found.path)).get('refs/heads/two')!;
  await repositories.branches.delete(localAdministrator, 'alice', 'work', { name: 'two', expected: two });
  await repositories.pushes.finish();
  await db.write(({ manager }) => manager.query('UPDATE pushes SET announced_at = settled_at WHERE parked_at IS NULL'));
  t.equal(await count('pushes'), 4);
  clock.advance(729 * day);
  t.equal(await repositories.pushes.removeOld(), 0);
  clock.advance(2 * day);
  await db.write(({ manager }) =>
    manager.query("UPDATE push_updates SET kept_until = ? WHERE ref = 'refs/heads/two'", [clock.now() + day]),
  );
  t.equal(await repositories.pushes.removeOld(), 0, 'what can be undone');
  clock.advance(2 * day);
  await repositories.pushes.releaseOverwrittenTips();
  t.equal(await repositories.pushes.removeOld(), 2, 'a branch that is gone: its creation and its deletion');
  t.strictSame(
    ((await db.read.query('SELECT ref FROM push_updates ORDER BY ref')) as { ref: string }[]).map(({ ref }) => ref),
    ['refs/heads/one', 'refs/heads/three'],
  );
  t.equal(found.repository.name, 'work');
});
