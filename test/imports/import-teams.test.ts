// time limit: 300 s
// What the owners of a whole server have beside their repositories: members and teams of people who are known by proof,
// pictures, and public keys of accounts that an administrator's mapping names or that the import has made. Nobody else
// gets access, and what was taken away here stays so.
import t from 'tap';
import { accountViewer } from '../../src/access/index.ts';
import { generateKey } from '../../src/openssh/index.ts';
import { freePort } from '../fixtures/free-port.ts';
import { signedIn, startWeb } from '../fixtures/web-fixture.ts';
import { sampleImages } from '../images/sample-images.ts';
import { startGiteaStub, user } from './gitea-stub.ts';

t.setTimeout(280_000);

const port = await freePort();
const web = await startWeb(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: `127.0.0.1:${port}` } });
const { imports, repositories, organisations, accounts, avatars, owners } = web.modules;
const host = `127.0.0.1:${port}`;
const ids: Record<string, string> = {};
for (const name of ['root-user', 'alice', 'bob', 'carol', 'dave', 'david']) ids[name] = (await signedIn(web, name)).id;
await accounts.setAdministrator(ids['root-user']!, true);
const root = accountViewer(await accounts.personById(ids['root-user']!));
const asPerson = async (name: string) => accountViewer(await accounts.personById(ids[name]!));

const forge = await startGiteaStub(t, { port, pageSize: 50 });
const all = Object.fromEntries(
  ['code', 'issues', 'pulls', 'releases', 'wiki'].map((unit) => [`repo.${unit}`, 'write']),
);
const keyOf = (): string => `ssh-ed25519 ${generateKey('key').blob.toString('base64')}`;
const keys = { carol: keyOf(), david: keyOf(), frank: keyOf(), taken: keyOf() };
const people = {
  // Here `carol` by an address that both sides know, `david` is `dave` by a mapping, `bob` by an equal name alone.
  carol: user('carol', 11),
  david: { ...user('david', 12), email: '' },
  bob: { ...user('bob', 13), email: '' },
  frank: { ...user('frank', 14), avatar_url: `${forge.url}/avatars/frank` },
};
forge.owners.users.splice(0, 1, ...Object.values(people));
const org = (name: string, id: number) => ({ id, username: name, name, full_name: name, description: '' });
forge.owners.orgs.push({ ...org('team', 21), avatar_url: `${forge.url}/avatars/team` }, org('others', 22));
for (const project of ['team/one', 'team/two', 'others/secret']) forge.addRepository(project);
for (const name of ['team', 'frank']) forge.files.set(`/avatars/${name}`, { body: sampleImages['image/png'] });
const { lists } = forge.owners;
const repository = (project: string) => forge.repositories.get(project)!.world.repository;
lists.set('/orgs/team/teams', [
  { id: 31, name: 'Owners', permission: 'owner' },
  { id: 32, name: 'Back end', description: 'Writes', permission: 'write', units_map: all },
  { id: 33, name: 'testers', permission: 'read', units_map: { ...all, 'repo.code': 'none' } },
  { id: 34, name: 'readers', permission: 'read', units_map: { ...all, 'repo.wiki': 'read' } },
]);
lists.set('/teams/31/members', [people.carol]);
lists.set('/teams/32/members', [people.carol, people.david, people.bob, people.frank]);
lists.set('/teams/32/repos', [repository('team/one')]);
lists.set('/teams/33/members', [people.david]);
lists.set('/teams/33/repos', [repository('team/two')]);
lists.set('/teams/34/members', [people.david]);
lists.set('/teams/34/repos', [repository('team/two'), { full_name: 'others/secret' }]);
lists.set('/orgs/others/teams', [{ id: 41, name: 'insiders', permission: 'admin' }]);
lists.set('/teams/41/members', [people.bob]);
lists.set('/teams/41/repos', [repository('others/secret')]);
for (const name of ['carol', 'david', 'frank'] as const)
  lists.set(`/users/${name}/keys`, [{ id: 1, title: 'laptop', key: keys[name] }]);
lists
  .get('/users/david/keys')!
  .push({ id: 2, title: 'shared', key: keys.taken }, { id: 3, title: 'bad', key: 'no key' });
await accounts.addKey(ids['alice']!, { line: keys.taken });
const address = await accounts.addresses.add(ids['carol']!, { address: 'carol@example.org' });
await accounts.addresses.markVerified(ids['carol']!, address.id);

const find = async (id: string) => imports.groups.find(root, id);
const membersOf = async (name: string): Promise<string[]> =>
  (await organisations.listMembers(root, name)).map(({ person, role }) => `${person.username} ${role}`).sort();
const teamOf = async (organisation: string, name: string): Promise<string[]> =>
  (await organisations.teams.members(root, { organisation, name })).map(({ person }) => person.username!).sort();
const keysOf = async (id: string): Promise<string[]> => (await accounts.listKeys(id)).map(({ title }) => title).sort();
const canRead = async (name: string, owner: string, repo: string): Promise<boolean> =>
  repositories.find(await asPerson(name), owner, repo).then(
    () => true,
    () => false,
  );

t.test('members, teams, pictures and keys of a whole server', async (t) => {
  const { id } = await imports.groups.start(root, { address: forge.url, token: forge.world.token, isServer: true });
  await imports.runDue();
  t.match((await find(id)).group, { state: 'done', lastError: null });
  t.strictSame(await membersOf('team'), ['carol OWNER', 'root-user OWNER']);
  t.strictSame(await membersOf('others'), ['root-user OWNER']);
  t.strictSame(await teamOf('team', 'Back-end'), ['carol']);
  t.notOk(await canRead('bob', 'team', 'one'), 'an equal name proves nothing');
  t.notOk(await canRead('dave', 'team', 'one'), 'nor does one that no mapping names');
  t.notOk(await canRead('bob', 'others', 'secret'));
  const frank = await accounts.personByUsername('frank');
  t.not(frank.disabledAt, null);
  t.strictSame(await keysOf(frank.id), ['laptop']);
  t.strictSame(await keysOf(ids['carol']!), [], 'an address alone gives no key');
  const lines = (await find(id)).lines.map(({ login, problem }) => `${login}: ${problem}`);
  for (const wanted of [
    /^team: The team Back end is Back-end here/,
    /^team: Give the team testers a role in team\/two: there it sees only parts of it/,
    /^team: Add david to team\/Back-end, team\/testers, team\/readers, if it is the same person here/,
    /^team: frank is not in team\/Back-end yet: the account frank is disabled/,
    /^others: Add bob to others\/insiders/,
  ])
    t.ok(
      lines.some((line) => wanted.test(line)),
      wanted.source,
    );
  const team = (await owners.resolve('team'))!;
  const others = (await owners.resolve('others'))!;
  t.strictSame(new Set((await avatars.ofOwners([team.id, frank.id, others.id])).keys()), new Set([team.id, frank.id]));
  const stamp = (await avatars.ofOwners([team.id])).get(team.id)!.updatedAt;

  // A mapping, a person who is enabled, and a change here.
  await imports.people.claim(root, `david@${host}`, ids['dave']!);
  await accounts.setDisabled(frank.id, false);
  lists.get('/users/frank/keys')!.push({ id: 9, title: 'planted', key: keyOf() });
  await organisations.teams.removeMember(root, { organisation: 'team', name: 'Back-end' }, 'carol');
  await imports.groups.again(root, id, {});
  await imports.runDue();
  t.match((await find(id)).group, { state: 'done', lastError: null });
  t.strictSame(await teamOf('team', 'Back-end'), ['dave', 'frank'], 'who was taken out here stays out');
  t.ok(await canRead('dave', 'team', 'one'));
  t.ok(await canRead('dave', 'team', 'two'), 'by the team of readers');
  t.notOk(await canRead('dave', 'others', 'secret'), 'a team gives nothing outside of its organisation');
  t.strictSame(await keysOf(ids['dave']!), ['laptop']);
  t.strictSame(await keysOf(frank.id), ['laptop'], 'an account in use gets no keys from elsewhere');
  t.equal((await avatars.ofOwners([team.id])).get(team.id)!.updatedAt, stamp, 'the picture is written once');
  const later = (await find(id)).lines.map(({ login, problem }) => `${login}: ${problem}`);
  t.ok(later.some((line) => /^david: The SSH key shared did not come/.test(line)));
  t.ok(later.some((line) => /^david: The SSH key bad did not come/.test(line)));
  t.notOk(
    later.some((line) => /Add david/.test(line)),
    'a line goes with its reason',
  );
});
