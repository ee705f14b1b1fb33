import t from 'tap';
import { connectClient } from '../../http-runner/runner-client.ts';
import { startForge } from '../../http-runner/rpc-fixture.ts';

const workflow = {
  '.hearth/workflows/ci.yml': 'name: CI\non: push\njobs: {build: {runs-on: linux, steps: [{run: make}]}}\n',
  'a.txt': 'one\n',
};

t.test('commit statuses are shown beside commits on every page, with one query for each page', async (t) => {
  const forge = await startForge(t);
  const { url, modules } = forge;
  const first = await forge.push(workflow);
  const second = await forge.push({ 'a.txt': 'two\n' });
  await forge.push({ 'a.txt': 'three\n' }, 'Quiet [skip ci]');
  const runner = connectClient(url, { headers: await forge.register(['linux']) });
  for (const result of [1, 2]) {
    const { task } = await runner.fetchTask({ tasksVersion: 0n });
    await runner.updateTask({ state: { id: task.id, result, steps: [] }, outputs: {} });
  }
  let queries = 0;
  for (const name of ['ofCommits', 'ofRepositoryCommits'] as const) {
    const loadStatuses = modules.repositories.statuses[name] as (...given: unknown[]) => Promise<Map<string, never>>;
    Object.assign(modules.repositories.statuses, {
      [name]: (...given: unknown[]) => ((queries += 1), loadStatuses(...given)),
    });
  }
  const statusesOf = async (path: string): Promise<string[]> => {
    queries = 0;
    const response = await fetch(`${url}${path}`, { headers: { Cookie: `hearth_session=${forge.alice.session}` } });
    const html = await response.text();
    t.equal(response.status, 200, path);
    // A second time when the cached page turns out to be stale.
    t.ok(queries <= 2, `${path} loads statuses once`);
    return [...html.matchAll(/class="status tick is-(\w+)" href="([^"]+)" title="([^"]+)"/g)].map(
      ([, tone, href, title]) => `${tone} ${href} ${title}`,
    );
  };
  const good = /^good \/repos\/alice\/work\/runs\/1\/jobs\/\d+ All checks passed: 1 of 1$/;
  const bad = /^bad \/repos\/alice\/work\/runs\/2\/jobs\/\d+ A check failed: 0 of 1$/;
  const B = '/repos/alice/work';
  t.match(await statusesOf(`${B}/commits`), [bad, good], 'the newest commit was pushed with [skip ci]');
  t.same(await statusesOf(B), []);
  t.match(await statusesOf(`${B}/tree/${second}`), [bad]);
  t.match(await statusesOf(`${B}/commit/${first}`), [good]);
  t.match(await statusesOf(`${B}/compare/${first}...${second}`), [bad]);
  t.match(await statusesOf(`${B}/blob/${second}/a.txt`), [bad]);
  t.same(await statusesOf(`${B}/branches`), []);
  t.match(
    await statusesOf('/'),
    [bad, bad, bad, good],
    'what needs attention, the repository by its newest checked commit, then its pushes',
  );

  await modules.ci.runs.rerun(forge.viewer, forge.found, 2, 'failed');
  const { task } = await runner.fetchTask({ tasksVersion: 0n });
  t.match(await statusesOf(`${B}/commits`), [/^busy .*Checks are running/, good], 'a cached page shows the new state');
  await runner.updateTask({ state: { id: task.id, result: 1, steps: [] }, outputs: {} });
  t.match(await statusesOf(`${B}/commits`), [/^good/, good]);
});
