// time limit: 120 s
// What a repository has beside its content: variables, deploy keys on demand, and access, stars and watches of people
// who are known by proof. Everything else is a list of what is to be done.
import t from 'tap';
import { usernamesOf } from '../../src/access/index.ts';
import type { RuleAct } from '../../src/access/index.ts';
import { generateKey } from '../../src/openssh/index.ts';
import { freePort } from '../fixtures/free-port.ts';
import { signedIn, startWeb } from '../fixtures/web-fixture.ts';
import { viewerOf } from '../pages/issues/issues-fixture.ts';
import { startGiteaStub, user } from './gitea-stub.ts';

t.setTimeout(110_000);

const port = await freePort();
const web = await startWeb(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: `127.0.0.1:${port}` } });
const { imports, repositories, ci, accounts, db } = web.modules;
const ids: Record<string, string> = {};
for (const name of ['alice', 'bob', 'carol', 'dave']) ids[name] = (await signedIn(web, name)).id;
const alice = viewerOf(ids['alice']!, 'alice');
const forge = await startGiteaStub(t, { port });
const host = `127.0.0.1:${port}`;
forge.world.repository['private'] = false;
forge.addIssue({ user: user('carol') });
forge.addIssue({ user: user('bob') });
const { blob } = generateKey('deploy');
const line = `ssh-ed25519 ${blob.toString('base64')}`;
// Here `dave` is known by an address that both sides know, `carol` by a mapping, and `bob` by an equal name alone.
const there = [user('carol'), { ...user('david'), email: 'dave@example.org' }, { ...user('bob'), email: '' }];
forge.world.extras.set('/collaborators', there);
forge.world.permissions.set('david', 'admin').set('carol', 'write');
forge.world.extras.set('/stargazers', there);
forge.world.extras.set('/subscribers', there.slice(0, 1));
forge.world.extras.set('/keys', [{ title: 'deploy', key: line, read_only: true }]);
forge.world.extras.set('/actions/variables', [{ name: 'REGION', data: 'north' }]);
forge.world.extras.set('/actions/secrets', [{ name: 'PASSWORD' }]);
const start = async (name: string, more = {}): Promise<string> => {
  const { id } = await imports.start(alice, {
    ...{ address: `${forge.url}/bob/tool`, token: forge.world.token, name },
    ...more,
  });
  await imports.runDue();
  t.match(await imports.find(id), { state: 'done', lastError: null });
  return id;
};
const toDo = async (id: string): Promise<string[]> =>
  (await imports.problems((await imports.find(id))!.id)).flatMap(({ item, problem }) =>
    item === 'to do' ? problem : [],
  );
const access = async (name: string): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await repositories.collaborators.list(alice, 'alice', name)).map(({ person, role }) => [person.username, role]),
  );
const fans = async (table: string, id: string): Promise<string[]> =>
  (
    (await db.read.query(
      `SELECT u.username AS name FROM ${table} f JOIN users u ON u.id = f.user_id WHERE f.repository_id = ? ORDER BY 1`,
      [id],
    )) as { name: string }[]
  ).map(({ name }) => name);

t.test('access comes by proof alone, and the rest is a list', async (t) => {
  const address = await accounts.addresses.add(ids['dave']!, { address: 'dave@example.org' });
  const withoutClaim = await start('first');
  t.strictSame(await access('first'), {}, 'an address that is not verified proves nothing');
  t.strictSame(await fans('stars', withoutClaim), []);
  t.strictSame((await toDo(withoutClaim)).filter((text) => /access/.test(text)).length, 3);

  await accounts.addresses.markVerified(ids['dave']!, address.id);
  await imports.people.claim(alice, `carol@${host}`, ids['carol']!);
  const id = await start('second');
  t.strictSame(await access('second'), { carol: 'write', dave: 'admin' });
  t.strictSame(await fans('stars', id), ['carol', 'dave']);
  t.strictSame(await fans('watches', id), ['alice', 'carol'], 'and the owner, as of every new repository');
  t.strictSame(
    (await ci.variables.list({ kind: 'repository', id })).map(({ name, value }) => [name, value]),
    [['REGION', 'north']],
  );
  t.strictSame(await toDo(id), [
    'Add the deploy key deploy again, if it is still needed.',
    'Give bob access, if it is the same person here.',
    'Set the secret PASSWORD: its value stays there.',
  ]);
  t.strictSame(await repositories.deployKeys.list(alice, 'alice', 'second'), [], 'keys come on demand');

  await repositories.collaborators.remove(alice, 'alice', 'second', 'carol');
  await imports.again(alice, id, { isFull: true });
  await imports.again(alice, withoutClaim, { isFull: true });
  await imports.runDue();
  t.strictSame(await access('second'), { dave: 'admin' }, 'what was taken away here stays so');
  t.strictSame(await access('first'), { carol: 'write', dave: 'admin' }, 'who is known later gets it by a full run');
});

t.test('deploy keys on demand, and never a key that is in use', async (t) => {
  await start('third', { withDeployKeys: true });
  const [key, ...others] = await repositories.deployKeys.list(alice, 'alice', 'third');
  t.match(key, { title: 'deploy', access: 'read', line });
  t.strictSame(others, []);
  const id = await start('fourth', { withDeployKeys: true });
  t.strictSame(await repositories.deployKeys.list(alice, 'alice', 'fourth'), []);
  const problems = await imports.problems((await imports.find(id))!.id);
  t.ok(
    problems.some(({ item }) => item === 'deploy key deploy'),
    'named',
  );
});

t.test('a dry run says what will not come, and why', async (t) => {
  const before = forge.requests.length;
  Object.assign(forge.world.repository, { internal_tracker: { enable_time_tracker: true } });
  const { problems } = await imports.try({ address: `${forge.url}/bob/tool`, token: forge.world.token });
  const lines = problems.map(({ item, problem }) => `${item}: ${problem}`);
  for (const wanted of [
    /^to do: Set the secret PASSWORD: its value stays there/,
    /^to do: Give carol access, if it is the same person here/,
    /^to do: Add the deploy key deploy again/,
    /^dependencies: of issues stay there/,
    /^tracked times: only those of the owner of the token/,
    /^workflows: their files come with the code; runs, logs and artifacts stay there/,
  ])
    t.ok(
      lines.some((line) => wanted.test(line)),
      wanted.source,
    );
  t.ok(forge.requests.slice(before).every(({ path }) => !path.includes('/issues?state=all&limit=50')));
});

t.test('releases of an author are those of the account that claims them, and back', async (t) => {
  const release = { tag_name: 'v1', target_commitish: 'main', name: 'One', body: '', draft: true, prerelease: false };
  const times = { created_at: '2024-01-01T00:00:00Z', published_at: '2024-01-01T00:00:00Z' };
  forge.world.releases.push({ id: 1, ...release, ...times, author: user('bob'), assets: [] });
  forge.world.releases.push({ id: 2, ...release, tag_name: 'v2', ...times, author: user('carol'), assets: [] });
  const id = await start('fifth');
  const authors = async (): Promise<unknown[][]> =>
    (
      (await db.read.query(
        'SELECT author_name AS name, author_id AS id FROM releases WHERE repository_id = ? ORDER BY tag',
        [id],
      )) as { name: string; id: string | null }[]
    ).map((row) => [row.name, row.id]);
  const carols = [`carol@${host}`, ids['carol']];
  t.strictSame(
    await authors(),
    [[`bob@${host}`, null], carols],
    'an equal name is nobody here; a claim counts at once',
  );
  await imports.people.claim(alice, `bob@${host}`, ids['dave']!);
  t.strictSame(await authors(), [[`bob@${host}`, ids['dave']], carols]);
  await imports.people.unclaim(alice, `bob@${host}`);
  t.strictSame(await authors(), [[`bob@${host}`, null], carols]);
});

t.test('a limit of a rule comes whole, or stricter where a person is unknown here', async (t) => {
  type Shown = Record<'push' | 'create' | 'force' | 'merge' | 'approve', string>;
  const push = { enable_push: true, enable_push_whitelist: true };
  const usual: Shown = {
    push: 'write+jobs+keys',
    create: 'write+jobs+keys',
    force: 'nobody',
    merge: 'write',
    approve: '',
  };
  // Here `carol` is known, and `bob` by an equal name alone.
  const rules: [what: string, there: object, here: Partial<Shown>][] = [
    ['everyone', { enable_push: true }, {}],
    ['nobody', { enable_push: false }, { push: 'nobody' }],
    [
      'nobody-listed',
      { enable_push: false, push_whitelist_usernames: ['carol'], push_whitelist_deploy_keys: true },
      { push: 'nobody' },
    ],
    [
      'listed',
      { ...push, push_whitelist_usernames: ['carol', 'bob'], push_whitelist_deploy_keys: true },
      { push: 'nobody+carol+keys', create: 'nobody+carol+keys' },
    ],
    ['unknown', { ...push, push_whitelist_usernames: ['bob'] }, { push: 'nobody', create: 'nobody' }],
    [
      'forced',
      {
        ...{ enable_push: true, enable_force_push: true, enable_force_push_allowlist: true },
        force_push_allowlist_usernames: ['carol'],
      },
      { force: 'nobody+carol' },
    ],
    [
      'merged',
      { enable_push: true, enable_merge_whitelist: true, merge_whitelist_usernames: ['carol', 'bob'] },
      { merge: 'nobody+carol' },
    ],
    [
      'approved',
      { enable_push: true, enable_approvals_whitelist: true, approvals_whitelist_username: ['carol', 'bob'] },
      { approve: 'carol' },
    ],
  ];
  for (const [name, there] of rules) forge.world.protections.push({ rule_name: name, ...there });
  forge.world.extras.set('/tag_protections', [
    { name_pattern: 'v*', whitelist_usernames: ['carol', 'bob'], whitelist_teams: [] },
  ]);
  const id = await start('sixth');
  const found = await repositories.rules.list(alice, 'alice', 'sixth');
  const ruleOf = (pattern: string) => found.find((rule) => rule.pattern === pattern)!;
  const grantOf = (pattern: string, act: RuleAct | 'merge'): string => {
    const { grants, merging, named } = ruleOf(pattern);
    const { level, tasks, deployKeys } = act === 'merge' ? merging.grant : grants[act];
    return [level, ...usernamesOf(named[act]), ...(tasks ? ['jobs'] : []), ...(deployKeys ? ['keys'] : [])].join('+');
  };
  for (const [name, , here] of rules) {
    const [create, force, merge] = [grantOf(name, 'create'), grantOf(name, 'force'), grantOf(name, 'merge')];
    const approve = usernamesOf(ruleOf(name).named.approve).join('+');
    t.strictSame({ push: grantOf(name, 'push'), create, force, merge, approve }, { ...usual, ...here }, name);
  }
  t.equal(grantOf('v*', 'create'), 'admin+carol');
  const named = (await toDo(id)).filter((text) => /in the rule/.test(text));
  t.equal(named.length, 5, 'each place where bob was');
  t.ok(named.includes('Name bob among those who may push in the rule listed, if it is the same person here.'));
});
