// Files, branches, commits, trees and refs over the API, in the shapes that clients of Gitea read.
import { execFileSync } from 'node:child_process';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { fillRepository, sendRequest, startWeb } from '../fixtures/web-fixture.ts';
import type { PageResponse, Web } from '../fixtures/web-fixture.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';

t.setTimeout(240_000);

type Json = { [name: string]: unknown };

const roof = '/repos/alice/roof';
const base64 = (text: string) => Buffer.from(text).toString('base64');

function caller(web: Web, token: string | null) {
  return async (method: string, path: string, body?: unknown): Promise<PageResponse & { json: Json }> => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const response = await sendRequest(web, `/api/v1${path}`, {
      method,
      headers: {
        ...(token !== null && { Authorization: `token ${token}` }),
        ...(text !== undefined && {
          'Content-Type': 'application/json',
          'Content-Length': `${Buffer.byteLength(text)}`,
        }),
      },
      ...(text !== undefined && { body: text }),
    });
    const isJson = String(response.headers['content-type'] ?? '').startsWith('application/json');
    return { ...response, json: (isJson && response.body !== '' ? JSON.parse(response.body) : null) as Json };
  };
}

/** alice has the public roof, where bob writes and carol reads. */
async function openWorld(t: Owner) {
  const web = await startWeb(t);
  const { accounts, repositories } = web.modules;
  const tokens: Record<string, string> = {};
  const ids: Record<string, string> = {};
  for (const username of ['alice', 'bob', 'carol']) {
    ids[username] = (await accounts.addPerson({ username })).id;
    const token = { name: 'all', access: 'admin' as const, repositoryIds: null, expiresAt: null };
    tokens[username] = (await accounts.addToken(ids[username], token)).secret;
  }
  const as = (name: string) => caller(web, tokens[name]!);
  const alice = as('alice');
  await alice('POST', '/repos', { name: 'roof', visibility: 'PUBLIC' });
  await alice('POST', `${roof}/collaborators`, { username: 'bob', role: 'write' });
  const viewer = {
    kind: 'person',
    id: ids['alice']!,
    username: 'alice',
    isAdministrator: false,
    via: 'session',
    scope: 'admin',
    repositoryIds: null,
  } as const;
  const { path: folder } = await repositories.find(viewer, 'alice', 'roof');
  await fillRepository(t, folder, { 'README.md': '# Roof\n', 'tiles/red.txt': 'red\n' });
  const git = (...args: string[]) =>
    execFileSync('git', [`--git-dir=${folder}`, ...args])
      .toString()
      .trimEnd();
  return { web, alice, bob: as('bob'), carol: as('carol'), anonymous: caller(web, null), git };
}

t.test('files over the API', async (t) => {
  const { bob, carol, anonymous, git, web } = await openWorld(t);

  await t.test('are read with their content, folders as lists', async (t) => {
    const file = await anonymous('GET', `${roof}/contents/tiles/red.txt`);
    t.match(file, {
      status: 200,
      json: {
        name: 'red.txt',
        path: 'tiles/red.txt',
        type: 'file',
        size: 4,
        encoding: 'base64',
        content: base64('red\n'),
        sha: git('rev-parse', 'main:tiles/red.txt'),
        last_commit_sha: git('rev-parse', 'main'),
        download_url: /\/repos\/alice\/roof\/raw\/main\/tiles\/red\.txt$/,
        target: null,
      },
    });
    const root = await anonymous('GET', `${roof}/contents`);
    t.match(root.json, [
      { name: 'README.md', type: 'file', content: null },
      { name: 'tiles', type: 'dir' },
    ]);
    t.match((await anonymous('GET', `${roof}/contents/tiles?ref=main`)).json, [{ path: 'tiles/red.txt', size: 4 }]);
    t.match(await anonymous('GET', `${roof}/contents/tiles%2Fred.txt`), { status: 200 });
    t.match(await anonymous('GET', `${roof}/contents/nowhere`), { status: 404 });
    t.match(await anonymous('GET', `${roof}/contents/README.md?ref=nowhere`), { status: 404 });
    const blob = new URL(String(file.json['git_url']));
    t.match(await anonymous('GET', `${blob.pathname.slice('/api/v1'.length)}${blob.search}`), {
      json: { content: base64('red\n'), size: 4 },
    });
  });

  await t.test('are created, updated, renamed and deleted', async (t) => {
    const made = await bob('POST', `${roof}/contents/a%20b/${encodeURIComponent('ä')}.txt`, {
      content: base64('one\n'),
      message: 'Add ä',
      author: { name: '', email: '' },
      committer: { name: '', email: '' },
      dates: {},
      branch: '',
    });
    t.match(made, {
      status: 201,
      json: {
        content: { path: 'a b/ä.txt', content: base64('one\n') },
        commit: { message: 'Add ä\n', sha: git('rev-parse', 'main'), author: { name: 'bob' }, parents: [{}] },
        verification: { verified: true, reason: 'valid_instance', signer: { username: 'bob' } },
      },
    });
    t.match((await bob('GET', `${roof}/activity?limit=1`)).json, [{ via: 'api', person: 'bob' }]);
    const { sha } = made.json['content'] as { sha: string };
    const updated = await bob('PUT', `${roof}/contents/b.txt`, {
      content: base64('two\n'),
      sha,
      from_path: 'a b/ä.txt',
      signoff: true,
    });
    t.match(updated, { status: 200, json: { content: { path: 'b.txt' } } });
    t.match(git('show', '-s', '--format=%B', 'main'), /^Rename a b\/ä\.txt to b\.txt\n\nSigned-off-by: bob <.*noreply/);
    t.match(await bob('PUT', `${roof}/contents/b.txt`, { content: base64('x'), sha }), {
      status: 409,
      json: { error: { code: 'file_changed' } },
    });
    t.match(await bob('PUT', `${roof}/contents/b.txt`, { content: base64('x') }), {
      status: 409,
      json: { error: { code: 'file_exists' } },
    });
    t.match(await bob('PUT', `${roof}/contents/c.txt`, { content: base64('x') }), { status: 200 });
    t.match(await bob('DELETE', `${roof}/contents/c.txt`, {}), { status: 422 });
    t.match(await bob('DELETE', `${roof}/contents/c.txt`, { sha: git('rev-parse', 'main:c.txt'), message: 'No c' }), {
      status: 200,
      json: { content: null, commit: { message: 'No c\n' } },
    });
    t.equal(git('ls-tree', '--name-only', 'main'), 'README.md\nb.txt\ntiles');
  });

  await t.test('several at once, on a new branch', async (t) => {
    const many = await bob('POST', `${roof}/contents`, {
      new_branch: 'feature/x',
      message: 'All',
      files: [
        { operation: 'create', path: 'n/1', content: base64('1') },
        { operation: 'upload', path: 'b.txt', content: base64('up') },
        {
          operation: 'rename',
          path: 'tiles/blue.txt',
          from_path: 'tiles/red.txt',
          sha: git('rev-parse', 'main:tiles/red.txt'),
        },
        { operation: 'delete', path: 'README.md', sha: git('rev-parse', 'main:README.md') },
      ],
    });
    t.match(many, {
      status: 201,
      json: { files: [{ path: 'n/1' }, { path: 'b.txt' }, { path: 'tiles/blue.txt', size: 4 }, null] },
    });
    t.equal(git('ls-tree', '-r', '--name-only', 'feature/x'), 'b.txt\nn/1\ntiles/blue.txt');
    const before = git('rev-parse', 'main');
    for (const [files, code] of [
      [[], 'no_files'],
      [[{ operation: 'create', path: 'x' }], 'content_needed'],
      [[{ operation: 'update', path: 'b.txt' }], 'content_needed'],
      [[{ operation: 'rename', path: 'x' }], 'from_path_needed'],
      [[{ operation: 'create', path: 'x', content: '%%%' }], 'invalid_base64'],
      [[{ operation: 'create', path: '.GIT/config', content: '' }], 'invalid_path'],
      [[{ operation: 'upload', path: '../x', content: '' }], 'invalid_path'],
      [
        [
          { operation: 'create', path: 'x', content: '' },
          { operation: 'delete', path: 'nothing' },
        ],
        'file_not_found',
      ],
    ] as [object[], string][])
      t.match((await bob('POST', `${roof}/contents`, { files })).json, { error: { code } }, code);
    t.equal(git('rev-parse', 'main'), before, 'all or nothing');
  });

  await t.test('are not changed by those who may not, nor by tricks in the address', async (t) => {
    const body = { content: base64('x') };
    t.match(await carol('POST', `${roof}/contents/x`, body), { status: 404 });
    t.match(await anonymous('POST', `${roof}/contents/x`, body), { status: 401 });
    t.match(await bob('POST', `${roof}/contents/.git/config`, body), { status: 422 });
    t.match(await bob('POST', `${roof}/contents/a/%2e%2e/%2e%2e/x`, body), {
      json: { error: { code: 'invalid_path' } },
    });
    t.match(await bob('POST', `${roof}/contents/a%00b`, body), { status: 400 });
    t.match(await bob('POST', `${roof}/contents/bot`, { ...body, committer: { email: 'x@example.org' } }), {
      json: { commit: { author: { email: 'x@example.org' }, committer: { name: 'bob' } } },
    });
    const foreign = await bob('POST', `${roof}/contents/foreign`, {
      ...body,
      author: { name: 'X', email: 'x@example.org' },
    });
    t.match(foreign, { status: 201, json: { verification: { verified: false, reason: 'unsigned', signer: null } } });
    const large = await bob('POST', `${roof}/contents/large`, {
      content: Buffer.alloc(3 * 1024 * 1024).toString('base64'),
    });
    t.match(large, { status: 201, json: { content: { content: null, encoding: null, size: 3 * 1024 * 1024 } } });
    t.match(await bob('POST', `${roof}/contents/huge`, { content: 'A'.repeat(17 * 1024 * 1024) }), { status: 413 });
  });
  t.same(
    web.log.filter(({ level }) => level === 'error'),
    [],
  );
});

t.test('a repository with first files, and one from a template', async (t) => {
  const { alice, bob, carol, web } = await openWorld(t);
  const made = await alice('POST', '/repos', {
    name: 'begin',
    visibility: 'PUBLIC',
    auto_init: true,
    license: 'MIT',
    gitignores: 'Go,Rust',
  });
  t.match(made, { status: 201, json: { name: 'begin', template: false } });
  const names = async (path: string) =>
    ((await alice('GET', `${path}/contents`)).json as unknown as { name: string }[]).map(({ name }) => name);
  t.same(await names('/repos/alice/begin'), ['.gitignore', 'LICENSE', 'README.md']);
  t.match(await alice('POST', '/repos', { name: 'other', license: 'nothing' }), {
    status: 422,
    json: { error: { code: 'unknown_licence' } },
  });
  const generate = (caller: typeof bob) =>
    caller('POST', '/repos/alice/begin/generate', { name: 'mine', private: false });
  t.match(await generate(bob), { status: 422, json: { error: { code: 'not_a_template' } } });
  t.match(await bob('PATCH', '/repos/alice/begin', { template: true }), { status: 404 });
  t.match(await alice('PATCH', '/repos/alice/begin', { template: true }), { status: 200, json: { template: true } });
  t.match(await generate(bob), {
    status: 201,
    json: { owner: { login: 'bob' }, name: 'mine', visibility: 'PUBLIC', template: false },
  });
  t.same(await names('/repos/bob/mine'), ['.gitignore', 'LICENSE', 'README.md']);
  t.match(await generate(bob), { status: 409 });
  await alice('PATCH', '/repos/alice/begin', { visibility: 'PRIVATE' });
  t.match(await generate(carol), { status: 404 });
  t.same(
    web.log.filter(({ level }) => level === 'error'),
    [],
  );
});

t.test('branches, commits, trees, refs and blame', async (t) => {
  const { alice, bob, carol, anonymous, git, web } = await openWorld(t);
  const tip = git('rev-parse', 'main');

  await t.test('branches', async (t) => {
    t.match(await bob('POST', `${roof}/branches`, { new_branch_name: 'deep/one', old_ref_name: 'main' }), {
      status: 201,
      json: { name: 'deep/one', commit: { id: tip, author: { name: /./ } }, protected: false, user_can_push: true },
    });
    t.match(await anonymous('GET', `${roof}/branches/deep/one`), {
      status: 200,
      json: { id: tip, user_can_push: false, user_can_merge: false, required_approvals: 0 },
    });
    t.match(await anonymous('GET', `${roof}/branches?page=2&limit=1`), {
      headers: { 'x-total-count': '2' },
      json: [{ name: 'main' }],
    });
    await web.modules.repositories.rules.add(localAdministrator, 'alice', 'roof', {
      target: 'BRANCH',
      pattern: 'ruled',
      merging: { grant: { level: 'admin' }, approvals: 2, checks: ['ci/*'] },
    });
    t.match(await bob('POST', `${roof}/branches`, { new_branch_name: 'ruled', old_ref_name: 'main' }), {
      json: {
        user_can_merge: false,
        required_approvals: 2,
        enable_status_check: true,
        status_check_contexts: ['ci/*'],
      },
    });
    await web.modules.repositories.rules.replaceAll(localAdministrator, 'alice', 'roof', []);
    t.match(await bob('DELETE', `${roof}/branches/ruled`), { status: 204 });
    t.match(await bob('POST', `${roof}/branches`, { new_branch_name: 'deep/one' }), { status: 409 });
    t.match(await bob('POST', `${roof}/branches`, { new_branch_name: 'a..b' }), { status: 422 });
    t.match(await carol('POST', `${roof}/branches`, { new_branch_name: 'mine' }), { status: 404 });
    t.match(await carol('DELETE', `${roof}/branches/deep/one`), { status: 404 });
    t.match(await bob('DELETE', `${roof}/branches/main`), {
      status: 422,
      json: { error: { code: 'branch_protected' } },
    });
    t.match(await bob('DELETE', `${roof}/branches/deep/one`), { status: 204 });
    t.match(await bob('DELETE', `${roof}/branches/deep/one`), { status: 404 });
  });

  await t.test('commits by path, author and time, and comparisons', async (t) => {
    await alice('POST', `${roof}/contents/tiles/blue.txt`, {
      content: base64('blue\n'),
      new_branch: 'blue',
      dates: { author: '2020-01-02T00:00:00Z', committer: '2020-01-02T00:00:00Z' },
    });
    await bob('PUT', `${roof}/contents/README.md`, {
      content: base64('# New\n'),
      branch: 'blue',
      sha: git('rev-parse', 'main:README.md'),
    });
    const subjects = async (query: string) =>
      (
        (await anonymous('GET', `${roof}/commits?sha=blue&${query}`)).json as unknown as {
          commit: { message: string };
        }[]
      ).map(({ commit }) => commit.message.trim());
    t.same(await subjects('path=tiles'), ['Add tiles/blue.txt', git('show', '-s', '--format=%s', tip)]);
    t.same(await subjects('author=BOB'), ['Update README.md']);
    t.same(await subjects('since=2024-01-01T00:00:00Z&author=alice'), []);
    t.same(await subjects('until=2020-01-03T00:00:00Z&author=alice'), ['Add tiles/blue.txt']);
    t.same(await subjects('limit=1&page=2'), ['Add tiles/blue.txt']);
    t.match(await anonymous('GET', `${roof}/commits?since=soon`), { status: 422 });
    t.match(await anonymous('GET', `${roof}/compare/main...blue`), {
      status: 200,
      json: {
        total_commits: 2,
        commits: [{ sha: git('rev-parse', 'blue'), author: { login: 'bob' } }, { parents: [{ sha: tip }] }],
        files: [
          { filename: 'README.md', status: 'changed' },
          { filename: 'tiles/blue.txt', additions: 1 },
        ],
      },
    });
    t.match(await anonymous('GET', `${roof}/compare/main..blue`), { json: { total_commits: 2 } });
    for (const wrong of ['main', 'main...nowhere', 'a...b...c', '...'])
      t.match(await anonymous('GET', `${roof}/compare/${wrong}`), { status: 404 }, wrong);
  });

  await t.test('commits are in the shapes of Gitea, with our own fields', async (t) => {
    const [blue, treeOfBlue] = [git('rev-parse', 'blue'), git('rev-parse', 'blue^{tree}')];
    const parent = git('rev-parse', 'blue^');
    const created = new Date(Number(git('show', '-s', '--format=%ct', 'blue')) * 1000)
      .toISOString()
      .replace('.000Z', 'Z');
    const address = await anonymous('GET', `${roof}/commits?sha=blue`);
    const [newest, , oldest] = address.json as unknown as Record<string, unknown>[];
    const gitApi = `${web.origin}/api/v1${roof}/git`;
    const meta = (sha: string) => ({ url: `${gitApi}/commits/${sha}`, sha, created });
    const { commit, author, verification, ...rest } = newest as {
      commit: { author: object; verification: object };
      author: { email: string };
      verification: object;
    };
    t.strictSame(rest, {
      ...meta(blue),
      html_url: `${web.origin}/repos/alice/roof/commit/${blue}`,
      committer: author,
      parents: [meta(parent)],
      files: null,
      stats: null,
      id: blue,
      tree: treeOfBlue,
      message: 'Update README.md\n',
    });
    t.match(author, { login: 'bob', username: 'bob', name: /./, email: /@/, date: created, avatar_url: /\/avatars\// });
    const { name, email, date } = author as { email: string; name: string; date: string };
    t.strictSame(commit.author, { name, email, date });
    t.match(commit, {
      url: meta(blue).url,
      message: 'Update README.md\n',
      tree: { url: `${gitApi}/trees/${treeOfBlue}`, sha: treeOfBlue, created },
      verification: {
        verified: true,
        reason: 'valid_instance',
        signature: /BEGIN SSH SIGNATURE/,
        payload: new RegExp(`^tree ${treeOfBlue}\n`),
        signer: { name, email, username: 'bob' },
      },
    });
    t.match(verification, { verified: true, reason: 'valid_instance', signature: /BEGIN/ });
    t.match(oldest, {
      author: { id: -1, login: null, username: null, name: /./ },
      parents: [],
      verification: { verified: false, reason: 'unsigned', signature: null },
      commit: { verification: { verified: false, reason: 'unsigned', signature: '', payload: '', signer: null } },
    });
    const changes = {
      files: [{ filename: 'README.md', status: 'modified' }],
      stats: { total: 2, additions: 1, deletions: 1 },
    };
    t.strictSame((await anonymous('GET', `${roof}/commits/blue`)).json, { ...newest, ...changes });
    const gitea = await anonymous('GET', `${roof}/git/commits/blue`);
    t.match(gitea.json, { ...meta(blue), commit, author: { login: 'bob', email: '' }, parents: [{ sha: parent }] });
    t.match(gitea.json, changes);
    t.match(await anonymous('GET', `${roof}/git/commits/${String(oldest?.['id'])}`), {
      json: { author: null, committer: null, parents: [], stats: { deletions: 0 } },
    });
    t.match(await anonymous('GET', `${roof}/git/commits/blue?stat=false&files=false&verification=false`), {
      json: { sha: blue, files: null, stats: null, commit: { verification: null } },
    });
    t.match(await anonymous('GET', `${roof}/branches/blue`), {
      json: { commit: { id: blue, verification: { verified: true, signer: { username: 'bob' } } } },
    });
  });

  await t.test('trees, blobs and refs', async (t) => {
    t.match(await anonymous('GET', `${roof}/git/trees/main`), {
      json: { sha: git('rev-parse', 'main^{tree}'), total_count: 2, tree: [{ path: 'README.md' }, { type: 'tree' }] },
    });
    const all = await anonymous('GET', `${roof}/git/trees/main?recursive=1&per_page=2&page=2`);
    t.match(all.json, { total_count: 3, truncated: false, tree: [{ path: 'tiles/red.txt', size: 4, mode: '100644' }] });
    const folder = git('rev-parse', 'main:tiles');
    t.match(await anonymous('GET', `${roof}/git/trees/${folder}`), { status: 404 }, 'ids are for those who write');
    t.match(await bob('GET', `${roof}/git/trees/${folder}`), { status: 200 });
    const lost = execFileSync(
      'git',
      [`--git-dir=${git('rev-parse', '--absolute-git-dir')}`, 'hash-object', '-w', '--stdin'],
      {
        input: 'secret',
      },
    )
      .toString()
      .trim();
    t.match(await carol('GET', `${roof}/git/blobs/${lost}`), { status: 404 });
    t.match(await bob('GET', `${roof}/git/blobs/${lost}`), { json: { content: base64('secret'), encoding: 'base64' } });
    t.match(await bob('GET', `${roof}/git/blobs/${folder}`), { status: 404 });
    t.match(await anonymous('GET', `${roof}/git/refs`), {
      json: [
        { ref: 'refs/heads/blue', object: { type: 'commit' } },
        { ref: 'refs/heads/main', object: { sha: tip } },
      ],
    });
    t.match(await anonymous('GET', `${roof}/git/refs/heads/ma`), { json: [{ ref: 'refs/heads/main' }] });
    t.match(await anonymous('GET', `${roof}/git/refs/hearth`), { status: 404 });
    t.match(await anonymous('GET', `${roof}/blame?path=tiles/red.txt`), {
      json: { ranges: [{ first_line: 1, last_line: 1, commit: { sha: tip }, previous: null }] },
    });
    t.match(await anonymous('GET', `${roof}/blame?path=nowhere`), { status: 404 });
  });

  await t.test('blame is paged, and refused for large files', async (t) => {
    const lines = Array.from({ length: 7 }, (_, n) => `line ${n}\n`);
    const put = async (path: string, text: string, sha?: string) =>
      (
        (await bob(sha === undefined ? 'POST' : 'PUT', `${roof}/contents/${path}`, { content: base64(text), sha }))
          .json['content'] as { sha: string }
      ).sha;
    const sha = await put('lines.txt', lines.join(''));
    await put('lines.txt', lines.map((line, n) => (n % 2 === 0 ? line : `new ${line}`)).join(''), sha);
    const first = await anonymous('GET', `${roof}/blame?path=lines.txt&limit=5`);
    t.match(first.headers, { 'x-total-count': '7', link: /[?&]page=2>; rel="next"/ });
    const firstLines = (call: typeof first) =>
      (call.json['ranges'] as { first_line: number }[]).map((one) => one.first_line);
    t.strictSame(firstLines(first), [1, 2, 3, 4, 5]);
    const last = await anonymous('GET', `${roof}/blame?path=lines.txt&limit=5&page=2`);
    t.strictSame(firstLines(last), [6, 7]);
    t.notMatch(String(last.headers['link']), /rel="next"/);
    await put('large.txt', 'x\n'.repeat(300_000));
    t.match(await anonymous('GET', `${roof}/blame?path=large.txt`), {
      status: 422,
      json: { error: { code: 'blame_too_long' } },
    });
  });
  t.same(
    web.log.filter(({ level }) => level === 'error'),
    [],
  );
});
