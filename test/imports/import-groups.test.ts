// time limit: 600 s
// Imports of an account and of a whole server: which owner each becomes here, names that are taken, stops at any
// request, and what is new there later.
import t from 'tap';
import type { PersonViewer } from '../../src/access/index.ts';
import type { NewImportGroup } from '../../src/imports/index.ts';
import { reasonOf } from '../ci/ci-fixture.ts';
import { freePort } from '../fixtures/free-port.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import type { Hearth, TestPerson } from '../fixtures/start-hearth.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { startGiteaStub, user } from './gitea-stub.ts';
import type { GiteaStub } from './gitea-stub.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(560_000);

let here: Hearth;
let alice: PersonViewer;
let root: PersonViewer;
let bob: TestPerson;
const ports: number[] = [];
let forges = 0;
const newForge = (): Promise<GiteaStub> => startGiteaStub(t, { port: ports[(forges += 1) - 1]! });
const env = () => ({ SERVICE_MIRRORS_ALLOWED_HOSTS: ports.map((port) => `127.0.0.1:${port}`).join(',') });

const viewerOf = ({ id, username }: TestPerson, isAdministrator = false): PersonViewer => ({
  kind: 'person',
  id,
  username,
  isAdministrator,
  via: 'session',
  scope: 'admin',
  repositoryIds: null,
});

t.before(async () => {
  for (let at = 0; at < 4; at += 1) ports.push(await freePort());
  here = await startHearth(t, { env: env() });
  alice = viewerOf(await here.addPerson('alice'));
  const administrator = await here.addPerson('root-user');
  await here.modules.accounts.setAdministrator(administrator.id, true);
  root = viewerOf(administrator, true);
  bob = await here.addPerson('bob');
});

const find = (id: string, viewer = alice, server = here) => server.modules.imports.groups.find(viewer, id);

/** The repositories of a group as they are here, by what they are there. */
async function placesOf(id: string, viewer = alice, server = here): Promise<Record<string, string>> {
  const { items } = await find(id, viewer, server);
  const ids = items.flatMap(({ repositoryId }) => repositoryId ?? []);
  const places = await server.modules.repositories.locate(ids);
  return Object.fromEntries(
    items.map(({ project, repositoryId, problem }) => {
      const place = repositoryId === null ? undefined : places.get(repositoryId);
      return [project, place === undefined ? `refused: ${problem}` : `${place.owner.handle}/${place.repository.name}`];
    }),
  );
}

t.test('all repositories of an account come, and later those that are new', async (t) => {
  const forge = await newForge();
  forge.addComment(forge.addIssue(), 'in tool');
  forge.addRepository('bob/garden').addIssue({ title: 'in garden' });
  forge.addRepository('bob/shed').addIssue();
  forge.addRepository('carol/other');
  await here.modules.repositories.create(alice, { name: 'shed', visibility: 'PRIVATE' });
  const { id } = await here.modules.imports.groups.start(alice, {
    address: `${forge.url}/bob`,
    token: forge.world.token,
    watchMs: 60_000,
  });
  await here.modules.imports.runDue();
  t.match(await find(id), {
    group: { state: 'done', account: 'bob', owner: 'alice', counts: { all: 3, done: 3, refused: 0 } },
  });
  t.strictSame(await placesOf(id), {
    'bob/garden': 'alice/garden',
    'bob/shed': 'alice/shed-2',
    'bob/tool': 'alice/tool',
  });
  const issues = await here.modules.db.read.query(
    `SELECT r.name AS name, i.title AS title FROM issues i JOIN repositories r ON r.id = i.repository_id
     WHERE r.owner_user_id = ? ORDER BY r.name`,
    [alice.id],
  );
  t.strictSame(
    issues.map(({ name, title }: { name: string; title: string }) => [name, title]),
    [
      ['garden', 'in garden'],
      ['shed-2', 'Issue 1'],
      ['tool', 'Issue 1'],
    ],
  );
  t.equal(await reasonOf(find(id, viewerOf(bob))), 'import_not_found', 'those of others are not there');
  t.strictSame(await here.modules.imports.groups.list(viewerOf(bob)), []);
  t.equal((await here.modules.imports.groups.list(root)).length, 1, 'an administrator sees all');

  forge.addRepository('bob/new');
  forge.addComment(1, 'later');
  await here.modules.imports.groups.again(alice, id, {});
  await here.modules.imports.runDue();
  t.match(await find(id), { group: { state: 'done', counts: { all: 4, done: 4 } } });
  t.match(await placesOf(id), { 'bob/new': 'alice/new', 'bob/tool': 'alice/tool' });
  await here.modules.imports.groups.again(alice, id, { isLast: true });
  await here.modules.imports.runDue();
  const { items } = await find(id);
  t.strictSame(new Set(items.map(({ state }) => state)), new Set(['ended']));
});

t.test('the owners of a whole server are accounts by proof, or new ones that are disabled', async (t) => {
  const forge = await newForge();
  forge.owners.users.push(user('carol'), user('dave'), { ...user('erin'), email: '' });
  forge.owners.orgs.push({ id: 9, username: 'team', name: 'team', full_name: 'The team', description: 'We' });
  for (const project of ['carol/one', 'dave/two', 'team/three', 'team/four']) forge.addRepository(project);
  const known = await here.addPerson('somebody');
  const address = await here.modules.accounts.addresses.add(known.id, { address: 'carol@example.org' } as never);
  await here.modules.accounts.addresses.markVerified(known.id, address.id as never);
  const start = (viewer: PersonViewer) =>
    here.modules.imports.groups.start(viewer, { address: forge.url, token: forge.world.token, isServer: true });
  t.equal(await reasonOf(start(alice)), 'invalid_import', 'not for everyone');
  const { id } = await start(root);
  await here.modules.imports.runDue();
  const found = await find(id, root);
  t.match(found.group, { state: 'done', counts: { all: 4, done: 4 } });
  t.strictSame(await placesOf(id, root), {
    'carol/one': 'somebody/one',
    'dave/two': 'dave/two',
    'team/four': 'team/four',
    'team/three': 'team/three',
  });
  t.match(
    found.owners,
    [{ login: 'bob', problem: /another owner here.*hearth import claim/ }],
    'an equal name proves nothing',
  );
  const dave = await here.modules.accounts.personByUsername('dave');
  t.not(dave.disabledAt, null);
  t.equal((await here.modules.accounts.addresses.list(dave.id))[0]?.address, 'dave@example.org');
  t.equal(await here.modules.organisations.roleOf(root.id, (await here.modules.owners.resolve('team'))!.id), 'OWNER');

  await here.modules.imports.people.claim(root, `bob@${forge.host}`, bob.id);
  await here.modules.imports.groups.again(root, id, {});
  await here.modules.imports.runDue();
  t.match(await placesOf(id, root), { 'bob/tool': 'bob/tool', 'carol/one': 'somebody/one' });
  t.strictSame((await find(id, root)).owners, []);
});

t.test('an order that cannot begin changes nothing, and says which field is wrong', async (t) => {
  const forge = await newForge();
  const cases: [Partial<NewImportGroup>, reason: string, field: string][] = [
    [{ address: forge.url }, 'invalid_import_address', 'address'],
    [{ address: `http://x:y@${forge.host}/bob` }, 'invalid_import_address', 'address'],
    [{ address: `${forge.url}/nobody-there` }, 'import_refused', 'address'],
    [{ token: 'wrong' }, 'import_refused', 'token'],
    [{ owner: 'bob' }, 'no_such_owner', 'owner'],
    [{ watchMs: 1 }, 'invalid_import', 'watch'],
  ];
  const before = (await here.modules.imports.groups.list(root)).length;
  for (const [more, reason, field] of cases) {
    const error: unknown = await here.modules.imports.groups
      .start(alice, { address: `${forge.url}/bob`, token: forge.world.token, ...more })
      .catch((caught: unknown) => caught);
    t.match(error, { reason, field }, JSON.stringify(more));
  }
  t.equal((await here.modules.imports.groups.list(root)).length, before);
});

t.test('a server that stops at any request goes on, and makes nothing twice', async (t) => {
  const forge = await newForge();
  const count = 5;
  for (let at = 0; at < count; at += 1) {
    const repository = forge.addRepository(`bob/r${at}`);
    repository.addComment(repository.addIssue(), 'a comment');
  }
  const stops = Number(process.env.HEARTH_KILLS ?? 3);
  const folder = temporaryFolder(t);
  let server = await startHearth(t, { env: env(), folder });
  const carol = viewerOf(await server.addPerson('carol'));
  const { id } = await server.modules.imports.groups.start(carol, {
    address: `${forge.url}/bob`,
    token: forge.world.token,
  });
  const total = 110;
  for (let stop = 0; stop < stops; stop += 1) {
    const at = forge.requests.length + Math.ceil(total / (stops + 1));
    const running = server.modules.imports.runDue();
    let isOver = false;
    void running.then(() => (isOver = true));
    await waitUntil(() => forge.requests.length >= at || isOver, 'the next request', { everyMs: 2 });
    await server.stop();
    await running;
    server = await startHearth(t, { env: env(), folder });
  }
  await server.modules.imports.runDue();
  t.match(await find(id, carol, server), { group: { state: 'done', counts: { all: count + 1, done: count + 1 } } });
  t.equal(Object.keys(await placesOf(id, carol, server)).length, count + 1);
  const made = await server.modules.db.read.query('SELECT count(*) AS n FROM repositories');
  t.equal(Number(made[0].n), count + 1);

  // What a stop between a repository and its import leaves behind is found again.
  forge.addRepository('bob/left');
  await server.modules.repositories.create(carol, { name: 'left', visibility: 'PRIVATE' });
  await server.modules.db.write(({ manager }) =>
    manager.query(
      `INSERT INTO import_group_items (group_id, project, login, name, url, begun_at) VALUES (?, 'bob/left', 'bob', 'left', '', 1)`,
      [id],
    ),
  );
  await server.modules.imports.groups.again(carol, id, {});
  await server.modules.imports.runDue();
  t.match((await find(id, carol, server)).group, { state: 'done', lastError: null });
  t.match(await placesOf(id, carol, server), { 'bob/left': 'carol/left' });
});
