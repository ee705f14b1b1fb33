// Every scheduled task runs once on a database that has something for it to do: it ends without an error, and its
// statements stand in the checks of query plans.
import t from 'tap';
import { scheduledTasks } from '../../src/app/scheduled-tasks.ts';
import { startPullWeb } from '../fixtures/pull-web-fixture.ts';
import { insertRow } from '../fixtures/test-database.ts';

t.setTimeout(240_000);

const day = 24 * 60 * 60 * 1000;

t.test('each task of the list does its work', async (t) => {
  const garden = await startPullWeb(t);
  const { web, at, bare, git, commit, open, push, alice, aliceViewer } = garden;
  const { modules, clock } = web;
  const { accounts, ci, db, issues, mail, repositories, webhooks } = modules;

  // Three pull requests, of which two have the same head; two are deleted for good.
  const shared = await commit({ 'a.txt': 'a\n' }, 'Shared');
  const one = await open('One');
  await git('checkout', '--quiet', '-b', 'twin');
  await push('twin');
  await open('Two', 'twin');
  const own = await commit({ 'b.txt': 'b\n' }, 'Own');
  await git('branch', 'third');
  const three = await open('Three', 'third');
  for (const { number } of [one, three]) {
    await issues.trash(aliceViewer, { ...at, number });
    await issues.purge(aliceViewer, { ...at, number });
  }
  const [removed] = await db.read.query('SELECT count(*) AS n FROM removed_rounds');
  t.ok(Number(removed.n) > 0);

  // Something in each trash, queue and log.
  const { number } = await issues.open(aliceViewer, at, { title: 'Gone', body: '' });
  await issues.trash(aliceViewer, { ...at, number });
  await repositories.create(aliceViewer, { name: 'gone', visibility: 'PRIVATE' });
  await repositories.trash.move(aliceViewer, 'alice', 'gone');
  const { repository } = await repositories.find(aliceViewer, 'alice', 'garden');
  const scope = { kind: 'repository', id: repository.id } as const;
  const hook = await webhooks.add(aliceViewer, scope, { url: 'https://hooks.example.org/', events: ['push'] });
  await webhooks.test(scope, hook.id);
  await ci.runners.create(scope, { name: 'spare', ephemeral: true });
  await modules.releases.create(aliceViewer, at, { tag: 'v1', title: 'One', body: '' });
  await accounts.startSession(alice.id, { address: '127.0.0.1', userAgent: 'test' });
  await db.write((tx) =>
    insertRow(tx, 'mirrors', {
      repository_id: repository.id,
      direction: 'push',
      url: 'https://git.example.org/garden.git',
      interval_ms: day,
      next_at: tx.now,
      created_at: tx.now,
      updated_at: tx.now,
    }),
  );
  void mail;
  clock.advance(400 * day);

  const tasks = scheduledTasks(modules);
  t.ok(tasks.length > 25);
  const failed: string[] = [];
  for (const { name, run } of tasks)
    await Promise.resolve(run()).catch((error: unknown) => failed.push(`${name}: ${String(error)}`));
  t.strictSame(failed, []);

  const count = async (table: string) => Number((await db.read.query(`SELECT count(*) AS n FROM ${table}`))[0].n);
  for (const table of ['removed_rounds', 'sessions']) t.equal(await count(table), 0, `nothing of ${table} is left`);
  t.equal(Number((await db.read.query('SELECT count(*) AS n FROM repositories WHERE name = ?', ['gone']))[0].n), 0);
  t.equal(Number((await db.read.query('SELECT count(*) AS n FROM issues WHERE number = ?', [number]))[0].n), 0);
  const refs = (await git('--git-dir', bare, 'for-each-ref', '--format=%(refname) %(objectname)')).split('\n');
  t.ok(
    refs.some((ref) => ref.endsWith(`rounds/${shared} ${shared}`)),
    'a commit that another pull request has is kept',
  );
  t.notOk(
    refs.some((ref) => ref.includes(`rounds/${own}`)),
    'one of none is released',
  );
  t.strictSame(
    refs.filter((ref) => /refs\/pull\/[13]\//.test(ref)),
    [],
  );
  t.ok(refs.some((ref) => ref.startsWith('refs/pull/2/head ')));
});
