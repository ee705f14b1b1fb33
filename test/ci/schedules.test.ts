import t from 'tap';
import { openCi, workflow } from './ci-fixture.ts';

const job = '  a:\n    runs-on: linux\n    steps: [{run: "true"}]\n';

t.test('schedules of the default branch start on time, and once for missed times', async (t) => {
  const { push, ci, found, clock, addRunner } = await openCi(t);
  await push(workflow(`on:\n  schedule: [{cron: '30 12 * * *'}]\njobs:\n${job}`));
  await push(workflow(`on:\n  schedule: [{cron: '* * * * *'}]\njobs:\n${job}`), { branch: 'topic' });
  const numbers = async () =>
    (await ci.runs.list(found, {}, { limit: 10 })).runs.map(({ event, ref, title }) => [event, ref, title]);
  await ci.runSchedules();
  t.same(await numbers(), []);
  clock.advance(31 * 60_000);
  await ci.runSchedules();
  await ci.runSchedules();
  t.same(await numbers(), [['schedule', 'refs/heads/main', 'ci.yml']], 'called after its workflow');
  const runner = await addRunner(['linux']);
  await runner.finish((await runner.fetch())!.taskId);
  clock.advance(5 * 86_400_000);
  await ci.runSchedules();
  t.equal((await numbers()).length, 2);
  await push(workflow(`on: {push: {branches: [none]}}\njobs:\n${job}`));
  clock.advance(86_400_000);
  await ci.runSchedules();
  t.equal((await numbers()).length, 2, 'what the file no longer says is gone');
});

t.test('schedules follow the default branch to another branch, without a push', async (t) => {
  const { push, ci, found, clock, viewer, modules } = await openCi(t);
  const every = (cron: string) => workflow(`on:\n  schedule: [{cron: '${cron}'}]\njobs:\n${job}`);
  await push(every('30 12 * * *'));
  await push(every('* * * * *'), { branch: 'topic' });
  await push(workflow(`on: push\njobs:\n${job}`), { branch: 'plain' });
  const { owner, name } = found.canonical;
  const choose = (defaultBranch: string) => modules.repositories.edit(viewer, owner, name, { defaultBranch });
  const scheduled = async () =>
    (await ci.runs.list(found, {}, { limit: 20 })).runs
      .filter(({ event }) => event === 'schedule')
      .map(({ ref }) => ref);
  await choose('topic');
  clock.advance(61_000);
  await ci.runSchedules();
  t.same(await scheduled(), ['refs/heads/topic']);
  await choose('plain');
  clock.advance(2 * 86_400_000);
  await ci.runSchedules();
  t.same(await scheduled(), ['refs/heads/topic'], 'a branch without schedules has none, and the old ones are gone');
  await choose('main');
  clock.advance(86_400_000);
  await ci.runSchedules();
  t.same(await scheduled(), ['refs/heads/main', 'refs/heads/topic']);
});

t.test('schedules have zones; the runs to come are listed, those that will not start are not', async (t) => {
  const { push, ci, found, clock, viewer, modules } = await openCi(t);
  const bob = await modules.accounts.addPerson({ username: 'bob' });
  const foreign = { ...viewer, id: bob.id, username: 'bob' };
  await modules.repositories.create(foreign, { name: 'secret', visibility: 'PRIVATE' });
  const other = await modules.repositories.find(foreign, 'bob', 'secret');
  const file = (...entries: string[]) => workflow(`on:\n  schedule: [${entries.join(', ')}]\njobs:\n${job}`, 'a.yml');
  const daily = "{cron: '0 4 * * *'}";
  const zoned = "{cron: '0 4 * * *', timezone: Asia/Tokyo}";
  await push({ ...file(daily, zoned, zoned, "{cron: 'TZ=Europe/Berlin 0 4 * * *'}") });
  await push(file("{cron: '1 1 * * *'}"), { to: other, by: bob.id });
  const listed = async (of = found) =>
    (await ci.workflows.planned(of)).map(({ workflow: path, cron, timeZone, at }) => {
      return `${path} ${cron} ${timeZone} ${new Date(at).toISOString().slice(11, 16)}`;
    });
  t.same((await listed()).sort(), [
    'a.yml 0 4 * * * Asia/Tokyo 19:00',
    'a.yml 0 4 * * * UTC 04:00',
    'a.yml TZ=Europe/Berlin 0 4 * * * Europe/Berlin 03:00',
  ]);
  t.same(await listed(other), ['a.yml 1 1 * * * UTC 01:01']);
  clock.advance(86_400_000);
  await ci.runSchedules();
  await ci.runSchedules();
  const { runs } = await ci.runs.list(found, {}, { limit: 10 });
  t.same(
    runs.map(({ eventPayload: { schedule, timezone = '' } }) => `${schedule} ${timezone}`).sort(),
    ['0 4 * * * ', '0 4 * * * Asia/Tokyo', 'TZ=Europe/Berlin 0 4 * * * '],
    'one waits for each zone',
  );
  await ci.settings.switchWorkflow(viewer, found, { path: 'a.yml', isEnabled: false });
  t.same(await listed(), []);
  await ci.settings.switchWorkflow(viewer, found, { path: 'a.yml', isEnabled: true });
  t.equal((await listed()).length, 3);
  const { owner, name } = found.canonical;
  await modules.repositories.setArchived(viewer, owner, name, true);
  t.same(await ci.workflows.planned(await modules.repositories.find(viewer, owner, name)), []);
});

t.test('a schedule has at most one waiting run, beside a running one', async (t) => {
  const { push, ci, found, clock, addRunner, state, log } = await openCi(t);
  const file = (name: string, cron: string) =>
    `name: ${name}\nrun-name: \${{ github.event.schedule == '*/2 * * * *' && 'Half' || '' }}\non:\n  schedule: ${cron}\njobs:\n${job}`;
  await push({
    ...workflow(file('Nightly', "[{cron: '* * * * *'}, {cron: '*/2 * * * *'}]"), 'nightly.yml'),
    ...workflow(file('Links', "[{cron: '* * * * *'}]"), 'links.yml'),
  });
  const runs = async () =>
    (await ci.runs.list(found, {}, { limit: 50 })).runs.map(({ title, status }) => `${title} ${status}`).sort();
  for (let minute = 0; minute < 20; minute += 1) {
    clock.advance(60_000);
    await ci.runSchedules();
  }
  t.strictSame(await runs(), ['Half waiting', 'Links waiting', 'Nightly waiting'], 'nobody came for twenty minutes');
  const passedOver = log.filter(({ event }) => event === 'ci.schedule_passed_over');
  t.equal(passedOver.length, 19 + 19 + 9, 'what was left out is in the log');
  t.match(passedOver[0], { workflow: /(?:nightly|links)\.yml$/, cron: '* * * * *', waiting: Number });

  const runner = await addRunner(['linux']);
  const tasks = [(await runner.fetch())!, (await runner.fetch())!, (await runner.fetch())!];
  t.equal(await runner.fetch(), null, 'it catches up with one run of each');
  for (let minute = 0; minute < 4; minute += 1) {
    clock.advance(60_000);
    await ci.runSchedules();
    for (const task of tasks) await runner.report(task.taskId);
  }
  const waiting = ['Half waiting', 'Links waiting', 'Nightly waiting'];
  t.strictSame(await runs(), [...waiting, 'Half running', 'Links running', 'Nightly running'].sort());
  for (const task of tasks) await runner.finish(task.taskId);
  t.equal((await state(1)).run, 'success');

  // A push to the default branch brings new workflow files; waiting runs still count.
  await push({ a: '2' });
  clock.advance(120_000);
  await ci.runSchedules();
  t.strictSame(
    (await runs()).filter((one) => one.endsWith('waiting')),
    waiting,
  );
});

t.test('a schedule of an archived repository is paused until it is unarchived', async (t) => {
  const { push, ci, found, clock, viewer, modules } = await openCi(t);
  await push(workflow(`on:\n  schedule: [{cron: '* * * * *'}]\njobs:\n${job}`));
  const count = async () => (await ci.runs.list(found, {}, { limit: 10 })).runs.length;
  await modules.repositories.setArchived(viewer, 'alice', 'work', true);
  clock.advance(60_000);
  await ci.runSchedules();
  t.equal(await count(), 0);
  await modules.repositories.setArchived(viewer, 'alice', 'work', false);
  clock.advance(60_000);
  await ci.runSchedules();
  t.equal(await count(), 1);
});
