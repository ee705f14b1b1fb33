// time limit: 180 s
// What is done here with a repository while its import runs: it is renamed, another one takes its name, it is archived,
// deleted, or its import is ended. Nothing of the import reaches another repository, and what was ended stays so.
import t from 'tap';
import { freePort } from '../fixtures/free-port.ts';
import { signedIn, startWeb, visitor } from '../fixtures/web-fixture.ts';
import { viewerOf } from '../pages/issues/issues-fixture.ts';
import { startGiteaStub } from './gitea-stub.ts';

t.setTimeout(170_000);

const port = await freePort();
const web = await startWeb(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: `127.0.0.1:${port}` } });
const { imports, repositories, db } = web.modules;
const alice = viewerOf((await signedIn(web, 'alice')).id, 'alice');
const anonymous = visitor(web);
const forge = await startGiteaStub(t, { port, pageSize: 50 });
forge.world.repository['private'] = false;
forge.world.repository['topics'] = [];
forge.world.repository['website'] = 'https://tool.example.org';
const first = forge.addIssue({ title: 'First' });
forge.addComment(first, 'A comment');
forge.world.protections.push({ rule_name: 'release/*', enable_push: false });

let count = 0;
const start = async (): Promise<{ id: string; name: string }> => {
  count += 1;
  const name = `tool-${count}`;
  const { id } = await imports.start(alice, { address: `${forge.url}/bob/tool`, token: forge.world.token, name });
  return { id, name };
};
const titles = async (id: string): Promise<string[]> =>
  (await db.read.query('SELECT title AS title FROM issues WHERE repository_id = ?', [id])).map(
    ({ title }: { title: string }) => title,
  );
const named = async (id: string) => (await repositories.locate([id])).get(id)?.repository;
const rulesOf = async (name: string): Promise<string[]> =>
  (await repositories.rules.list(alice, 'alice', name)).map(({ pattern }) => pattern);
/** Runs what is due, and what waits for its next try. */
async function runDue(tries = 3): Promise<void> {
  for (let left = tries; left > 0; left -= 1) {
    await imports.runDue();
    web.clock.advance(3_600_000);
  }
}

for (const moment of [/\/topics\?/, /\/branch_protections/, /\/stargazers\?/] as const)
  t.test(`another repository takes the name at ${moment.source}`, async (t) => {
    const { id, name } = await start();
    let other = '';
    forge.meanwhile(moment, async () => {
      await repositories.rename(alice, 'alice', name, `${name}-moved`);
      ({ id: other } = await repositories.create(alice, { name, visibility: 'PRIVATE' }));
    });
    await runDue();
    t.match(await imports.find(id), { state: 'done', lastError: null });
    t.match(await named(other), { visibility: 'PRIVATE', description: '', website: '' }, 'it stays as it is');
    t.notOk((await rulesOf(name)).includes('release/*'));
    t.match(await named(id), { visibility: 'PUBLIC', description: 'A tool', website: 'https://tool.example.org' });
    t.ok((await rulesOf(`${name}-moved`)).includes('release/*'));
    t.strictSame(await titles(id), ['First']);
    t.equal((await anonymous.get(`/repos/alice/${name}`)).status, 404);
  });

t.test('an import that is ended stops, whatever happens to its last request', async (t) => {
  const rows: readonly (readonly [what: string, moment: RegExp, failure: object | null])[] = [
    ['an answer', /\/issues\?/, null],
    ['a limit', /\/issues\?/, { status: 429, headers: { 'Retry-After': '60' } }],
    ['an error', /\/issues\?/, { status: 500 }],
    ['a token that ends', /\/issues\?/, { status: 401 }],
    ['the last step but one', /\/hooks\?/, null],
  ];
  for (const [what, moment, failure] of rows) {
    forge.heal();
    const { id, name } = await start();
    forge.meanwhile(moment, async () => {
      await imports.end(alice, id);
      if (failure !== null) forge.fail({ pattern: moment, ...failure });
    });
    await runDue();
    t.match(await imports.find(id), { state: 'ended', hasToken: false, watchMs: null }, what);
    t.strictSame(await titles(id), moment.source.includes('hooks') ? ['First'] : [], what);
    t.equal((await anonymous.get(`/repos/alice/${name}`)).status, 404, `${what}: what did not come whole is not seen`);
  }
  forge.heal();
});

t.test('the repository is archived, deleted, restored, or deleted for good', async (t) => {
  const archived = await start();
  forge.meanwhile(/\/labels\?/, () => repositories.setArchived(alice, 'alice', archived.name, true));
  await runDue();
  t.match(await imports.find(archived.id), { state: 'done', lastError: null }, 'archived');
  t.ok((await named(archived.id))!.archivedAt !== null, 'it stays so');

  const deleted = await start();
  forge.meanwhile(/\/labels\?/, () => repositories.trash.move(alice, 'alice', deleted.name));
  await runDue();
  t.match(await imports.find(deleted.id), { state: 'running', failures: 0, lastError: null }, 'it rests');
  const asked = forge.requests.length;
  await runDue();
  t.equal(forge.requests.length, asked, 'and asks nothing');
  await repositories.trash.restore(alice, deleted.id);
  await runDue();
  t.match(await imports.find(deleted.id), { state: 'done', lastError: null }, 'restored');
  t.strictSame(await titles(deleted.id), ['First']);

  const gone = await start();
  forge.meanwhile(/\/labels\?/, async () => {
    await repositories.trash.move(alice, 'alice', gone.name);
    web.clock.advance(1_000);
    await repositories.trash.empty(0);
  });
  await runDue();
  t.equal(await imports.find(gone.id), null, 'deleted for good');
  t.strictSame(await titles(gone.id), []);
  const left = await db.read.query('SELECT 1 FROM import_staged');
  t.strictSame(left, []);
});
