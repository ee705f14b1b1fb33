// time limit: 200 s
// A whole server that answers as GitLab's REST API is documented: members of a group by their access level, and public
// keys for SSH and OpenPGP of accounts that a mapping names or that the import has made. It is no GitLab.
import t from 'tap';
import { accountViewer } from '../../src/access/index.ts';
import { generateKey } from '../../src/openssh/index.ts';
import { freePort } from '../fixtures/free-port.ts';
import { signedIn, startWeb } from '../fixtures/web-fixture.ts';
import { KeyRing } from '../signing/signed-commits.ts';
import { gitlabProject, gitlabUser, startGitlabStub } from './gitlab-stub.ts';

t.setTimeout(180_000);

const port = await freePort();
const host = `127.0.0.1:${port}`;
const web = await startWeb(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: host } });
const { imports, organisations, accounts, signing } = web.modules;
const ids: Record<string, string> = {};
for (const name of ['root-user', 'bob', 'carol', 'dave', 'erin']) ids[name] = (await signedIn(web, name)).id;
await accounts.setAdministrator(ids['root-user']!, true);
const root = accountViewer(await accounts.personById(ids['root-user']!));

const forge = await startGitlabStub(t, { port, pageSize: 50 });
const ring = new KeyRing(t);
const keyOf = (): string => `ssh-ed25519 ${generateKey('key').blob.toString('base64')}`;
const gpgKey = (name: string): string => ring.export(ring.make(`${name} <${name}@example.org>`, 'ed25519'));
const id = (login: string): number => Number(gitlabUser(login)['id']);
const member = (login: string, level: number, more = {}) => ({ ...gitlabUser(login), access_level: level, ...more });
// Here `carol` and `erin` by addresses that both sides know, `bob` by an equal name alone, until a mapping
// says that he is `dave`; the names of `david` and `frank` are free.
const addressed = (login: string) => ({ ...gitlabUser(login), public_email: `${login}@example.org` });
const { others } = forge.world;
others.set('/groups', [{ id: 7, full_path: 'team', name: 'Team', path: 'team' }]);
others.set('/users', [
  addressed('carol'),
  gitlabUser('david'),
  gitlabUser('bob'),
  addressed('frank'),
  addressed('erin'),
]);
others.set('/groups/team/projects', [forge.world.project]);
others.set('/groups/team/members', [
  member('carol', 50),
  member('erin', 40),
  member('david', 20),
  member('bob', 50),
  member('frank', 30),
  member('gone', 50, { state: 'blocked' }),
  member('minimal', 5),
]);
for (const login of ['carol', 'david', 'bob', 'frank', 'erin']) {
  others.set(`/users/${id(login)}/projects`, []);
  others.set(`/users/${id(login)}/keys`, [{ id: 1, title: `of ${login}`, key: keyOf() }]);
  others.set(`/users/${id(login)}/gpg_keys`, [{ id: 1, key: gpgKey(login) }]);
}
const two = ring.run(['--armor', '--export']);
others.get(`/users/${id('frank')}/gpg_keys`)!.push({ id: 2, key: 'no key' }, { id: 3, key: two });
for (const name of ['carol', 'erin']) {
  const address = await accounts.addresses.add(ids[name]!, { address: `${name}@example.org` });
  await accounts.addresses.markVerified(ids[name]!, address.id);
}

let group: string;
const find = async (of: string) => imports.groups.find(root, of);
const linesOf = async (of: string): Promise<string[]> =>
  (await find(of)).lines.map(({ login, problem }) => `${login}: ${problem}`);
const membersOf = async (name: string): Promise<string[]> =>
  (await organisations.listMembers(root, name)).map(({ person, role }) => `${person.username} ${role}`).sort();
const keysOf = async (owner: string): Promise<[ssh: string[], gpg: number]> => [
  (await accounts.listKeys(owner)).map(({ title }) => title).sort(),
  (await signing.armoredKeys(owner)).length,
];

t.test('members by level and proof, keys of accounts that nobody uses yet or a mapping names', async (t) => {
  ({ id: group } = await imports.groups.start(root, {
    ...{ address: forge.url, kind: 'gitlab', token: forge.world.token, isServer: true },
  }));
  await imports.runDue();
  t.match((await find(group)).group, { state: 'done', lastError: null, counts: { all: 1, done: 1 } });
  t.match((await find(group)).items, [{ project: gitlabProject, state: 'done' }]);
  t.strictSame(await membersOf('team'), ['carol OWNER', 'erin MEMBER', 'root-user OWNER']);
  const frank = await accounts.personByUsername('frank');
  t.not(frank.disabledAt, null, 'made by the import, and disabled');
  const [ssh, gpg] = await keysOf(frank.id);
  t.strictSame(ssh, ['of frank']);
  t.ok(gpg >= 1);
  for (const name of ['carol', 'bob', 'dave'])
    t.strictSame(await keysOf(ids[name]!), [[], 0], `${name}: an address or a name gives no key`);
  const lines = await linesOf(group);
  for (const wanted of [
    /^team: david is not in team yet: the account david is disabled/,
    /^team: Add bob to team/,
    /^team: frank is not in team yet: the account frank is disabled/,
  ])
    t.ok(
      lines.some((line) => wanted.test(line)),
      wanted.source,
    );
  t.notOk(
    lines.some((line) => /gone|minimal/.test(line)),
    'who is blocked there or sees no code has no access to bring',
  );

  await imports.people.claim(root, `bob@${host}`, ids['dave']!);
  await imports.groups.again(root, group, {});
  await imports.runDue();
  t.strictSame(await membersOf('team'), ['carol OWNER', 'dave OWNER', 'erin MEMBER', 'root-user OWNER']);
  t.strictSame(await keysOf(ids['dave']!), [['of bob'], 1]);
  t.strictSame(await keysOf(ids['bob']!), [[], 0]);
});

t.test('what the token may not read is a line, and the rest comes', async (t) => {
  forge.refusals.push({ pattern: /\/groups\/team\/members/, status: 403, headers: {} });
  await imports.groups.again(root, group, {});
  await imports.runDue();
  t.match((await find(group)).group, { state: 'done', lastError: null });
  t.ok((await linesOf(group)).some((line) => /^team: members: the token may not read them there/.test(line)));
});

t.test('a list that is absent, of a server that shows nothing else either, is named in words', async (t) => {
  forge.refusals.length = 0;
  forge.refusals.push(
    { pattern: /\/groups\/team\/members/, status: 404, headers: {} },
    { pattern: /\/version/, status: 404, headers: {} },
  );
  await imports.groups.again(root, group, {});
  await imports.runDue();
  const { lastError } = (await find(group)).group;
  t.equal(lastError, `${host} has no such list, or the token has no access to it.`);
});
