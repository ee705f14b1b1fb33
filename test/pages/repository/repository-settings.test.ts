// Settings of a repository, as pages and forms on the real modules.
import t from 'tap';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { extractMain, fillRepository, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import type { PageResponse } from '../../fixtures/web-fixture.ts';

const web = await startWeb(t);
const alice = await signedIn(web, 'alice');
const bob = await signedIn(web, 'bob');
const carol = await signedIn(web, 'carol');
const anonymous = visitor(web);
const where = ({ status, headers }: PageResponse): [number, string | undefined] => [status, headers.location];
const kiln = '/repos/alice/kiln';

t.before(async () => {
  await alice.post('/repos', { name: 'kiln', visibility: 'PRIVATE', description: 'Hot' });
  const { path } = await web.modules.repositories.find(
    web.modules.config && {
      kind: 'person',
      id: alice.id,
      username: 'alice',
      isAdministrator: false,
      via: 'session',
      scope: 'admin',
      repositoryIds: null,
    },
    'alice',
    'kiln',
  );
  await fillRepository(t, path, { 'README.md': '# Kiln' });
  await fillRepository(t, path, { 'README.md': '# Next' }, 'next');
});

t.test('description and default branch, with the way to its rules', async (t) => {
  const page = extractMain(await alice.get(`${kiln}/settings`));
  t.match(page, /<option value="main" selected>[^]*<option value="next">/);
  t.match(page, /href="[^"]*\/kiln\/settings\/branches"/);
  const input = { description: 'Very hot', default_branch: 'next' };
  t.same(where(await alice.post(`${kiln}/settings`, input)), [303, `${kiln}/settings?done=settings-saved`]);
  const saved = extractMain(await alice.get(`${kiln}/settings`));
  t.match(saved, /value="Very hot"[^]*<option value="next" selected>/);
  const refused = await alice.post(`${kiln}/settings`, { ...input, default_branch: 'none', description: 'Kept' });
  t.match([refused.status, extractMain(refused)], [422, /no branch with this name[^]*value="Kept"/]);
  t.equal((await alice.post(`${kiln}/settings`, { ...input, description: 'x'.repeat(501) })).status, 422);
  t.notMatch(saved, /name="accept_gerrit_refs" value="yes" checked/, 'nor is this one, at first');
  await alice.post(`${kiln}/settings`, { ...input, default_branch: 'main', accept_gerrit_refs: 'yes' });
  t.match(extractMain(await alice.get(`${kiln}/settings`)), /name="accept_gerrit_refs" value="yes" checked/);
  t.match(extractMain(await alice.get(`${kiln}/settings`)), /name="lfs" value="yes" checked/, 'a form without it');
  await alice.post(`${kiln}/settings`, { ...input, default_branch: 'main', lfs_choice: 'yes' });
  t.notMatch(extractMain(await alice.get(`${kiln}/settings`)), /name="lfs" value="yes" checked/, 'it was not ticked');
  await alice.post(`${kiln}/settings`, { ...input, default_branch: 'main', lfs_choice: 'yes', lfs: 'yes' });
  t.match(extractMain(await alice.get(`${kiln}/settings`)), /name="lfs" value="yes" checked/);
});

t.test('security E05 visibility says what follows from it, and acts at once', async (t) => {
  t.match(extractMain(await alice.get(`${kiln}/settings`)), /2 branches and 0 tags/, 'what becomes visible');
  t.equal((await anonymous.get(kiln)).status, 404);
  t.same(where(await alice.post(`${kiln}/settings/visibility`, { visibility: 'PUBLIC' })), [
    303,
    `${kiln}/settings?done=now-public`,
  ]);
  t.equal((await anonymous.get(kiln)).status, 200);
  t.match(
    extractMain(await alice.get(`${kiln}/settings`)),
    /Remote followers are kept, but no longer notified/,
    'SPEC §3',
  );
  await alice.post(`${kiln}/settings/visibility`, { visibility: 'PRIVATE' });
  t.equal((await anonymous.get(kiln)).status, 404);
  await alice.post(`${kiln}/settings/visibility`, { visibility: 'PUBLIC' });
  await alice.post(`${kiln}/settings/visibility`, { visibility: 'nonsense' });
  t.equal((await anonymous.get(kiln)).status, 404, 'what nobody understands hides');
});

t.test('collaborators: added by handle, changed, removed, and able to leave', async (t) => {
  const list = `${kiln}/settings/collaborators`;
  t.equal((await bob.get(kiln)).status, 404);
  t.same(where(await alice.post(list, { username: 'Bob', role: 'read' })), [303, `${list}?done=collaborator-added`]);
  t.equal((await bob.get(kiln)).status, 200);
  t.equal((await bob.get(list)).status, 404, 'the role read sees no list');
  for (const [form, message] of [
    [{ username: 'nobody', role: 'read' }, /No user has this username\./],
    [{ username: 'alice', role: 'read' }, /alice owns this repository/],
    [{ username: 'bob', role: 'read' }, /already a collaborator/],
    [{ username: 'carol', role: 'all' }, /Choose one of the roles/],
  ] as const) {
    const response = await alice.post(list, form);
    t.match([response.status, extractMain(response)], [422, message]);
    t.match(extractMain(response), new RegExp(`value="${form.username}"`), 'text kept');
  }
  t.same(where(await alice.post(`${list}/bob/role`, { role: 'admin' })), [303, `${list}?done=role-changed`]);
  t.equal((await bob.get(list)).status, 200, 'who administers chooses who works here');
  for (const path of ['/settings', '/settings/danger'])
    t.equal((await bob.get(`${kiln}${path}`)).status, 404, `SPEC §4.3 but ${path} is the owner's`);
  t.equal((await bob.post(`${kiln}/settings/rename`, { name: 'mine' })).status, 404);
  await bob.post(list, { username: 'carol', role: 'write' });
  t.same(where(await alice.post(`${list}/carol/remove`)), [303, `${list}?done=collaborator-removed`]);
  t.equal((await alice.post(`${list}/carol/remove`)).status, 404);
  t.equal((await carol.get(kiln)).status, 404);
  t.same(where(await bob.post(`${kiln}/leave`)), [303, '/?done=repository-left']);
  t.equal((await bob.get(kiln)).status, 404);
  t.equal((await bob.post(`${kiln}/leave`)).status, 404);
});

t.test('SPEC §5 the higher of two rights counts, and the page says why', async (t) => {
  await alice.post('/orgs', { name: 'guild' });
  await alice.post('/orgs/guild/members', { username: 'bob', role: 'MEMBER' });
  await alice.post('/repos', { owner: 'guild', name: 'hall', visibility: 'PRIVATE' });
  await alice.post('/repos/guild/hall/settings/collaborators', { username: 'bob', role: 'read' });
  const page = extractMain(await alice.get('/repos/guild/hall/settings/collaborators'));
  t.match(page, /in fact write, as member of the organisation/);
  t.match(page, /Your role is admin, as owner of the organisation/);
  await bob.post('/repos/guild/hall/leave');
  t.equal((await bob.get('/repos/guild/hall')).status, 200, 'the membership stays');
});

t.test('rename: the old path leads on until the name is used again', async (t) => {
  await alice.post(`${kiln}/settings/visibility`, { visibility: 'PUBLIC' });
  await alice.post('/repos', { name: 'taken', visibility: 'PRIVATE' });
  for (const [name, message] of [
    ['taken', /already has a repository named taken/],
    ['a b', /Use letters, digits/],
    ['', /Give the repository a name/],
    ['x.git', /cannot end in/],
  ] as const) {
    const response = await alice.post(`${kiln}/settings/rename`, { name });
    t.match([response.status, extractMain(response)], [422, message]);
  }
  t.same(where(await alice.post(`${kiln}/settings/rename`, { name: 'oven' })), [303, '/repos/alice/oven?done=renamed']);
  for (const [from, to] of [
    [kiln, '/repos/alice/oven'],
    ['/repos/ALICE/KILN?x=1', '/repos/alice/oven?x=1'],
    [`${kiln}/image?v=1`, '/repos/alice/oven/image?v=1'],
    ['/alice/kiln', '/repos/alice/oven'],
    ['/alice/kiln.git', '/repos/alice/oven'],
    ['/git/alice/kiln.git/info/refs?service=git-upload-pack', '/git/alice/oven.git/info/refs?service=git-upload-pack'],
  ]) {
    const response = await anonymous.get(from!);
    t.same(where(response), [301, to], String(from));
    t.match(response.headers['cache-control'], /no-cache/, 'not kept');
  }
  t.same(
    where(await alice.post(`${kiln}/settings/rename`, { name: 'x' })),
    [307, '/repos/alice/oven/settings/rename'],
    'a form is sent again to the new address, where its right is asked for',
  );
  t.equal((await bob.post(`${kiln}/settings/rename`, { name: 'x' })).status, 307, 'alike for everybody who may read');
  await alice.post('/repos/alice/oven/settings/visibility', { visibility: 'PRIVATE' });
  t.equal((await anonymous.get(kiln)).status, 404, 'a hidden repository leads nobody to it');
  t.equal((await anonymous.get('/git/alice/kiln.git/info/refs?service=git-upload-pack')).status, 401, 'nor does git');
  const oneAndOther = await Promise.all([bob.get(kiln), bob.get('/repos/alice/none')]);
  t.equal(oneAndOther[0]!.body, oneAndOther[1]!.body);
  await alice.post('/repos', { name: 'kiln', visibility: 'PUBLIC' });
  t.equal((await anonymous.get(kiln)).status, 200, 'the name is used again');
  await alice.post('/repos/alice/kiln/settings/delete', { confirm: 'alice/kiln' });
  await alice.post('/repos/alice/oven/settings/rename', { name: 'kiln' });
});

t.test('git clones through the old address', async (t) => {
  await alice.post(`${kiln}/settings/visibility`, { visibility: 'PUBLIC' });
  await alice.post(`${kiln}/settings/rename`, { name: 'furnace' });
  const { stdout, stderr } = await promisify(execFile)('git', ['ls-remote', `${web.origin}/git/alice/kiln.git`], {
    env: { PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1', HOME: '/nonexistent' },
  });
  t.match(stdout, /refs\/heads\/main/);
  t.match(stderr, /redirecting to .*\/git\/alice\/furnace\.git/, 'and is told');
  await alice.post('/repos/alice/furnace/settings/rename', { name: 'kiln' });
});

t.test('transfer: at once to one’s own organisation, otherwise the receiver accepts', async (t) => {
  const transfer = (path: string, new_owner: string, confirm: string) =>
    alice.post(`${path}/settings/transfer`, { new_owner, confirm });
  for (const [owner, confirm, message] of [
    ['bob', 'kiln', /Type alice\/kiln/],
    ['nobody', 'alice/kiln', /owner does not exist/],
    ['alice', 'alice/kiln', /already/],
  ] as const) {
    const response = await transfer(kiln, owner, confirm);
    t.match([response.status, extractMain(response)], [422, message]);
  }
  t.same(where(await transfer(kiln, 'guild', 'alice/kiln')), [303, '/repos/guild/kiln?done=transferred']);
  t.same(where(await anonymous.get(kiln)), [301, '/repos/guild/kiln']);
  t.same(where(await transfer('/repos/guild/kiln', 'bob', 'guild/kiln')), [
    303,
    '/repos/guild/kiln/settings/danger?done=transfer-offered',
  ]);
  t.match(extractMain(await alice.get('/repos/guild/kiln/settings/danger')), /offered this repository to <strong>bob/);
  t.match(extractMain(await bob.get('/')), /You have been offered a repository/);
  const id =
    /\/settings\/repositories\/([0-9a-f-]{36})\/accept/.exec((await bob.get('/settings/repositories')).body)?.[1] ?? '';
  t.equal((await carol.post(`/settings/repositories/${id}/accept`)).status, 404, 'nobody else can');
  await alice.post('/repos/guild/kiln/settings/transfer/withdraw');
  t.equal((await bob.post(`/settings/repositories/${id}/accept`)).status, 404, 'withdrawn');
  await transfer('/repos/guild/kiln', 'bob', 'guild/kiln');
  t.same(where(await bob.post(`/settings/repositories/${id}/decline`)), [
    303,
    '/settings/repositories?done=transfer-declined',
  ]);
  await transfer('/repos/guild/kiln', 'bob', 'guild/kiln');
  t.same(where(await bob.post(`/settings/repositories/${id}/accept`)), [303, '/repos/bob/kiln?done=transferred']);
  t.same(where(await anonymous.get(kiln)), [301, '/repos/bob/kiln'], 'the first path still leads there');
  t.equal((await alice.get('/repos/bob/kiln/settings')).status, 404);
});

t.test('archive, delete with the typed name, and restore', async (t) => {
  const home = '/repos/bob/kiln';
  t.same(where(await bob.post(`${home}/settings/archive`)), [303, `${home}/settings/danger?done=archived`]);
  t.match(extractMain(await bob.get(home)), /Archived/);
  await bob.post(`${home}/settings/unarchive`);
  t.notMatch(extractMain(await bob.get(home)), /Archived/);

  const wrong = await bob.post(`${home}/settings/delete`, { confirm: 'kiln' });
  t.match([wrong.status, extractMain(wrong)], [422, /id="confirm-error">Type bob\/kiln to confirm/]);
  t.same(where(await bob.post(`${home}/settings/delete`, { confirm: 'bob/kiln' })), [303, '/?done=repository-deleted']);
  t.equal((await bob.get(home)).status, 404);
  const trash = extractMain(await bob.get('/settings/repositories'));
  const id = /\/settings\/repositories\/([0-9a-f-]{36})\/restore/.exec(trash)?.[1] ?? '';
  t.match(trash, /in 30 days|in 4 weeks|next month/);
  t.equal((await carol.post(`/settings/repositories/${id}/restore`, { name: 'kiln' })).status, 404);
  await bob.post('/repos', { name: 'kiln', visibility: 'PRIVATE' });
  const taken = await bob.post(`/settings/repositories/${id}/restore`, { name: 'kiln' });
  t.match([taken.status, extractMain(taken)], [422, /already has a repository named kiln/]);
  t.same(where(await bob.post(`/settings/repositories/${id}/restore`, { name: 'kiln-2' })), [
    303,
    '/repos/bob/kiln-2?done=restored',
  ]);
  t.equal((await bob.get('/repos/bob/kiln-2')).status, 200);
});
