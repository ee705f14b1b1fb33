// furnish(t, web) → people, organisations, repositories and tokens for generated API requests:
//   pools of names that mean something, and a private repository whose words only carol may ever read.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { commentIdOf } from '../../src/issues/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner as Test } from '../fixtures/temporary-folder.ts';
import type { ApiRequest, Pools } from './api-requests.ts';
import type { WebhookScope } from '../../src/webhooks/index.ts';
import { fillRepository } from '../fixtures/web-fixture.ts';
import type { Web } from '../fixtures/web-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

interface ApiFixture {
  pools: Pools;
  /** Matches the private words. */
  canary: RegExp;
  /** Whether the sender of a request may read the private words. */
  mayRead(request: ApiRequest): boolean;
  /** Makes anew what requests have deleted. */
  recreateDeleted(): Promise<void>;
}

const word = 'quagmire';

/** Starts by hand alone, so that a world has as many runs as it wants. */
const workflow = (title: string) => `run-name: ${title}
on: {workflow_dispatch: {inputs: {target: {type: choice, options: [here, there]}}}}
jobs:
  build: {runs-on: linux, steps: [{run: make}]}
  deploy: {needs: build, runs-on: linux, steps: [{run: "true"}]}
`;

/** A runner of a repository takes the next job and says something about it. */
async function work(ci: Web['modules']['ci'], id: string, words: string): Promise<void> {
  const { runner, token } = await ci.runners.create({ kind: 'repository', id }, { name: words, ephemeral: false });
  await ci.runners.declare(await ci.runners.authenticate({ uuid: runner.uuid, token }, { isActive: false }), {
    version: 'v1',
    labels: ['linux'],
    capabilities: [],
  });
  const row = await ci.runners.authenticate({ uuid: runner.uuid, token }, { isActive: false });
  const task = await ci.tasks.fetch(row, {
    deadlineMs: 0,
    requestKey: null,
    origin: null,
    signal: new AbortController().signal,
  });
  if (task === null) return;
  const rows = ci.logs.newRows();
  rows.add(null, words);
  await ci.logs.receive(row, { taskId: task.taskId, index: 0, rows, noMore: true });
}

/** In a pool: drawn more often than the others. */
const often = (value: string): string[] => [value, value, value, value];

export async function createApiFixture(t: Test, web: Web): Promise<ApiFixture> {
  const { accounts, repositories, organisations, git, ci, issues, webhooks, mirrors, db } = web.modules;
  const ids: Record<string, string> = {};
  for (const username of ['alice', 'bob', 'carol', 'dora'])
    ids[username] = (
      await accounts.addPerson({
        username,
        displayName: `${username} of example.org`,
        isAdministrator: username === 'dora',
      })
    ).id;
  const nameless = await accounts.addPerson({});
  const viewer = (username: string) =>
    ({
      kind: 'person',
      id: ids[username]!,
      username,
      isAdministrator: false,
      via: 'session',
      scope: 'admin',
      repositoryIds: null,
    }) as const;
  const tokenOf = async (
    personId: string,
    name: string,
    access: 'read' | 'write' | 'admin',
    repositoryIds: string[] | null = null,
  ) => `Bearer ${(await accounts.addToken(personId, { name, access, repositoryIds, expiresAt: null })).secret}`;

  const secret = await repositories.create(viewer('carol'), {
    name: 'vault',
    visibility: 'PRIVATE',
    description: `All about ${word}`,
  });
  const secretPath = git.storage.pathOf(ids['carol']!, secret.id);
  await fillRepository(
    t,
    secretPath,
    { [`${word}.txt`]: `${word}\n`, '.hearth/workflows/ci.yml': workflow(word) },
    word,
  );
  await repositories.edit(viewer('carol'), 'carol', 'vault', { defaultBranch: word });
  const { oid: secretCommit } = await git.refs.head(secretPath);
  const vault = await repositories.find(viewer('carol'), 'carol', 'vault');
  await ci.workflows.dispatch(viewer('carol'), vault, { path: 'ci.yml', ref: word, inputs: new Map() });
  await ci.variables.set({ kind: 'repository', id: secret.id }, { name: word, value: word });
  await work(ci, secret.id, word);

  const folder = temporaryFolder(t);
  const keys = ['one', 'two', 'three'].map((name) => {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', path.join(folder, name)]);
    return execFileSync('cat', [path.join(folder, `${name}.pub`)]).toString();
  });

  const values: Record<string, string[]> = {
    owner: [...often('alice'), 'ALICE', 'bob', 'carol', 'guild'],
    name: [...often('tool'), 'Tool', 'empty', 'hidden', 'vault', 'new-one', 'another.one'],
    commit: [...often('main'), 'HEAD', 'v1', secretCommit!],
    ref: ['main', 'HEAD', 'v1', 'nowhere', secretCommit!],
    path: ['README.md', 'src', 'src/deep/file.txt', 'nowhere', 'big.bin', 'src/', '/'],
    username: ['alice', ...often('bob'), 'carol', 'Bob', 'nobody'],
    org: [...often('guild'), 'GUILD', 'workshop', 'fresh', 'alice'],
    key: keys,
    ...Object.fromEntries(
      ['description', 'displayName', 'bio', 'title', 'context'].map((field) => [field, ['plain words', 'Ünïcode ✓']]),
    ),
    website: ['', 'https://example.org'],
    q: ['a', 'tool', word, 'example', '%', 'é'],
    after: ['x', 'alice'],
    id: [],
    number: [...often('1'), ...often('2'), '0', '99'],
    job: [],
    workflow: [...often('ci.yml'), 'none.yml'],
    branch: ['main', word],
    // What a runner shares with the server goes by the same name as what a workflow gets.
    secret: [...often('DEPLOY_KEY'), '0f'.repeat(20), '1e'.repeat(20), 'deploy_key', 'GITHUB_TOKEN'],
    variable: ['TARGET', 'other'],
    value: ['x', 'Ünïcode ✓', 'y'.repeat(70_000)],
    attempt: ['1'],
    labels: ['linux', 'big'],
    tip: [],
    as: ['back', 'main'],
    expected: [],
    defaultBranch: [...often('main'), 'nowhere'],
    repositories: ['alice/tool', 'alice/empty', 'carol/vault', 'nobody/nothing'],
    targetUrl: ['https://ci.example.org/1', 'javascript:alert(1)', 'runs/3'],
    url: ['https://hooks.example.org/here', 'https://127.0.0.1/', 'file:///etc/passwd'],
    webhook: [],
    delivery: [],
    label: ['wet', 'WET', 'none'],
    milestone: ['Winter', 'none'],
    comment: [],
    page: ['1', '2'],
    repo: ['tool', 'vault'],
  };

  async function unlessThere(make: () => Promise<unknown>): Promise<boolean> {
    return make().then(
      () => true,
      () => false,
    );
  }

  /** A branch comes and goes; what it pointed to can be had back. */
  async function loseTip(): Promise<void> {
    const found = await repositories.find(viewer('alice'), 'alice', 'tool').catch(() => null);
    const { oid } = found === null ? { oid: null } : await git.refs.head(found.path);
    if (found === null || oid === null) return;
    const none = '0'.repeat(oid.length);
    const move = (oldId: string, newId: string) =>
      repositories.pushes.applyUpdates(found, {
        via: 'undo',
        userId: ids['alice']!,
        updates: [{ ref: 'refs/heads/passing', oldId, newId }],
      });
    await move(none, oid);
    await move(oid, none);
    const tips = await waitUntil(async () => {
      const all = await repositories.pushes.listLostTips(found);
      return all.length > 0 ? all : null;
    });
    values['tip']!.splice(0, Infinity, ...tips.map(({ id }) => id));
  }

  /**
   * Few webhooks, each with something that was to be sent, and a repository that is a mirror; nothing here is sent or
   * fetched.
   */
  async function connect(scopes: readonly WebhookScope[]): Promise<void> {
    const known = { webhook: [] as string[], delivery: [] as string[] };
    for (const scope of scopes) {
      for (const { id } of await webhooks.list(scope)) await webhooks.remove(viewer('alice'), scope, id);
      const { id } = await webhooks.add(viewer('alice'), scope, {
        url: 'https://hooks.example.org/',
        events: ['push'],
      });
      known.webhook.push(...often(id));
      known.delivery.push(...often(String(await webhooks.test(scope, id))));
    }
    values['webhook']!.splice(0, Infinity, ...known.webhook);
    values['delivery']!.splice(0, Infinity, ...known.delivery);
    const tool = await repositories.find(viewer('alice'), 'alice', 'tool').catch(() => null);
    if (tool === null || (await mirrors.find(tool.repository.id)) !== null) return;
    // Saving one tries its address first, where no server listens here.
    await db.write(({ manager, now }) =>
      manager.query(
        'INSERT INTO mirrors (repository_id, direction, url, interval_ms, next_at, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
        [tool.repository.id, 'push', 'https://git.example.org/tool.git', 3_600_000, now, now, now],
      ),
    );
  }

  /** Issues with comments, labels and milestones, of which one is hidden from all but carol. */
  async function fileIssues(): Promise<void> {
    for (const [by, owner, name, text] of [
      ['alice', 'alice', 'tool', 'plain'],
      ['carol', 'carol', 'vault', word],
    ] as const) {
      const at = { owner, name };
      await unlessThere(() => issues.addLabel(viewer(by), { repository: at }, { name: 'wet', colour: '0000ff' }));
      await unlessThere(() => issues.addMilestone(viewer(by), at, { title: 'Winter' }));
      await unlessThere(async () => {
        const { number } = await issues.open(viewer(by), at, { title: text, body: text });
        const { position } = await issues.comment(viewer(by), { ...at, number }, { body: text });
        const [described] = await issues.describe([await issues.find(viewer(by), { ...at, number })]);
        values['comment']!.splice(6, Infinity);
        values['comment']!.unshift(String(commentIdOf(described!.serial, position)));
      });
    }
    await unlessThere(() =>
      issues.addLabel(viewer('alice'), { organisation: 'guild' }, { name: 'wet', colour: 'fff000' }),
    );
  }

  async function restock(): Promise<void> {
    const alice = viewer('alice');
    for (const name of ['guild', 'workshop']) await unlessThere(() => organisations.create(alice, { name }));
    await unlessThere(() => organisations.addMember(alice, 'guild', { username: 'bob', role: 'MEMBER' }));
    for (const [name, visibility] of [
      ['tool', 'PUBLIC'],
      ['empty', 'PUBLIC'],
      ['hidden', 'PRIVATE'],
    ] as const) {
      await unlessThere(() => repositories.create(alice, { name, visibility, description: 'Ünïcode ✓' }));
      await unlessThere(() => repositories.setArchived(alice, 'alice', name, false));
    }
    await unlessThere(() => repositories.create(alice, { owner: 'guild', name: 'tool', visibility: 'PRIVATE' }));
    await unlessThere(() => organisations.teams.create(alice, 'guild', { name: 'glazers', role: 'write' }));
    const team = { organisation: 'guild', name: 'glazers' };
    await unlessThere(() => organisations.teams.addMember(alice, team, 'bob'));
    await unlessThere(() => repositories.teams.setRole(alice, team, { owner: 'guild', name: 'tool' }, null));
    await unlessThere(() =>
      repositories.collaborators.add(alice, 'alice', 'hidden', { username: 'bob', role: 'read' }),
    );
    for (const name of ['tool', 'hidden']) {
      const found = await repositories.find(alice, 'alice', name).catch(() => null);
      if (
        found === null ||
        (await git.refs.head(found.path)).oid !== null ||
        (await git.queries.cachedRefs(found.path)).count('refs/heads/') > 0
      )
        continue;
      await fillRepository(t, found.path, {
        'README.md': '# Tool\n',
        'src/deep/file.txt': 'text\n',
        '.hearth/workflows/ci.yml': workflow('Built by hand'),
        'big.bin': Buffer.alloc(3_000_000, 'x\0y'),
      });
      execFileSync('git', [`--git-dir=${found.path}`, 'tag', 'v1', 'main'], { env: { PATH: process.env['PATH'] } });
      const { oid } = await git.refs.head(found.path);
      values['commit']!.push(oid!);
      values['after']!.push(`${oid}.1`);
    }
    // As the requests left it: another default branch, a role that was changed, no collaborator.
    await unlessThere(() => repositories.edit(alice, 'alice', 'tool', { defaultBranch: 'main' }));
    await unlessThere(() => repositories.collaborators.add(alice, 'alice', 'tool', { username: 'bob', role: 'read' }));
    // Of every kind few, or what a request names is never what it needs.
    for (const { id } of await ci.runners.list(null)) await ci.runners.remove(null, id);
    values['job']!.length = 0;
    for (const [owner, name] of [
      ['alice', 'tool'],
      ['alice', 'hidden'],
    ] as const) {
      const found = await repositories.find(alice, owner, name).catch(() => null);
      if (found === null) continue;
      const here = { kind: 'repository', id: found.repository.id } as const;
      await unlessThere(() => ci.workflows.dispatch(alice, found, { path: 'ci.yml', ref: '', inputs: new Map() }));
      await unlessThere(() => ci.secrets.set(here, { name: 'DEPLOY_KEY', value: word }));
      await unlessThere(() => ci.variables.set(here, { name: 'TARGET', value: 'here' }));
      await unlessThere(() => work(ci, found.repository.id, 'spare'));
      await unlessThere(() => ci.runs.cancel(alice, found, 2, { force: true }));
      const run = await ci.runs.find(found, 1).catch(() => null);
      values['job']!.push(...(run?.jobs ?? []).map(({ id }) => String(id)));
    }
    await fileIssues();
    await loseTip();
    const here = await repositories.find(alice, 'alice', 'tool').then(
      ({ repository }) => [{ kind: 'repository', id: repository.id } as const],
      () => [],
    );
    const guild = await organisations.find('guild').then(
      ({ id }) => [{ kind: 'organisation', id } as const],
      () => [],
    );
    for (const scope of [{ kind: 'instance' }, { kind: 'user', id: ids['alice']! }, ...guild] as const)
      await unlessThere(() => ci.runners.create(scope, { name: 'spare', ephemeral: false }));
    await connect([...here, ...guild]);
    await unlessThere(() =>
      accounts.addToken(ids['alice']!, { name: 'spare', access: 'read', repositoryIds: null, expiresAt: null }),
    );
    await unlessThere(() => accounts.addKey(ids['alice']!, { line: keys[0]! }));
    const tokens = (await accounts.listTokens(ids['alice']!)).filter(({ name }) => !name.startsWith('kept'));
    // A long run makes hundreds, and would hardly name anything else.
    const mine = [...tokens.slice(-3), ...(await accounts.listKeys(ids['alice']!)).slice(-3)];
    values['id']!.splice(
      0,
      Infinity,
      ...mine.map(({ id }) => id),
      ...(await organisations.teams.list(viewer('alice'), 'guild').catch(() => [])).flatMap(({ serial }) =>
        often(String(serial)),
      ),
      ...(await ci.runners.list(null)).flatMap(({ id }) => often(String(id))),
      '00000000-0000-4000-8000-000000000000',
    );
    const page = await repositories.list(alice, { limit: 1 });
    if (page.next !== null) values['after']!.push(page.next);
  }
  await restock();

  const tool = (await repositories.find(viewer('alice'), 'alice', 'tool')).repository.id;
  const alices = await tokenOf(ids['alice']!, 'kept admin', 'admin');
  const callers = [
    null,
    'Bearer hth_wrong',
    'Basic YWxpY2U6eA==',
    await tokenOf(nameless.id, 'kept nameless', 'admin'),
    alices,
    await tokenOf(ids['alice']!, 'kept write', 'write'),
    await tokenOf(ids['alice']!, 'kept read', 'read'),
    await tokenOf(ids['alice']!, 'kept limited', 'admin', [tool]),
    await tokenOf(ids['bob']!, 'kept admin', 'admin'),
    await tokenOf(ids['dora']!, 'kept admin', 'admin'),
  ];
  const doras = callers.at(-1)!;
  const carols = await tokenOf(ids['carol']!, 'kept admin', 'admin');
  return {
    pools: {
      values,
      credentials: [...callers, ...callers.slice(4), ...often(alices), doras, carols],
      mayChange: [...callers, ...Array.from({ length: 8 }, () => alices), doras, doras, doras],
    },
    canary: new RegExp(`${word}|${secretCommit}`, 'i'),
    mayRead: ({ headers }) => headers['Authorization'] === carols,
    recreateDeleted: restock,
  };
}
