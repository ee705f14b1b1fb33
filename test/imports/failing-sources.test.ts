// time limit: 180 s
// runs alone: the pauses between tries of a request are shortened for the whole process
// Sources that answer some requests never: what they are about is left out after a while, with a line in the report.
// Those that answer none are waited for.
import t from 'tap';
import type { NewImport } from '../../src/imports/index.ts';
import { freePort } from '../fixtures/free-port.ts';
import { signedIn, startWeb, visitor } from '../fixtures/web-fixture.ts';
import { viewerOf } from '../pages/issues/issues-fixture.ts';
import { startGiteaStub } from './gitea-stub.ts';

t.setTimeout(170_000);

const pauses = new Set([500, 2_000, 8_000]);
const { setTimeout: wait } = globalThis;
globalThis.setTimeout = ((work: () => void, ms: number, ...rest: []) =>
  wait(work, pauses.has(ms) ? 5 : ms, ...rest)) as typeof setTimeout;
t.teardown(() => void (globalThis.setTimeout = wait));

const [port, other] = [await freePort(), await freePort()];
const web = await startWeb(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: `127.0.0.1:${port},127.0.0.1:${other}` } });
const { imports } = web.modules;
const alice = viewerOf((await signedIn(web, 'alice')).id, 'alice');
const anonymous = visitor(web);
const forge = await startGiteaStub(t, { port, pageSize: 50 });
const address = `${forge.url}/bob/tool`;
forge.world.repository['private'] = false;
const first = forge.addIssue({ title: 'First' });
forge.addComment(first, 'A comment');

let count = 0;
async function start(more: Partial<NewImport> = {}): Promise<{ id: string; name: string }> {
  count += 1;
  const name = `tool-${count}`;
  const { id } = await imports.start(alice, { address, token: forge.world.token, name, ...more });
  await imports.runDue();
  return { id, name };
}
const find = async (id: string) => (await imports.find(id))!;
async function linesOf(id: string): Promise<string[]> {
  const problems = await imports.problems((await find(id)).id);
  return problems.filter(({ item }) => item !== 'to do').map(({ item, problem }) => `${item}: ${problem}`);
}
async function titles(id: string): Promise<string[]> {
  const rows: { title: string }[] = await web.modules.db.read.query(
    'SELECT title AS title FROM issues WHERE repository_id = ? ORDER BY number',
    [id],
  );
  return rows.map(({ title }) => title);
}

t.test('what fails whenever it is asked for is left out, and everything else comes', async (t) => {
  const second = forge.addIssue({ title: 'Second' });
  const pull = forge.addPull(forge.push('other'));
  forge.addReview(pull, {});
  t.teardown(() => {
    forge.world.issues.splice(second - 1);
    forge.world.pulls.splice(0);
  });
  const all = ['First', 'Second', 'A pull request'];
  const rows: readonly (readonly [pattern: RegExp, line: RegExp, titles: readonly string[]])[] = [
    [/\/pulls\/\d+\/reviews/, /^#\d+: did not come: .* answered with status 500/m, all.slice(0, 2)],
    [/\/issues\/1\/reactions/, /^#1: did not come: .* answered with status 500/m, all.slice(1)],
    [/\/pulls\?/, /^pull requests: did not all come: .* answered with status 500/m, all],
    [/\/labels\?/, /^labels: did not all come: .* answered with status 500/m, all],
    [/\/hooks\?/, /^webhooks: did not come: .* answered with status 500/m, all],
  ];
  for (const [pattern, line, wanted] of rows) {
    forge.heal();
    forge.fail({ pattern, status: 500 });
    const { id, name } = await start();
    for (let tries = 0; tries < 3; tries += 1) {
      t.match(await find(id), { state: 'running', failures: tries + 1 }, `${pattern.source}: it is tried again`);
      t.equal((await anonymous.get(`/repos/alice/${name}`)).status, 404);
      web.clock.advance(3_600_000);
      await imports.runDue();
    }
    t.match(await find(id), { state: 'done', lastError: null }, pattern.source);
    t.match((await linesOf(id)).join('\n'), line);
    t.strictSame(await titles(id), wanted, pattern.source);
    forge.heal();
    await imports.again(alice, id, { isFull: true });
    await imports.runDue();
    t.strictSame(await titles(id), all, `${pattern.source}: the rest comes with a run that compares everything`);
    t.notMatch((await linesOf(id)).join('\n'), line);
  }
});

t.test('a server that is down holds up the run, and nothing is left out', async (t) => {
  forge.fail({ pattern: /./, status: 503 });
  t.equal(
    await start().catch((error: unknown) => (error as { reason: string }).reason),
    'import_refused',
    'it does not begin',
  );
  forge.heal();
  forge.meanwhile(/\/labels\?/, async () => forge.fail({ pattern: /./, status: 502 }));
  const { id } = await start();
  for (let tries = 0; tries < 3; tries += 1) {
    web.clock.advance(3 * 3_600_000);
    await imports.runDue();
  }
  t.match(await find(id), { state: 'running', phase: 'labels', failures: 4, lastError: /status 502/ });
  t.strictSame(await linesOf(id), []);
  forge.heal();
  web.clock.advance(3 * 3_600_000);
  await imports.runDue();
  t.match(await find(id), { state: 'done', failures: 0 });
});
