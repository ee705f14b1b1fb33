// time limit: 200 s
// An organisation from a server that answers as GitHub's REST API is described: owners, teams with the roles that each
// has in each repository, members who are known by proof alone, and a webhook there that lasts as long as the watch. It
// is no GitHub.
import t from 'tap';
import { accountViewer, usernamesOf } from '../../src/access/index.ts';
import { freePort } from '../fixtures/free-port.ts';
import { signedIn, startWeb } from '../fixtures/web-fixture.ts';
import { createBareRepository, startHttpRemote } from '../mirrors/remote-servers.ts';
import { readBody } from './gitea-stub.ts';

t.setTimeout(180_000);

type Json = Record<string, unknown>;

const port = await freePort();
const host = `127.0.0.1:${port}`;
const token = 'secret-token';
const web = await startWeb(t, {
  env: { SERVICE_MIRRORS_ALLOWED_HOSTS: host, SERVICE_BASE_URL: 'https://hearth.example.org' },
});
const { imports, repositories, organisations, accounts } = web.modules;
const ids: Record<string, string> = {};
for (const name of ['alice', 'bob', 'carol', 'dave', 'erin']) ids[name] = (await signedIn(web, name)).id;
const asPerson = async (name: string) => accountViewer(await accounts.personById(ids[name]!));
const alice = await asPerson('alice');
await organisations.create(alice, { name: 'team' });
const address = await accounts.addresses.add(ids['carol']!, { address: 'carol@example.org' });
await accounts.addresses.markVerified(ids['carol']!, address.id);

const user = (login: string, more: Json = {}): Json => ({ login, id: login.length, ...more });
const repository = (name: string): Json => ({
  ...{ id: name.length, name, full_name: `team/${name}`, private: true, default_branch: 'main', topics: [] },
  html_url: `http://${host}/team/${name}`,
});
const team = (slug: string, more: Json = {}): Json => ({ id: slug.length, slug, name: slug, description: '', ...more });
/** Lists by their path below the API. */
const lists = new Map<string, Json[]>([
  ['/orgs/team/repos', [repository('one'), repository('two'), repository('three')]],
  // `carol` is known by her address, `david` by no proof but his name there; `bob` has an equal name alone.
  ['/orgs/team/members?role=admin', [user('carol', { email: 'carol@example.org' }), user('bob')]],
  ['/orgs/team/teams', [team('writers', { name: 'The writers' }), team('keepers'), team('readers')]],
  ['/orgs/team/teams/writers/members', [user('david'), user('erin')]],
  [
    '/orgs/team/teams/writers/repos',
    [
      { ...repository('one'), permissions: { pull: true, push: true, admin: false } },
      { ...repository('two'), permissions: { pull: true, triage: true, push: false, admin: false } },
      { full_name: 'others/secret', permissions: { admin: true } },
    ],
  ],
  ['/orgs/team/teams/keepers/members', [user('david')]],
  ['/orgs/team/teams/keepers/repos', [{ ...repository('three'), permissions: { pull: true, admin: true } }]],
  ['/orgs/team/teams/readers/members', []],
  ['/orgs/team/teams/readers/repos', []],
]);
// `main` of one repository takes pushes from a team, from `carol` and from `bob`.
lists.set('/repos/team/one/branches', [{ name: 'main' }]);
const restrictions = { users: [user('carol', { email: 'carol@example.org' }), user('bob')], teams: [team('writers')] };
const hooks: Json[] = [];
const forge = await startHttpRemote(t, { port, password: `x-access-token:${token}` });
for (const name of ['one', 'two', 'three']) createBareRepository(forge.folder, `team/${name}.git`);
let mayHook = true;
forge.answer = (request, response) => {
  const url = new URL(request.url ?? '/', forge.url);
  if (!url.pathname.startsWith('/api/')) return false;
  const send = (status: number, value: unknown): true => {
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(value === null ? undefined : JSON.stringify(value));
    return true;
  };
  const basic = `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`;
  if (![`token ${token}`, basic].includes(request.headers.authorization ?? '')) return send(401, {});
  const path = url.pathname.replace(/^\/api\/v3/, '');
  const [, name, below = ''] = /^\/repos\/team\/(one|two|three)(\/.*)?$/.exec(path) ?? [];
  if (path === '/users/team') return send(200, { login: 'team', id: 7, type: 'Organization' });
  if (below === '/hooks' && request.method === 'POST') {
    if (!mayHook) return send(404, { message: 'Not Found' });
    void readBody(request).then((body) => {
      hooks.push({ ...(JSON.parse(body) as Json), id: hooks.length + 1, repository: name });
      send(201, hooks.at(-1));
    });
    return true;
  }
  const [, hook] = /^\/hooks\/(\d+)$/.exec(below) ?? [];
  if (hook !== undefined && request.method === 'DELETE') {
    const at = hooks.findIndex(({ id }) => id === Number(hook));
    hooks.splice(at, 1);
    return send(204, null);
  }
  if (below === '/hooks')
    return send(
      200,
      hooks.filter((row) => row['repository'] === name),
    );
  if (path === '/repos/team/one/branches/main/protection') return send(200, { restrictions });
  if (name !== undefined && below === '') return send(200, repository(name));
  const role = url.searchParams.get('role');
  const rows = lists.get(role === null ? path : `${path}?role=${role}`);
  if (rows !== undefined) return send(200, rows);
  if (/^\/repos\/team\/\w+\/(?:issues|pulls|labels|milestones|releases|collaborators|keys|branches)/.test(path))
    return send(200, []);
  return send(404, { message: 'Not Found' });
};

const teamOf = async (name: string): Promise<string[]> =>
  (await organisations.teams.members(alice, { organisation: 'team', name }))
    .map(({ person }) => person.username!)
    .sort();
const rolesOf = async (name: string): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await repositories.teams.listOfRepository(alice, 'team', name)).map(({ team: of, role }) => [of.name, role]),
  );
const linesOf = async (id: string): Promise<string[]> =>
  (await imports.groups.find(alice, id)).lines.map(({ login, problem }) => `${login}: ${problem}`);
let id: string;

t.test('teams have their role in each repository, and members who are known by proof', async (t) => {
  await imports.people.list(host);
  ({ id } = await imports.groups.start(alice, {
    ...{ address: `${forge.url}/team`, kind: 'github', token, owner: 'team', watchMs: 24 * 3_600_000 },
  }));
  await imports.runDue();
  t.match((await imports.groups.find(alice, id)).group, {
    state: 'done',
    counts: { all: 3, done: 3 },
    lastError: null,
  });
  t.strictSame(await rolesOf('one'), { 'The-writers': 'write' });
  t.strictSame(await rolesOf('two'), { 'The-writers': 'read' });
  t.strictSame(await rolesOf('three'), { keepers: 'admin' });
  t.strictSame(
    (await organisations.listMembers(alice, 'team')).map(({ person, role }) => `${person.username} ${role}`).sort(),
    ['alice OWNER', 'carol OWNER'],
  );
  for (const name of ['The-writers', 'keepers', 'readers']) t.strictSame(await teamOf(name), [], name);
  const lines = await linesOf(id);
  for (const wanted of [
    /^team: The team The writers is The-writers here/,
    /^team: Add bob to team, if it is the same person here/,
    /^team: Add david to team\/The-writers, team\/keepers/,
    /^team: Add erin to team\/The-writers/,
  ])
    t.ok(
      lines.some((line) => wanted.test(line)),
      wanted.source,
    );
});

t.test('a rule names whom it named there, if they are known here', async (t) => {
  const rule = (await repositories.rules.list(alice, 'team', 'one')).find(({ pattern }) => pattern === 'main');
  t.match(rule, { pattern: 'main', grants: { push: { level: 'nobody', tasks: false, deployKeys: false } } });
  t.match(rule, { merging: { grant: { level: 'nobody' } } });
  for (const act of ['push', 'create', 'merge'] as const)
    t.strictSame([usernamesOf(rule!.named[act]), rule!.teams[act].length], [['carol'], 0], act);
  const { repository: one } = (await repositories.find(alice, 'team', 'one'))!;
  const lines = (await imports.problems((await imports.find(one.id))!.id)).map(({ problem }) => problem);
  for (const act of ['push', 'merge']) {
    const where = `among those who may ${act} in the rule main`;
    t.ok(lines.includes(`Name bob ${where}, if it is the same person here.`), act);
    t.ok(lines.includes(`Name the team writers ${where}.`), `${act}: teams come after the first repositories`);
  }
});

t.test('each repository has a webhook there until the switch-over, where the token may make one', async (t) => {
  t.equal(hooks.length, 3);
  for (const { name, active, events, config } of hooks) {
    t.match({ name, active }, { name: 'web', active: true });
    t.match(config, { url: /^https:\/\/hearth\.example\.org\/repos\/import\//, insecure_ssl: '0' });
    t.ok((events as string[]).includes('issue_comment'));
  }
  await imports.groups.again(alice, id, {});
  await imports.runDue();
  t.equal(hooks.length, 3, 'made once');
  mayHook = false;
  const [first] = hooks;
  await imports.groups.again(alice, id, { isLast: true });
  await imports.runDue();
  t.strictSame(hooks, [], `also the first one, ${String(first!['id'])}`);
});
