// Names that could be taken for others: a branch with the name of a tag, full names in addresses, refused names; names
// of repositories that begin with a dot, and those of before a rename; and what programs fetch: `go get`, archives and
// files with a token.
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { gitSync } from '../git/git-fixture.ts';
import { startPullServer } from '../pulls/pull-server.ts';

t.setTimeout(300_000);

const server = await startPullServer(t);
const { repositories } = server.app.modules;
const bearer = { authorization: `Bearer ${server.tokens.alice}` };

const get = async (path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(server.origin + path, { headers, redirect: 'manual' });
  const body = Buffer.from(await response.arrayBuffer());
  return { status: response.status, body, text: body.toString(), headers: response.headers };
};
/** What the file of an archive says. */
const unpacked = async (path: string, headers = {}) => {
  const { status, body } = await get(path, headers);
  return status === 200 ? (/one|two/.exec(gunzipSync(body).toString('latin1'))?.[0] ?? 'neither') : status;
};

t.test('a branch never stands for the tag of its name', async (t) => {
  const clone = await server.repository('site');
  await clone.commit('f', 'one\n');
  await clone.git('tag', 'rel');
  await clone.commit('f', 'two\n');
  t.equal(
    (await clone.push('--quiet', 'origin', 'refs/tags/rel', 'HEAD:refs/heads/rel', 'HEAD:refs/heads/main')).code,
    0,
  );
  await server.announced();
  const B = '/repos/alice/site';
  const release = await fetch(`${server.origin}/api/v1/repos/alice/site/releases`, {
    method: 'POST',
    headers: { ...bearer, 'content-type': 'application/json' },
    body: JSON.stringify({ tag_name: 'rel', name: 'First' }),
  });
  const { tarball_url: tarball } = (await release.json()) as { tarball_url: string };
  t.equal(await unpacked(new URL(tarball).pathname), 'one', 'tarball_url');
  const tags = JSON.parse((await get('/api/v1/repos/alice/site/tags')).text) as { tarball_url: string }[];
  t.equal(await unpacked(new URL(tags[0]!.tarball_url).pathname), 'one', 'the list of tags');
  for (const page of [`${B}/releases`, `${B}/releases/tag/rel`, `${B}/tags`]) {
    const { text } = await get(page);
    const link = /href="([^"]*archive[^"]*\.tar\.gz)"/.exec(text)?.[1];
    t.equal(await unpacked(link ?? '/none'), 'one', page);
    t.match(text, 'tree/refs/tags/rel', page);
  }
  t.equal(await unpacked(`${B}/archive/rel.tar.gz`), 'one', 'as in git, the tag for a short name of a download');
  t.equal(await unpacked('/api/v1/repos/alice/site/archive/rel.tar.gz'), 'one', 'the same in the API');
  const urls = JSON.parse((await get('/api/v1/repos/alice/site/archive?ref=rel')).text) as { tarGz: string };
  t.equal(await unpacked(new URL(urls.tarGz).pathname), 'one', 'URLs of archives');
  const notes = await fetch(`${server.origin}/api/v1/repos/alice/site/releases/generate-notes`, {
    method: 'POST',
    headers: { ...bearer, 'content-type': 'application/json' },
    body: JSON.stringify({ tag_name: 'next', previous_tag_name: 'rel' }),
  });
  t.match(((await notes.json()) as { body: string }).body, '/compare/refs/tags/rel...refs/tags/next');

  const cases: [ref: string, says: string][] = [
    ['refs/tags/rel', 'one'],
    ['tags/rel', 'one'],
    ['refs/heads/rel', 'two'],
    ['heads/rel', 'two'],
    ['refs/heads/main', 'two'],
  ];
  for (const [ref, says] of cases) {
    t.equal(await unpacked(`${B}/archive/${ref}.tar.gz`), says, `archive of ${ref}`);
    t.equal((await get(`${B}/raw/${ref}/f`)).text.trim(), says, `raw of ${ref}`);
    for (const page of ['tree', 'commits']) t.equal((await get(`${B}/${page}/${ref}`)).status, 200, `${page} ${ref}`);
    for (const page of ['blob', 'blame']) t.match((await get(`${B}/${page}/${ref}/f`)).text, says, `${page} ${ref}`);
    const query = `ref=${encodeURIComponent(ref)}`;
    t.equal((await get(`/api/v1/repos/alice/site/raw?path=f&${query}`)).text.trim(), says, `API raw of ${ref}`);
    t.equal((await get(`/api/v1/repos/alice/site/tree?${query}`)).status, 200, `API tree of ${ref}`);
    t.equal((await get(`${B}/compare/${ref}...refs/heads/main`)).status, 200, `compare ${ref}`);
  }
  t.match((await get(`${B}/tree/rel`)).text, /a branch and a tag of this name[^]*href="[^"]*refs\/tags\/rel/);
  t.notMatch((await get(`${B}/tree/main`)).text, 'a branch and a tag of this name');
  t.notMatch((await get(`${B}/tree/refs/tags/rel`)).text, 'a branch and a tag of this name');
  t.equal((await get(`${B}/tree/refs/tags/none`)).status, 404);
  t.equal((await get(`${B}/raw/refs/tags/main/f`)).status, 404, 'a branch is not a tag');
});

t.test('names that read as full names, or as HEAD, are refused when they are new', async (t) => {
  const clone = await server.repository('names');
  const ids = ['ab'.repeat(20), 'AB'.repeat(20), 'ab'.repeat(32)];
  for (const name of ['refs/heads/x', 'refs/tags/rel', '@', 'HEAD', ...ids])
    for (const folder of ['heads', 'tags']) {
      const { code, stderr } = await clone.push('origin', `HEAD:refs/${folder}/${name}`);
      t.not(code, 0, `refs/${folder}/${name}`);
      t.match(stderr, /a new name may not|not a valid ref|invalid|valid/, stderr);
    }
  for (const name of ['refs/heads/x', '@', 'HEAD', ...ids]) {
    const response = await fetch(`${server.origin}/api/v1/repos/alice/names/branches`, {
      method: 'POST',
      headers: { ...bearer, 'content-type': 'application/json' },
      body: JSON.stringify({ new_branch_name: name, old_branch_name: 'main' }),
    });
    t.equal(response.status, 422, name);
  }
  t.same([...(await server.app.modules.git.refs.list(await server.pathOf('names'))).keys()], ['refs/heads/main']);
});

t.test('a whole id names its commit, whatever branches and tags of before are called', async (t) => {
  const clone = await server.repository('pinned');
  await clone.commit('f', 'one\n');
  const pinned = (await clone.git('rev-parse', 'HEAD')).trim();
  await clone.commit('f', 'two\n');
  t.equal((await clone.push('--quiet', 'origin', 'HEAD:refs/heads/main')).code, 0);
  await server.announced();
  const folder = await server.pathOf('pinned');
  const B = '/repos/alice/pinned';
  const api = '/api/v1/repos/alice/pinned';
  for (const kind of ['heads', 'tags']) {
    // Only by other means: a push may not make it.
    gitSync(['-C', folder, 'update-ref', `refs/${kind}/${pinned}`, 'refs/heads/main']);
    t.equal(await unpacked(`${B}/archive/${pinned}.tar.gz`), 'one', `archive, ${kind}`);
    t.equal((await get(`${B}/raw/${pinned}/f`)).text, 'one\n', `raw, ${kind}`);
    t.match((await get(`${B}/blob/${pinned}/f`)).text, 'one', `page, ${kind}`);
    t.equal((await get(`${api}/raw?path=f&ref=${pinned}`)).text, 'one\n', `API raw, ${kind}`);
    t.match(JSON.parse((await get(`${api}/git/commits/${pinned}`)).text), { sha: pinned }, `API commit, ${kind}`);
    t.match(JSON.parse((await get(`${api}/commits/${pinned}/status`)).text), { sha: pinned }, `API status, ${kind}`);
    t.equal((await get(`${B}/raw/refs/${kind}/${pinned}/f`)).text, 'two\n', `by its full name, ${kind}`);
  }
});

t.test('go get finds any package, and learns nothing about what exists', async (t) => {
  await server.newRepository('secret', 'PRIVATE');
  const host = new URL('https://git.example.org').host;
  for (const name of ['site', 'secret', 'absent'])
    for (const path of ['', '/pkg', '/v2/deep/pkg']) {
      const { status, text } = await get(`/alice/${name}${path}?go-get=1`);
      t.equal(status, 200, name + path);
      t.match(
        text,
        `<meta name="go-import" content="${host}/alice/${name} git https://git.example.org/git/alice/${name}.git">`,
      );
    }
  t.equal((await get('/alice/absent/pkg')).status, 404, 'nothing else is answered there');
  t.notMatch((await get('/repos/alice/site?go-get=1')).text, 'go-import');
});

t.test('archives and files of a private repository are fetched with a token', async (t) => {
  const clone = await server.repository('vault', 'PRIVATE');
  await clone.commit('f', 'one\n');
  await clone.push('--quiet', 'origin', 'main');
  const basic = (name: string, secret: string) => ({
    authorization: `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`,
  });
  const archive = '/repos/alice/vault/archive/main.tar.gz';
  const raw = '/repos/alice/vault/raw/main/f';
  const { tokens } = server;
  const readers = [bearer, { authorization: `token ${tokens.aliceReads}` }, basic('alice', tokens.aliceReads)];
  for (const headers of [...readers, basic(tokens.alice, '')]) {
    t.equal(await unpacked(archive, headers), 'one');
    t.equal((await get(raw, headers)).text, 'one\n');
  }
  const api = async <Answer>(path: string, body: object): Promise<Answer> => {
    const isForm = body instanceof FormData;
    const response = await fetch(`${server.origin}/api/v1/repos/alice/vault${path}`, {
      method: 'POST',
      headers: { ...bearer, ...(!isForm && { 'content-type': 'application/json' }) },
      body: isForm ? body : JSON.stringify(body),
    });
    return (await response.json()) as Answer;
  };
  const file = () => {
    const form = new FormData();
    form.append('attachment', new Blob(['held']), 'f.txt');
    return form;
  };
  const release = await api<{ id: number }>('/releases', { tag_name: 'v1', name: 'One' });
  const { number } = await api<{ number: number }>('/issues', { title: 'Crack' });
  await clone.git('checkout', '--quiet', '-b', 'topic');
  await clone.commit('f', 'held\n');
  await clone.push('--quiet', 'origin', 'topic');
  const pull = await api<Record<'diff_url' | 'patch_url', string>>('/pulls', {
    title: 'Held',
    head: 'topic',
    base: 'main',
  });
  const files: string[] = [];
  for (const at of [`/releases/${release.id}/assets`, `/issues/${number}/assets`])
    files.push((await api<{ browser_download_url: string }>(at, file())).browser_download_url);
  const named = [...files, pull.diff_url, pull.patch_url].map((url) => new URL(url).pathname);
  for (const path of named) for (const headers of readers) t.match((await get(path, headers)).text, 'held', path);
  const latest = await get('/repos/alice/vault/releases/latest/download/f.txt', bearer);
  t.equal(latest.headers.get('location'), '/repos/alice/vault/releases/download/v1/f.txt');

  for (const path of [archive, raw, ...named]) {
    t.equal((await get(path)).status, 404, 'without credentials, as before');
    t.equal((await get(path, { authorization: `Bearer ${tokens.bob}` })).status, 404, 'by somebody else');
    const refused = await get(path, { authorization: 'Bearer hth_none' });
    t.equal(refused.status, 401);
    t.match(refused.headers.get('www-authenticate'), /Basic/);
    t.equal((await get(path)).status, 404, 'and nothing is left for those who come later');
  }
});

t.test('names with a dot, and names of before', async (t) => {
  const clone = await server.repository('.github');
  t.equal(await clone.git('ls-remote', 'origin', 'refs/heads/main').then((line) => line.length > 40), true);
  t.equal((await get('/repos/alice/.github')).status, 200);
  t.equal((await get('/repos/alice/.github/tree/main')).status, 200);
  t.equal((await get('/repos/alice/.github/archive/main.zip')).status, 200);
  t.equal((await get('/api/v1/repos/alice/.github')).status, 200);
  for (const name of ['-x', '_', 'a-', '.config', '__'])
    t.ok(await repositories.create(localAdministrator, { owner: 'alice', name, visibility: 'PUBLIC' }), name);
  for (const name of ['.', '..', 'a..b', '.git', 'x.wiki', '__proto__', 'a/b'])
    await t.rejects(repositories.create(localAdministrator, { owner: 'alice', name, visibility: 'PUBLIC' }), name);

  await server.repository('old');
  await repositories.rename(localAdministrator, 'alice', 'old', 'new');
  const send = (path: string, init: RequestInit) => fetch(server.origin + path, { redirect: 'manual', ...init });
  const json = { ...bearer, 'content-type': 'application/json' };
  const issue = await send('/api/v1/repos/alice/old/issues', {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ title: 'By the old name' }),
  });
  t.equal(issue.status, 201);
  const edited = await send('/api/v1/repos/alice/old/issues/1', {
    method: 'PATCH',
    headers: json,
    body: JSON.stringify({ title: 'Again' }),
  });
  t.ok(edited.ok, String(edited.status));
  for (const service of ['upload', 'receive'])
    for (const base of ['/repos/alice/old', '/alice/old', '/alice/old.git']) {
      const response = await send(`${base}/git-${service}-pack`, { method: 'POST', body: '0000' });
      t.equal(response.status, 307);
      t.equal(response.headers.get('location'), `/git/alice/old.git/git-${service}-pack`);
    }
});
