import { execFileSync } from 'node:child_process';
import path from 'node:path';
import t from 'tap';
import { fillRepository, sendRequest, startWeb } from '../fixtures/web-fixture.ts';
import type { PageResponse, Web } from '../fixtures/web-fixture.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(240_000);

type Json = { [name: string]: unknown };
type Caller = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<PageResponse & { json: Json }>;

function caller(web: Web, token: string | null): Caller {
  return async (method, path, body, headers = {}) => {
    const response = await sendRequest(web, `/api/v1${path}`, {
      method,
      headers: {
        ...(token !== null && { Authorization: `token ${token}` }),
        ...(body !== undefined && {
          'Content-Type': 'application/json',
          'Content-Length': String(Buffer.byteLength(JSON.stringify(body))),
        }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const isJson = String(response.headers['content-type'] ?? '').startsWith('application/json');
    return { ...response, json: (isJson && response.body !== '' ? JSON.parse(response.body) : null) as Json };
  };
}

const roof = '/repos/alice/roof';

/** alice has the public roof, where bob writes; carol and dora only read. */
async function openWorld(t: Owner) {
  const web = await startWeb(t);
  const { accounts, repositories } = web.modules;
  const ids: Record<string, string> = {};
  for (const username of ['alice', 'bob', 'carol', 'dora'])
    ids[username] = (await accounts.addPerson({ username, displayName: username.toUpperCase() })).id;
  const as = async (name: string, access: 'read' | 'write' | 'admin' = 'admin') => {
    const token = { name: `${access} ${Math.random()}`, access, repositoryIds: null, expiresAt: null };
    return caller(web, (await accounts.addToken(ids[name]!, token)).secret);
  };
  const alice = await as('alice');
  await alice('POST', '/repos', { name: 'roof', visibility: 'PUBLIC' });
  await alice('POST', `${roof}/collaborators`, { username: 'bob', role: 'write' });
  const viewer = (name: string) =>
    ({
      kind: 'person',
      id: ids[name]!,
      username: name,
      isAdministrator: false,
      via: 'session',
      scope: 'admin',
      repositoryIds: null,
    }) as const;
  const pathOf = async (owner: string, name: string) => (await repositories.find(viewer(owner), owner, name)).path;
  await fillRepository(t, await pathOf('alice', 'roof'), { 'README.md': '# Roof\n', 'tiles.txt': 'red\n' });
  /** Commits on a branch that is made from main, behind the back of the server; returns the commit. */
  const commit = async (owner: string, branch: string, files: Record<string, string>, message: string) => {
    const bare = await pathOf(owner, 'roof');
    const folder = temporaryFolder(t);
    const git = (...words: string[]) =>
      execFileSync('git', words, {
        cwd: folder,
        env: {
          PATH: process.env['PATH'],
          GIT_AUTHOR_NAME: 'B',
          GIT_AUTHOR_EMAIL: 'b@example.org',
          GIT_COMMITTER_NAME: 'B',
          GIT_COMMITTER_EMAIL: 'b@example.org',
          GIT_CONFIG_NOSYSTEM: '1',
          HOME: folder,
        },
        stdio: ['ignore', 'pipe', 'ignore'],
      })
        .toString()
        .trim();
    git('clone', '-q', bare, 'work');
    const inWork = (...words: string[]) => git('-C', path.join(folder, 'work'), ...words);
    const exists = inWork('ls-remote', '--heads', 'origin', branch) !== '';
    inWork('checkout', '-q', ...(exists ? [branch] : ['-b', branch]));
    const { writeFileSync } = await import('node:fs');
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, 'work', name), text);
    inWork('add', '-A');
    inWork('commit', '-q', '-m', message);
    inWork('push', '-q', 'origin', `HEAD:${branch}`);
    return inWork('rev-parse', 'HEAD');
  };
  return {
    web,
    ids,
    as,
    commit,
    viewer,
    alice,
    bob: await as('bob'),
    carol: await as('carol'),
    dora: await as('dora'),
    anonymous: caller(web, null),
  };
}

t.test('a pull request in the shapes that clients of Gitea read', async (t) => {
  const { alice, bob, carol, anonymous, commit } = await openWorld(t);
  const head = await commit('alice', 'slate', { 'tiles.txt': 'slate\n', 'new file.txt': 'nail\n' }, 'Slate instead');
  const label = await alice('POST', `${roof}/labels`, { name: 'kind/feature', color: '#0000ff' });
  // What the Go SDK of Gitea sends: every field of its option, empty where it is not set.
  const opened = await bob('POST', `${roof}/pulls`, {
    head: 'slate',
    base: 'main',
    title: 'Slate instead of tiles',
    body: 'It **lasts**.',
    assignee: '',
    assignees: ['alice'],
    milestone: 0,
    labels: [label.json['id']],
    due_date: null,
  });
  t.match(opened, {
    status: 201,
    headers: { location: '/api/v1/repos/alice/roof/pulls/1' },
    json: {
      number: 1,
      title: 'Slate instead of tiles',
      body: 'It **lasts**.',
      state: 'open',
      draft: false,
      merged: false,
      merged_at: null,
      merge_commit_sha: null,
      merged_by: null,
      user: { login: 'bob' },
      labels: [{ name: 'kind/feature' }],
      assignees: [{ login: 'alice' }],
      requested_reviewers: [],
      html_url: /\/repos\/alice\/roof\/pulls\/1$/,
      diff_url: /\/repos\/alice\/roof\/pulls\/1\.diff$/,
      base: { label: 'main', ref: 'main', repo: { full_name: 'alice/roof' } },
      head: { label: 'slate', ref: 'slate', sha: head, repo: { full_name: 'alice/roof' } },
      round: 1,
      source: 'BRANCH',
      revision: 1,
    },
  });
  const base = opened.json['base'] as { sha: string };
  t.equal(opened.json['merge_base'], base.sha);
  const headAs = (json: Json) => {
    const { repo, ...head } = json['head'] as { repo: Json };
    return { ...head, repo: { ...repo, permissions: null } };
  };
  t.same(headAs((await carol('GET', `${roof}/pulls/1`)).json), headAs(opened.json), 'but for the rights of the caller');
  t.match(await bob('POST', `${roof}/pulls`, { head: 'slate', base: 'main', title: 'Again' }), {
    status: 409,
    json: { error: { code: 'pull_exists' } },
  });
  t.match(await bob('POST', `${roof}/pulls`, { head: 'none', base: 'main', title: 'No branch' }), {
    status: 422,
    json: { error: { code: 'head_missing', field: 'head' } },
  });
  t.match((await anonymous('GET', `${roof}/pulls/main/slate`)).json, { number: 1 });
  t.match((await anonymous('GET', `${roof}/pulls/main/alice:slate`)).json, { number: 1 });
  t.match(await anonymous('GET', `${roof}/pulls/main/nothing`), { status: 404 });

  t.match((await anonymous('GET', `${roof}/pulls/1/commits`)).json, [
    { sha: head, commit: { message: 'Slate instead\n', author: { name: 'B' } }, parents: [{ sha: base.sha }] },
  ]);
  t.match((await anonymous('GET', `${roof}/pulls/1/files`)).json, [
    { filename: 'new file.txt', status: 'added', additions: 1, deletions: 0, previous_filename: '' },
    { filename: 'tiles.txt', status: 'changed', additions: 1, deletions: 1, changes: 2 },
  ]);
  const page = await anonymous('GET', `${roof}/pulls/1/files?limit=1`);
  t.match(page.headers, { link: /page=2>; rel="next"/, 'x-total-count': '2' });
  const diff = await anonymous('GET', `${roof}/pulls/1.diff`);
  t.match(diff, { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' } });
  t.match(diff.body, /^diff --git [^]*^\+slate$/m);
  const patch = await anonymous('GET', `${roof}/pulls/1.patch`);
  t.match(patch, { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' } });
  t.match(patch.body, new RegExp(`^From ${head} [^]*^Subject: \\[PATCH\\] Slate instead$[^]*^\\+slate$`, 'm'));
  for (const format of ['diff', 'patch']) {
    t.match(await anonymous('GET', `${roof}/pulls/2.${format}`), { status: 404 });
    t.match(await anonymous('GET', `${roof}/pulls/1.${format}?round=2`), {
      status: 404,
      json: { error: { code: 'round_not_found' } },
    });
  }
  t.match((await anonymous('GET', `${roof}/commits/${head}/pull`)).json, { number: 1 });
  t.match(await anonymous('GET', `${roof}/commits/main/pull`), {
    status: 404,
    json: { error: { code: 'pull_not_found' } },
  });
  t.match(await anonymous('GET', `${roof}/pulls/1/merge`), {
    status: 404,
    json: { error: { code: 'pull_not_merged' } },
  });

  t.match(await bob('POST', `${roof}/issues/1/comments`, { body: 'Please.' }), {
    status: 201,
    json: { pull_request_url: /\/roof\/pulls\/1$/, issue_url: '', html_url: /\/roof\/pulls\/1#e\d+$/ },
  });
  t.match((await anonymous('GET', `${roof}/issues/1`)).json, {
    pull_request: { merged: false, merged_at: null, draft: false, html_url: /\/pulls\/1$/ },
    html_url: /\/pulls\/1$/,
  });
  t.match((await anonymous('GET', `${roof}/issues?type=pulls`)).json, [{ number: 1, pull_request: { merged: false } }]);
  t.match((await anonymous('GET', `${roof}/issues`)).json, [{ number: 1, pull_request: { merged: false } }]);
  t.same((await anonymous('GET', `${roof}/issues?type=issues`)).json, [], 'it is no issue');
});

t.test('a list without a type has issues and pull requests in one order', async (t) => {
  const { bob, anonymous, commit } = await openWorld(t);
  interface Row {
    number: number;
    state: string;
    comments: number;
    updated_at: string;
    pull_request: object | null;
  }
  for (let number = 1; number <= 7; number += 1) {
    const isPull = number % 3 === 2;
    if (isPull) await commit('alice', `topic-${number}`, { [`${number}`]: 'x' }, `topic-${number}`);
    const opened = isPull
      ? await bob('POST', `${roof}/pulls`, { head: `topic-${number}`, title: `Roof ${number}` })
      : await bob('POST', `${roof}/issues`, { title: `Roof ${number}` });
    t.match(opened, { status: 201, json: { number } });
    for (let at = 0; at < number % 4; at += 1)
      await bob('POST', `${roof}/issues/${number}/comments`, { body: 'Please.' });
    if (number > 4) await bob('PATCH', `${roof}/issues/${number}`, { state: 'closed' });
  }
  const list = async (query: string): Promise<[Row[], string | undefined]> => {
    const { status, json, headers } = await anonymous('GET', `${roof}/issues?${query}`);
    t.equal(status, 200, query);
    return [json as unknown as Row[], headers['x-total-count'] as string | undefined];
  };
  const [every] = await list('state=all&type=all&limit=50');
  t.equal(every.length, 7);
  const keys: Record<string, (row: Row) => number> = {
    newest: ({ number }) => -number,
    oldest: ({ number }) => number,
    updated: ({ updated_at: at }) => -Date.parse(at),
    comments: ({ comments }) => -comments,
  };
  for (const state of ['open', 'closed', 'all'])
    for (const type of ['', '&type=', '&type=all', '&type=issues', '&type=pulls'])
      for (const [sort, keyOf] of Object.entries(keys)) {
        const query = `state=${state}&sort=${sort}${type}`;
        const wanted = every.filter(
          (row) =>
            (state === 'all' || row.state === state) &&
            (!type.endsWith('s') || (row.pull_request === null) === (type === '&type=issues')),
        );
        const found: Row[] = [];
        for (let page = 1; page <= 4; page += 1) {
          const [rows, total] = await list(`${query}&limit=2&page=${page}`);
          found.push(...rows);
          t.equal(total, String(wanted.length), `${query}: their number`);
        }
        t.strictSame(found.map(({ number }) => number).sort(), wanted.map(({ number }) => number).sort(), query);
        t.strictSame(
          found.map(keyOf),
          wanted.map(keyOf).sort((one, other) => one - other),
          `${query}: their order`,
        );
      }
  const words = async (query: string) =>
    ((await anonymous('GET', query)).json as unknown as Row[]).map(({ number }) => number).sort();
  t.strictSame(await words(`${roof}/issues?state=all&q=Roof`), [1, 2, 3, 4, 5, 6, 7], 'by words');
  t.strictSame(await words('/repos/issues/search?state=all'), [1, 2, 3, 4, 5, 6, 7], 'over repositories');
  t.strictSame(await words('/repos/issues/search?state=all&q=Roof&type=pulls'), [2, 5]);
  t.strictSame(await words(`${roof}/issues?created_by=alice&state=all`), []);
  t.strictSame(await words(`${roof}/issues?created_by=bob`), [1, 2, 3, 4]);
  t.match(await anonymous('GET', `${roof}/issues?type=garden`), { status: 422 });
});

t.test('lists and edits of pull requests', async (t) => {
  const { alice, bob, dora, anonymous, commit } = await openWorld(t);
  for (const name of ['one', 'two', 'three']) {
    await commit('alice', name, { [`${name}.txt`]: name }, name);
    t.equal((await bob('POST', `${roof}/pulls`, { head: name, title: name, draft: name === 'two' })).status, 201);
  }
  await alice('POST', `${roof}/issues`, { title: 'An issue' });
  t.match(await anonymous('GET', `${roof}/pulls?limit=2`), {
    headers: { 'x-total-count': '3', link: /rel="next"/ },
    json: [{ number: 3 }, { number: 2, draft: true }],
  });
  const next = /<https?:\/\/[^/]+\/api\/v1([^>]+)>/.exec(
    String((await anonymous('GET', `${roof}/pulls?limit=2`)).headers['link']),
  );
  t.match((await anonymous('GET', next![1]!)).json, [{ number: 1 }]);
  t.match((await anonymous('GET', `${roof}/pulls?sort=oldest&page=2&limit=1`)).json, [{ number: 2 }]);
  t.match(await anonymous('GET', `${roof}/pulls/4`), { status: 404 }, 'an issue is no pull request');
  t.match(await anonymous('GET', `${roof}/pulls/x`), { status: 404, json: { error: { code: 'pull_not_found' } } });

  t.match(await bob('PATCH', `${roof}/pulls/1`, { title: 'Uno', body: 'First.', revision: 1 }), {
    status: 201,
    json: { title: 'Uno', body: 'First.', revision: 2 },
  });
  t.match(await bob('PATCH', `${roof}/pulls/1`, { body: 'Late.' }, { 'If-Match': '"1"' }), { status: 412 });
  t.match(await dora('PATCH', `${roof}/pulls/1`, { title: 'Mine' }), { status: 403 });
  t.match(await bob('PATCH', `${roof}/pulls/1`, { state: 'closed' }), { json: { state: 'closed', merged: false } });
  t.match((await anonymous('GET', `${roof}/pulls?state=closed`)).json, [{ number: 1, state: 'closed' }]);
  t.equal(((await anonymous('GET', `${roof}/pulls`)).json as unknown as unknown[]).length, 2);
  t.match(await bob('PATCH', `${roof}/pulls/1`, { state: 'open' }), { json: { state: 'open' } });
  t.match((await anonymous('GET', `${roof}/pulls?poster=alice`)).json, []);

  const numbers = async (query: string, call: Caller = anonymous) =>
    ((await call('GET', `${roof}/pulls?${query}`)).json as unknown as { number: number }[]).map(({ number }) => number);
  await alice('POST', `${roof}/labels`, { name: 'zinc', color: '#0000ff' });
  const { json: lead } = await alice('POST', `${roof}/labels`, { name: 'lead', color: '#0000ff' });
  await alice('POST', `${roof}/issues/1/labels`, { labels: ['zinc', 'lead'] });
  await alice('POST', `${roof}/issues/2/labels`, { labels: ['zinc'] });
  t.same(await numbers('labels=zinc'), [2, 1]);
  t.same(await numbers(`labels=zinc&labels=${String(lead['id'])}`), [1], 'repeated, as Gitea has them');
  t.same(await numbers('labels=zinc,lead'), [1]);
  t.match(await anonymous('GET', `${roof}/pulls?labels=12345`), { status: 422 });
  await commit('alice', 'eaves', { 'eaves.txt': 'wood' }, 'eaves');
  t.equal((await bob('PATCH', `${roof}/pulls/3`, { base: 'eaves' })).status, 201);
  t.same(await numbers('base_branch=eaves'), [3]);
  t.same(await numbers('base_branch=main&sort=oldest'), [1, 2]);
  t.same(await numbers('base_branch=none'), []);
  t.same(await numbers('head=two'), [2]);
  t.same(await numbers('head=alice:two'), [2]);
  t.same(await numbers('head=alice/roof:two'), [2]);
  t.same(await numbers('head=alice/shed:two'), []);
  t.same(await numbers('head=bob:two'), []);
  t.same(await numbers('head=unknown:two'), []);
  t.same(await numbers('q=head:two+zinc'), [], 'words stay words');
  const { json: milestone } = await alice('POST', `${roof}/milestones`, { title: 'Spring' });
  await alice('PATCH', `${roof}/pulls/2`, { milestone: milestone['id'] });
  t.same(await numbers(`milestone=${String(milestone['id'])}`), [2]);
  t.match(await anonymous('GET', `${roof}/pulls?milestone=4711`), { status: 422 });
  for (const sort of ['recentupdate', 'leastupdate', 'mostcomment', 'leastcomment', 'recentclose', 'priority'])
    t.equal((await numbers(`sort=${sort}`)).length, 3, sort);
  t.match(await anonymous('GET', `${roof}/pulls?sort=size`), { status: 422 });
  t.match(await anonymous('GET', `${roof}/pulls?state=merged`), { status: 422 });
});

t.test('tokens, readers and forks', async (t) => {
  const { as, carol, dora, anonymous, alice, commit } = await openWorld(t);
  await commit('alice', 'one', { 'one.txt': '1' }, 'one');
  t.match(await anonymous('POST', `${roof}/pulls`, { head: 'one', title: 'x' }), { status: 401 });
  t.match(await (await as('bob', 'read'))('POST', `${roof}/pulls`, { head: 'one', title: 'x' }), {
    status: 403,
    json: { error: { code: 'insufficient_scope' } },
  });
  t.equal((await carol('POST', `${roof}/forks`, {})).status, 202);
  const head = await commit('carol', 'gutter', { 'gutter.txt': 'zinc' }, 'A gutter');
  t.match(await dora('POST', `${roof}/pulls`, { head: 'carol:gutter', base: 'main', title: 'Not mine' }), {
    status: 403,
    json: { error: { code: 'head_not_yours' } },
  });
  t.match(await carol('POST', `${roof}/pulls`, { head: 'carol:gutter', base: 'main', title: 'A gutter' }), {
    status: 201,
    json: { number: 1, source: 'FORK', head: { ref: 'gutter', sha: head, repo: { full_name: 'carol/roof' } } },
  });
  t.match((await anonymous('GET', `${roof}/pulls/main/carol:gutter`)).json, { number: 1 });
  t.match(await anonymous('GET', `${roof}/pulls/main/gutter`), { status: 404 });
  t.match((await anonymous('GET', `${roof}/pulls?head=carol:gutter`)).json, [{ number: 1 }]);
  t.same((await anonymous('GET', `${roof}/pulls?head=gutter`)).json, []);

  const suggesting = async (body: string) => {
    const review = await alice('POST', `${roof}/pulls/1/reviews`, {
      event: 'COMMENT',
      comments: [{ path: 'gutter.txt', body: `\`\`\`suggestion\n${body}\n\`\`\``, new_position: 1 }],
    });
    const of = `${roof}/pulls/1/reviews/${Number(review.json['id'])}/comments`;
    const [made] = (await alice('GET', of)).json as unknown as { thread_id: string; thread_position: number }[];
    return { comments: [{ thread_id: made!.thread_id, thread_position: made!.thread_position }] };
  };
  const copper = await suggesting('copper');
  t.match(
    await alice('POST', `${roof}/pulls/1/suggestions`, copper),
    { status: 403, json: { error: { code: 'head_not_yours' } } },
    'the branch of a fork is of those who may push there',
  );
  t.match(
    await alice('PATCH', `${roof}/pulls/1`, { allow_maintainer_edit: true }),
    { status: 403, json: { error: { code: 'head_not_yours' } } },
    'the right to push to a fork is not taken, it is given',
  );
  t.match(await carol('PATCH', `${roof}/pulls/1`, { allow_maintainer_edit: true }), {
    json: { allow_maintainer_edit: true },
  });
  t.match(await dora('POST', `${roof}/pulls/1/suggestions`, copper), { status: 403 }, 'dora may not write here');
  const applied = await alice('POST', `${roof}/pulls/1/suggestions`, copper);
  t.match(applied, { status: 201 });
  t.match((await anonymous('GET', `${roof}/pulls/1`)).json, { round: 2, head: { sha: applied.json['sha'] } });
  t.match((await carol('GET', '/repos/carol/roof/branches')).json, [{ name: 'gutter', id: applied.json['sha'] }, {}]);
  const lead = await suggesting('lead');
  await carol('PATCH', `${roof}/pulls/1`, { allow_maintainer_edit: false });
  t.match(await alice('POST', `${roof}/pulls/1/suggestions`, lead), { status: 403 });
  t.match(await carol('POST', `${roof}/pulls/1/suggestions`, lead), { status: 201 });
  t.match((await anonymous('GET', `${roof}/pulls/1`)).json, { round: 3 });

  await carol('PATCH', '/repos/carol/roof', { visibility: 'PRIVATE' });
  t.same(
    (await anonymous('GET', `${roof}/pulls?head=carol:gutter`)).json,
    [],
    'the branch of a hidden fork has no name',
  );
  t.match((await carol('GET', `${roof}/pulls?head=carol:gutter`)).json, [{ number: 1 }]);

  await alice('PATCH', roof, { visibility: 'PRIVATE' });
  for (const path of [
    '',
    '/1',
    '/1/commits',
    '/1/files',
    '/1/conflicts',
    '/1.diff',
    '/1.patch',
    '/1/merge',
    '/main/carol:gutter',
  ])
    t.match(await dora('GET', `${roof}/pulls${path}`), {
      status: 404,
      json: { error: { code: 'repository_not_found' } },
    });
});

t.test('people who can be asked for reviews, by what the caller may know', async (t) => {
  const { web, alice, bob, carol, dora, anonymous, as, viewer, ids } = await openWorld(t);
  ids['eve'] = (await web.modules.accounts.addPerson({ username: 'eve' })).id;
  const { organisations, repositories, accounts } = web.modules;
  const reviewersOf = async (who: typeof alice, at = roof): Promise<unknown> => {
    const { status, json } = await who('GET', `${at}/reviewers`);
    return status === 200 ? (json as unknown as { login: string }[]).map(({ login }) => login) : status;
  };
  t.same(await reviewersOf(alice), ['alice', 'bob'], 'the owner and the collaborators');
  t.same(await reviewersOf(bob), ['alice', 'bob'], 'for those who may write');
  t.same([await reviewersOf(dora), await reviewersOf(anonymous)], [404, 401], 'and no one else');
  t.match(
    (await alice('GET', `${roof}/reviewers`)).json,
    [{ login: 'alice', full_name: 'ALICE' }, {}],
    'in the shape of Gitea',
  );
  await repositories.collaborators.add(viewer('alice'), 'alice', 'roof', { username: 'carol', role: 'read' });
  t.same(await reviewersOf(bob), ['alice', 'bob', 'carol'], 'who may read can be asked');
  t.equal(await reviewersOf(carol), 404, 'and does not see the others');
  await accounts.setDisabled(ids['carol']!, true);
  t.same(await reviewersOf(bob), ['alice', 'bob'], 'an account that is disabled is not offered');
  await accounts.setDisabled(ids['carol']!, false);

  const eve = await as('eve');
  await organisations.create(viewer('alice'), { name: 'guild' });
  await organisations.addMember(viewer('alice'), 'guild', { username: 'dora', role: 'MEMBER' });
  await repositories.create(viewer('alice'), { owner: 'guild', name: 'hall', visibility: 'PRIVATE' });
  const team = { organisation: 'guild', name: 'glazers' };
  await organisations.teams.create(viewer('alice'), 'guild', { name: 'glazers' });
  await organisations.teams.addMember(viewer('alice'), team, 'carol');
  await repositories.teams.setRole(viewer('alice'), team, { owner: 'guild', name: 'hall' }, 'write');
  await repositories.collaborators.add(viewer('alice'), 'guild', 'hall', { username: 'eve', role: 'write' });
  const hall = '/repos/guild/hall';
  t.same(await reviewersOf(alice, hall), ['alice', 'carol', 'dora', 'eve'], 'an OWNER knows the members');
  t.same(await reviewersOf(dora, hall), ['carol', 'eve'], 'a MEMBER knows the people of teams');
  t.same(await reviewersOf(eve, hall), ['eve'], 'a collaborator from outside knows of no team');
  t.same([await reviewersOf(bob, hall), await reviewersOf(anonymous, hall)], [404, 401]);
});

t.test('the conflicts of a pull request', async (t) => {
  const { alice, bob, dora, anonymous, commit } = await openWorld(t);
  const head = await commit('alice', 'slate', { 'tiles.txt': 'slate\n' }, 'Slate instead');
  await bob('POST', `${roof}/pulls`, { head: 'slate', base: 'main', title: 'Slate' });
  const address = `${roof}/pulls/1/conflicts`;
  t.match(await anonymous('GET', address), { status: 200, json: { head_sha: head, total: 0, files: [] } });
  const base = await commit('alice', 'main', { 'tiles.txt': 'blue <b>\n' }, 'Blue ones');
  t.same(await anonymous('GET', address).then(({ json }) => json), {
    base_sha: base,
    head_sha: head,
    total: 1,
    files: [
      {
        filename: 'tiles.txt',
        kind: 'marked',
        hunks: [
          [
            { line: 1, kind: 'mark', text: `<<<<<<< ${base}` },
            { line: 2, kind: 'ours', text: 'blue <b>' },
            { line: 3, kind: 'mark', text: '=======' },
            { line: 4, kind: 'theirs', text: 'slate' },
            { line: 5, kind: 'mark', text: `>>>>>>> ${head}` },
          ],
        ],
        truncated: false,
      },
    ],
  });
  t.equal((await anonymous('GET', `${roof}/pulls/2/conflicts`)).status, 404);
  await alice('PATCH', roof, { visibility: 'PRIVATE' });
  for (const who of [anonymous, dora]) t.equal((await who('GET', address)).status, 404, 'like what is absent');
  t.equal((await bob('GET', address)).status, 200);
});

t.test('merging, updating and rounds', async (t) => {
  const { alice, bob, dora, anonymous, commit } = await openWorld(t);
  const first = await commit('alice', 'slate', { 'tiles.txt': 'slate\n' }, 'Slate instead');
  await bob('POST', `${roof}/pulls`, { head: 'slate', base: 'main', title: 'Slate' });
  t.match(await anonymous('GET', `${roof}/pulls/1`), { json: { mergeable: true, merge_state: 'CLEAN' } });
  t.match((await anonymous('GET', `${roof}/pulls/1/rounds`)).json, [
    { round: 1, head_sha: first, change: 'first', commits_count: 1, user: { login: 'bob' } },
  ]);
  t.match((await anonymous('GET', `${roof}/pulls/1/rounds/1`)).json, {
    round: 1,
    commits: [{ sha: first, subject: 'Slate instead', change_id: null }],
  });
  t.match(await anonymous('GET', `${roof}/pulls/1/rounds/2`), {
    status: 404,
    json: { error: { code: 'round_not_found' } },
  });
  t.match(await bob('PATCH', `${roof}/pulls/1`, { draft: true }), { status: 201, json: { draft: true } });
  t.match(await bob('POST', `${roof}/pulls/1/merge`, { Do: 'merge' }), {
    status: 409,
    json: { error: { code: 'merge_blocked', message: /draft/ } },
  });
  t.match(await bob('PATCH', `${roof}/pulls/1`, { draft: false }), { json: { draft: false } });
  t.match(await bob('POST', `${roof}/pulls/1/merge`, {}), { status: 422, json: { error: { field: 'Do' } } });
  t.match(await dora('POST', `${roof}/pulls/1/merge`, { Do: 'merge' }), { status: 403 });
  t.match(await bob('POST', `${roof}/pulls/1/merge`, { Do: 'merge', head_commit_id: 'f'.repeat(40) }), {
    status: 409,
    json: { error: { code: 'head_changed' } },
  });
  t.match(await bob('DELETE', `${roof}/pulls/1/merge`), { status: 404, json: { error: { code: 'merge_not_asked' } } });
  const merged = await bob('POST', `${roof}/pulls/1/merge`, {
    do: 'squash',
    MergeTitleField: 'A roof of slate (#1)',
    merge_message_field: 'It lasts.',
    head_commit_id: first,
    delete_branch_after_merge: true,
  });
  t.match(merged, { status: 200, body: '' });
  t.match(await anonymous('GET', `${roof}/pulls/1/merge`), { status: 204 });
  const { json } = await anonymous('GET', `${roof}/pulls/1`);
  t.match(json, {
    state: 'closed',
    merged: true,
    merge_style: 'SQUASH',
    merged_by: { login: 'bob' },
    merged_at: String,
  });
  t.match((await anonymous('GET', `${roof}/commits/${String(json['merge_commit_sha'])}`)).json, {
    message: /^A roof of slate \(#1\)\n\nIt lasts\.\n/,
  });
  t.match((await anonymous('GET', `${roof}/branches`)).json, [{ name: 'main' }], 'the head branch is deleted');
  t.match((await anonymous('GET', `${roof}/issues/1`)).json, { pull_request: { merged: true, merged_at: String } });
  t.match(await bob('POST', `${roof}/pulls/1/merge`, { Do: 'merge' }), { status: 409 });

  await commit('alice', 'gutter', { 'gutter.txt': 'zinc\n' }, 'A gutter');
  await bob('POST', `${roof}/pulls`, { head: 'gutter', base: 'main', title: 'Gutter' });
  t.match(await bob('POST', `${roof}/pulls/2/update`), { status: 409, json: { error: { code: 'up_to_date' } } });
  t.match((await anonymous('GET', `${roof}/commits/${String(json['merge_commit_sha'])}/pull`)).json, { number: 1 });

  t.match(await dora('POST', `${roof}/pulls/1/head`), { status: 404 }, 'as every change of a branch');
  t.match(await bob('POST', `${roof}/pulls/1/head`), { status: 204 });
  t.match((await anonymous('GET', `${roof}/branches`)).json, [{ name: 'gutter' }, { name: 'main' }, { name: 'slate' }]);
  t.match(await bob('DELETE', `${roof}/pulls/1/head`), { status: 204 });
  t.match(await bob('DELETE', `${roof}/pulls/2/head`), { status: 422, json: { error: { code: 'pull_open' } } });
  t.match(await dora('POST', `${roof}/pulls/1/revert`), { status: 403 });
  t.match(await bob('POST', `${roof}/pulls/1/revert`), {
    status: 201,
    headers: { location: '/api/v1/repos/alice/roof/pulls/3' },
    json: { number: 3, title: 'Revert "Slate"', head: { ref: 'revert-1' } },
  });
  t.match(await bob('POST', `${roof}/pulls/2/revert`), { status: 422, json: { error: { code: 'not_merged' } } });
  t.match(await bob('POST', `${roof}/pulls/2/update`, undefined), { status: 409 });
  t.match(await bob('POST', `${roof}/pulls/3/merge`, { Do: 'merge' }), { status: 200 });
  t.match(await bob('POST', `${roof}/pulls/2/update?style=rebase`), { status: 200 });
  t.match((await anonymous('GET', `${roof}/pulls/2/rounds`)).json, [{ round: 1 }, { round: 2, change: 'rebased' }]);
  await alice('POST', `${roof}/branch_protections`, { rule_name: 'main' });
});

t.test('a stack by dependencies', async (t) => {
  const { bob, alice, anonymous, commit } = await openWorld(t);
  const low = await commit('alice', 'low', { 'low.txt': 'low\n' }, 'Low');
  await bob('POST', `${roof}/pulls`, { head: 'low', base: 'main', title: 'Low' });
  await commit('alice', 'high', { 'high.txt': 'high\n' }, 'High');
  await bob('POST', `${roof}/pulls`, { head: 'high', base: 'main', title: 'High' });
  t.match(await anonymous('GET', `${roof}/pulls/2/stack`), { status: 200, json: [] });
  t.match(await alice('POST', `${roof}/issues/2/dependencies`, { index: 1 }), { status: 201 });
  t.match((await anonymous('GET', `${roof}/pulls/2/stack`)).json, [
    { number: 1, title: 'Low', state: 'open', draft: false, head_sha: low, needs: [], behind: false },
    { number: 2, title: 'High', needs: [1] },
  ]);
  t.match(await bob('POST', `${roof}/pulls/2/merge`, { Do: 'merge' }), {
    status: 409,
    json: { error: { code: 'merge_blocked', message: /#1, which has to be merged first/ } },
  });
  t.match(await bob('POST', `${roof}/pulls/1/merge`, { Do: 'squash' }), { status: 200 });
  t.match(await bob('POST', `${roof}/pulls/2/merge`, { Do: 'merge' }), { status: 200 });
  t.match(await anonymous('GET', `${roof}/pulls/9/stack`), { status: 404 });
});

t.test('the merge queue', async (t) => {
  const { alice, bob, dora, anonymous, commit, web } = await openWorld(t);
  const queue = { rule_name: 'main', merge_queue: true, status_check_contexts: ['build (merge_group)'] };
  t.match(await alice('POST', `${roof}/branch_protections`, queue), {
    status: 201,
    json: { merge_queue: true, block_on_outdated_branch: false },
  });
  for (const name of ['slate', 'straw', 'tin']) {
    await commit('alice', name, { [`${name}.txt`]: `${name}\n` }, name);
    t.match(await bob('POST', `${roof}/pulls`, { head: name, base: 'main', title: name }), { status: 201 });
  }
  const at = (number: number) => `${roof}/pulls/${number}/queue`;
  t.match(await anonymous('GET', `${roof}/pulls/queue`), { status: 200, json: [] });
  t.match(await anonymous('GET', at(1)), { status: 404, json: { error: { code: 'queue_place_not_found' } } });
  t.match(await bob('POST', `${roof}/pulls/1/merge`, { Do: 'merge' }), {
    status: 409,
    json: { error: { code: 'merge_blocked', message: /queue/ } },
  });
  t.match(await bob('POST', at(1), { head_commit_id: 'f'.repeat(40) }), { json: { error: { code: 'head_changed' } } });
  t.match(await bob('POST', at(1), { Do: 'octopus' }), { status: 422, json: { error: { field: 'Do' } } });
  t.match(await dora('POST', at(1), {}), { status: 403 });
  t.match(await anonymous('POST', at(1), {}), { status: 401 });
  for (const number of [1, 2, 3])
    t.match(await bob('POST', at(number), { Do: 'squash', MergeTitleField: `Of the queue, ${number}` }), {
      status: 204,
    });
  t.match(await bob('POST', at(1), {}), { status: 409, json: { error: { code: 'in_queue' } } });
  t.match(await bob('POST', `${at(3)}/first`), { status: 403 });
  t.match(await alice('POST', `${at(3)}/first`), { status: 204 });
  const testing = await waitUntil(async () => {
    const [first] = (await anonymous('GET', `${roof}/pulls/queue`)).json as unknown as [Json];
    return first['state'] === 'testing' && first;
  });
  t.match((await anonymous('GET', `${roof}/pulls/queue`)).json, [
    { base: 'main', state: 'testing', place: 1, length: 3, candidate_sha: /^[0-9a-f]{40}$/, user: { login: 'bob' } },
    { state: 'waiting', place: 2, candidate_sha: null, tested_since: null },
    { state: 'waiting', place: 3 },
  ]);
  const first = Number(testing['number']);
  t.match((await anonymous('GET', at(first))).json, { number: first, place: 1, round: 1, tested_since: String });
  t.match((await anonymous('GET', `${roof}/commits/${String(testing['candidate_sha'])}`)).json, {
    message: new RegExp(`^Of the queue, ${first}`),
  });
  t.match(await dora('DELETE', at(2)), { status: 403 });
  t.match(await bob('DELETE', at(2)), { status: 204 });
  t.match(await bob('DELETE', at(2)), { status: 409, json: { error: { code: 'not_in_queue' } } });
  const status = { context: 'build (merge_group)', state: 'success' };
  t.match(await bob('POST', `${roof}/commits/${String(testing['candidate_sha'])}/statuses`, status), { status: 201 });
  await web.modules.pulls.queue.advanceAll();
  await waitUntil(async () => (await anonymous('GET', `${roof}/pulls/${first}/merge`)).status === 204);
  t.match((await anonymous('GET', `${roof}/pulls/${first}`)).json, {
    merged: true,
    merge_commit_sha: testing['candidate_sha'],
    merged_by: { login: 'bob' },
  });
  t.match((await alice('PATCH', `${roof}/branch_protections/main`, { merge_queue: false })).json, {
    merge_queue: false,
    block_on_outdated_branch: false,
  });
  t.match(await bob('POST', at(2), {}), { status: 409, json: { error: { code: 'no_queue' } } });
});

t.test('reviews with comments on lines', async (t) => {
  const { alice, bob, carol, dora, anonymous, commit } = await openWorld(t);
  const first = await commit('alice', 'slate', { 'tiles.txt': 'slate\nand nails\n' }, 'Slate instead');
  await alice('POST', `${roof}/pulls`, { head: 'slate', title: 'Slate' });
  const asking = await alice('POST', `${roof}/pulls/1/requested_reviewers`, { reviewers: ['bob'] });
  t.match(asking, {
    status: 201,
    json: [{ state: 'REQUEST_REVIEW', user: { login: 'bob' }, official: true, commit_id: first, comments_count: 0 }],
  });
  t.match(await alice('POST', `${roof}/pulls/1/requested_reviewers`, { reviewers: ['alice'] }), {
    status: 422,
    json: { error: { code: 'reviewer_is_author', field: 'reviewers' } },
  });
  t.match((await anonymous('GET', `${roof}/pulls/1`)).json, { requested_reviewers: [{ login: 'bob' }] });
  t.match(await alice('DELETE', `${roof}/pulls/1/requested_reviewers`, { reviewers: ['bob'] }), { status: 204 });
  t.match((await anonymous('GET', `${roof}/pulls/1`)).json, { requested_reviewers: [] });
  t.match(await dora('POST', `${roof}/pulls/1/requested_reviewers`, { reviewers: ['bob'] }), { status: 403 });
  const reviews = `${roof}/pulls/1/reviews`;
  const pending = await bob('POST', reviews, {
    event: 'PENDING',
    comments: [{ path: 'tiles.txt', body: 'Which nails?', new_position: 2 }],
  });
  t.match(pending, {
    status: 200,
    json: { state: 'PENDING', comments_count: 1, commit_id: first, user: { login: 'bob' }, submitted_at: null },
  });
  t.same((await anonymous('GET', reviews)).json, [], 'others do not see it');
  t.match((await bob('GET', reviews)).json, [{ state: 'PENDING' }]);
  const id = Number(pending.json['id']);
  t.match(await carol('GET', `${reviews}/${id}`), { status: 404, json: { error: { code: 'review_not_found' } } });
  t.match(await bob('DELETE', `${reviews}/${id}`), { status: 204 });
  t.same((await bob('GET', reviews)).json, []);

  const refused = await bob('POST', reviews, {
    event: 'REQUEST_CHANGES',
    body: 'Not yet.',
    comments: [
      { path: 'tiles.txt', body: 'Fine.', old_position: 1 },
      { path: 'none.txt', body: 'Where?', new_position: 1 },
    ],
  });
  t.match(refused, { status: 422, json: { error: { code: 'file_not_changed' } } });
  t.same((await bob('GET', reviews)).json, [], 'all comments or none');
  const asked = await bob('POST', reviews, {
    event: 'REQUEST_CHANGES',
    body: 'Not yet.',
    commit_id: first,
    comments: [
      { path: 'tiles.txt', body: 'Why not red?', old_position: 1 },
      { path: 'tiles.txt', body: 'Which nails?', new_position: 2, first_line: 1 },
    ],
  });
  t.match(asked, {
    status: 200,
    json: { state: 'REQUEST_CHANGES', body: 'Not yet.', official: true, stale: false, comments_count: 2 },
  });
  const askedId = Number(asked.json['id']);
  // The clock stands still, so that threads of one review are in no certain order.
  const comments = (await anonymous('GET', `${reviews}/${askedId}/comments`)).json as unknown as {
    position: number;
    thread_id: string;
  }[];
  const thread = comments.toSorted((one, other) => one.position - other.position);
  t.match(thread, [
    { path: 'tiles.txt', body: 'Why not red?', original_position: 1, position: 0, diff_hunk: /red/, resolved: false },
    { path: 'tiles.txt', body: 'Which nails?', original_position: 0, position: 2, original_commit_id: first },
  ]);
  t.match(await alice('POST', `${roof}/pulls/1/merge`, { Do: 'merge' }), {
    status: 409,
    json: { error: { code: 'merge_blocked' } },
  });
  t.match(
    await alice('POST', reviews, {
      event: 'COMMENT',
      comments: [{ body: 'It broke.', thread_id: thread[0]!.thread_id }],
    }),
    { status: 200, json: { state: 'COMMENT', comments_count: 1 } },
  );
  t.match(await alice('POST', reviews, { event: 'APPROVED' }), { status: 403, json: { error: { code: 'own_pull' } } });
  t.match(await bob('POST', reviews, { event: 'COMMENT', body: 'x', commit_id: 'f'.repeat(40) }), {
    status: 422,
    json: { error: { code: 'commit_not_in_pull' } },
  });
  t.match(await dora('POST', `${reviews}/${askedId}/dismissals`, { message: 'No.' }), { status: 403 });
  t.match(await alice('POST', `${reviews}/${askedId}/dismissals`, { message: 'Settled by phone.' }), {
    status: 200,
    json: { dismissed: true, dismissal_reason: 'Settled by phone.' },
  });
  const undismissals = `${reviews}/${askedId}/undismissals`;
  t.match(await dora('POST', undismissals), { status: 403 });
  t.match(await alice('POST', undismissals), { status: 200, json: { dismissed: false, dismissal_reason: null } });
  t.match(await alice('POST', undismissals), { status: 422, json: { error: { code: 'not_dismissed' } } });
  t.match(await alice('POST', `${roof}/pulls/1/merge`, { Do: 'merge' }), { status: 409 }, 'it stands in the way again');
  t.match(await alice('POST', `${reviews}/${askedId}/dismissals`, { message: 'By phone.' }), { status: 200 });

  const { thread_id: threadId } = thread[0]!;
  const resolved = async () =>
    ((await anonymous('GET', `${reviews}/${askedId}/comments`)).json as unknown as typeof thread).find(
      (comment) => comment.thread_id === threadId,
    );
  t.match(await dora('POST', `${roof}/pulls/1/threads/${threadId}/resolve`), { status: 403 });
  t.match(await alice('POST', `${roof}/pulls/1/threads/${threadId}/resolve`), { status: 204 });
  t.match(await resolved(), { resolved: true, resolver: { login: 'alice' } });
  t.match(await alice('POST', `${roof}/pulls/1/threads/${threadId}/unresolve`), { status: 204 });
  t.match(await resolved(), { resolved: false, resolver: null });
  t.match(await alice('POST', `${roof}/pulls/1/threads/none/resolve`), { status: 404 });

  const suggested = await bob('POST', reviews, {
    event: 'COMMENT',
    comments: [{ path: 'tiles.txt', body: '```suggestion\nand copper nails\n```', new_position: 2 }],
  });
  const [suggestion] = (await bob('GET', `${reviews}/${Number(suggested.json['id'])}/comments`)).json as unknown as {
    thread_id: string;
    thread_position: number;
  }[];
  const comment = { thread_id: suggestion!.thread_id, thread_position: suggestion!.thread_position };
  t.match(await dora('POST', `${roof}/pulls/1/suggestions`, { comments: [comment] }), { status: 403 });
  t.match(await alice('POST', `${roof}/pulls/1/suggestions`, { comments: [comment], round: 7 }), {
    status: 409,
    json: { error: { code: 'round_changed' } },
  });
  const applied = await alice('POST', `${roof}/pulls/1/suggestions`, { comments: [comment], message: 'Copper' });
  t.match(applied, { status: 201, json: { sha: /^[0-9a-f]{40}$/ } });
  t.match((await anonymous('GET', `${roof}/pulls/1`)).json, { round: 2, head: { sha: applied.json['sha'] } });
  t.match((await anonymous('GET', `${roof}/commits/${String(applied.json['sha'])}`)).json, {
    message: /^Copper\n\nCo-authored-by: BOB </,
  });
  t.match(await alice('POST', `${roof}/pulls/1/suggestions`, { comments: [comment] }), {
    status: 409,
    json: { error: { code: 'suggestion_applied' } },
  });
  const inbox = await waitUntil(async () => {
    const found = (await bob('GET', '/notifications')).json as unknown as Json[];
    return found.length > 0 && found;
  });
  t.match(inbox, [{ subject: { type: 'Pull', changes_html_url: /\/roof\/pulls\/1\/changes\?from=1$/ } }]);
  t.match(await dora('POST', reviews, { event: 'APPROVED', body: 'Nice.' }), {
    json: { state: 'APPROVED', official: false },
  });
  t.match(await alice('POST', `${roof}/pulls/1/merge`, { Do: 'rebase' }), { status: 200 });
});

t.test('at the same time, meanwhile, and bad input', async (t) => {
  const { alice, bob, dora, anonymous, commit } = await openWorld(t);
  const heads: string[] = [];
  for (const name of ['one', 'two', 'three']) {
    heads.push(await commit('alice', name, { [`${name}.txt`]: name }, name));
    t.equal((await bob('POST', `${roof}/pulls`, { head: name, title: name })).status, 201);
  }
  const merge = (number: number, body: object = {}) =>
    alice('POST', `${roof}/pulls/${number}/merge`, { Do: 'merge', ...body });
  const twice = await Promise.all([merge(1), merge(1), merge(1)]);
  t.equal(twice.filter(({ status }) => status === 200).length, 1, 'one of three merges lands');
  for (const { status } of twice) if (status !== 200) t.equal(status, 409);
  const both = await Promise.all([merge(2), merge(3)]);
  for (const [at, { status, json }] of both.entries())
    if (status !== 200) {
      t.match({ status, json }, { status: 409, json: { error: { code: /branch_moves_too_fast|merge_blocked/ } } });
      t.equal((await merge(at + 2)).status, 200, 'and again, it lands');
    }
  const merges = (await anonymous('GET', `${roof}/commits`)).json as unknown as { message: string }[];
  t.equal(merges.filter(({ message }) => message.startsWith('Merge')).length, 3, 'each is merged once');

  const first = await commit('alice', 'four', { 'four.txt': '4' }, 'four');
  await bob('POST', `${roof}/pulls`, { head: 'four', title: 'four', draft: true });
  await alice('POST', `${roof}/pulls/4/reviews`, {
    event: 'PENDING',
    comments: [{ path: 'four.txt', body: 'Why?', new_position: 1 }],
  });
  const place = await alice('POST', `${roof}/pulls/4/suggestions`, { comments: [] });
  t.match(place, { status: 422, json: { error: { code: 'no_suggestion' } } });
  const suggestion = await bob('POST', `${roof}/pulls/4/reviews`, {
    event: 'COMMENT',
    comments: [{ path: 'four.txt', body: '```suggestion\nfour\n```', new_position: 1 }],
  });
  const of = `${roof}/pulls/4/reviews/${Number(suggestion.json['id'])}/comments`;
  const [made] = (await bob('GET', of)).json as unknown as { thread_id: string; thread_position: number }[];
  const comments = [{ thread_id: made!.thread_id, thread_position: made!.thread_position }];
  const applied = await Promise.all(
    [1, 2].map(() => bob('POST', `${roof}/pulls/4/suggestions`, { comments, round: 1 })),
  );
  t.same(applied.map(({ status }) => status).sort(), [201, 409], 'a suggestion that is applied twice is applied once');
  t.match((await anonymous('GET', `${roof}/pulls/4`)).json, { round: 2 });
  t.match(
    await alice('POST', `${roof}/pulls/4/reviews`, { event: 'REQUEST_CHANGES', body: 'No.', commit_id: first }),
    { status: 200, json: { round: 1, stale: true, comments_count: 1, commit_id: first } },
    'a review of what was there before the round stays at its round',
  );
  t.match(await bob('PATCH', `${roof}/pulls/4`, { draft: false }), { status: 201 });
  t.match(await merge(4, { head_commit_id: first }), { status: 409, json: { error: { code: 'head_changed' } } });

  for (const [body, field] of [
    [{ title: 'x'.repeat(10_000) }, 'title'],
    [{ title: 'an \u202eevil title' }, 'title'],
    [{ body: 'x'.repeat(65_537) }, 'body'],
  ] as const)
    t.match(await bob('PATCH', `${roof}/pulls/4`, body), { status: 422, json: { error: { field } } });
  t.match(await alice('POST', `${roof}/pulls/4/reviews`, { event: 'COMMENT', body: 'x'.repeat(65_537) }), {
    status: 422,
  });
  t.match(
    await alice('POST', `${roof}/pulls/4/reviews`, {
      event: 'COMMENT',
      comments: [{ path: 'four.txt\0', body: 'x', new_position: 1 }],
    }),
    { status: 422 },
  );

  t.equal((await alice('POST', `${roof}/rename`, { name: 'attic' })).status, 200);
  t.match((await anonymous('GET', `${roof}/pulls/4`)).json, { base: { repo: { full_name: 'alice/attic' } } });
  const attic = '/repos/alice/attic';
  t.equal((await alice('PATCH', attic, { archived: true })).status, 200);
  for (const [method, path, body] of [
    ['POST', '/4/merge', { Do: 'merge' }],
    ['POST', '/4/reviews', { event: 'COMMENT', body: 'x' }],
    ['PATCH', '/4', { title: 'x' }],
    ['POST', '/4/update', undefined],
    ['POST', '/4/suggestions', { comments }],
    ['POST', '', { head: 'four', title: 'x' }],
  ] as const) {
    const { status } = await alice(method, `${attic}/pulls${path}`, body);
    t.ok(status === 403 || status === 409 || status === 422, `archived: ${method} ${path} ${status}`);
  }
  t.match((await anonymous('GET', `${attic}/pulls/4`)).json, { title: 'four', merged: false });
  t.equal((await alice('DELETE', attic)).status, 204);
  for (const path of ['', '/4', '/4.diff', '/4.patch', '/4/reviews', '/4/rounds'])
    t.equal((await dora('GET', `${attic}/pulls${path}`)).status, 404, `in the trash: ${path}`);
});

t.test('a team is asked for a review, and shown to those who know of it', async (t) => {
  const { alice, bob, carol, anonymous, commit, web, viewer } = await openWorld(t);
  const { organisations, repositories } = web.modules;
  const owner = viewer('alice');
  await commit('alice', 'slate', { 'tiles.txt': 'slate\n' }, 'Slate instead');
  await organisations.create(owner, { name: 'guild' });
  await organisations.teams.create(owner, 'guild', { name: 'glazers' });
  await organisations.teams.addMember(owner, { organisation: 'guild', name: 'glazers' }, 'carol');
  await repositories.transfers.start(owner, 'alice', 'roof', 'guild');
  await alice('POST', '/repos/guild/roof/collaborators', { username: 'bob', role: 'write' });
  await alice('POST', '/repos/guild/roof/pulls', { head: 'slate', title: 'Slate' });
  const at = '/repos/guild/roof/pulls/1/requested_reviewers';
  const ask = { team_reviewers: ['Glazers'] };
  t.match(await alice('POST', at, ask), {
    status: 422,
    json: { error: { code: 'team_without_role', field: 'reviewers' } },
  });
  await repositories.teams.setRole(
    owner,
    { organisation: 'guild', name: 'glazers' },
    { owner: 'guild', name: 'roof' },
    'write',
  );
  const unknown = { status: 422, json: { error: { code: 'unknown_team', field: 'reviewers' } } };
  t.match(await bob('POST', at, ask), unknown, 'a collaborator who does not know of the team');
  t.same((await bob('POST', at, { team_reviewers: ['nothing'] })).json, (await bob('POST', at, ask)).json);
  const team = { id: Number, name: 'glazers', organization: null, permission: 'read' };
  t.match(await alice('POST', at, { ...ask, reviewers: ['bob'] }), {
    status: 201,
    json: [
      { state: 'REQUEST_REVIEW', user: { login: 'bob' }, team: null },
      { state: 'REQUEST_REVIEW', user: null, team, official: false },
    ],
  });
  const shownTo = async (caller: Caller) =>
    (await caller('GET', '/repos/guild/roof/pulls/1')).json['requested_reviewers_teams'];
  t.match(await shownTo(carol), [team]);
  t.same(await shownTo(bob), []);
  t.same(await shownTo(anonymous), []);
  t.match((await carol('GET', '/repos/guild/roof/pulls')).json, [{ requested_reviewers_teams: [team] }]);
  t.match(await alice('DELETE', at, ask), { status: 204 });
  t.same(await shownTo(carol), []);
});
