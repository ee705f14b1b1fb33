// A pull request from a patch, by the form without scripts and by the API: who may, refusals, and what was typed.
import t from 'tap';
import { sendRequest } from '../../fixtures/web-fixture.ts';
import { upload } from '../../fixtures/upload.ts';
import { issueWeb, roofUrl, words } from '../issues/issues-fixture.ts';

const patch = (line: string): string =>
  `From: Zoe <zoe@example.org>
Date: Thu, 1 Jan 2026 10:00:00 +0000
Subject: [PATCH] Paint <b>it</b>

Because.
---
diff --git a/README.md b/README.md
--- a/README.md
+++ b/README.md
@@ -1 +1,2 @@
 # Roof
+${line}
`;

t.test('pasted, as a file, by the API', async (t) => {
  const { web, alice, bob, anonymous, viewers } = await issueWeb(t, { files: { 'README.md': '# Roof\n' } });
  const { pulls, git, repositories, accounts } = web.modules;
  const form = `${roofUrl}/pulls/new/patch`;
  const at = (number: number) => ({ owner: 'alice', name: 'roof', number });
  const { path } = await repositories.find(viewers.alice, 'alice', 'roof');
  const fileOf = async (number: number) => {
    const { pull } = await pulls.find(viewers.alice, at(number));
    const entry = await git.objects.entryAt(path, pull.headOid, Buffer.from('README.md'));
    return (await git.objects.blob(path, entry.oid, { maxBytes: 1000 })).content?.toString();
  };

  t.match((await bob.get(`${roofUrl}/pulls/new`)).body, new RegExp(`href="${form}"`));
  t.match((await anonymous.get(form)).headers.location ?? '', /^\/login/);
  const shown = await bob.get(`${form}?pull=7&base=other`);
  t.equal(shown.status, 200);
  t.match(shown.body, /name="pull"[^>]*value="7"/);
  t.match(shown.body, /name="base"[^>]*value="other"/);
  const token = /name="csrf"[^>]*value="([^"]*)"/.exec(shown.body)?.[1];
  const field = (name: string, bytes: string | Buffer) => ({ name, bytes, fileName: null, type: null });
  const file = (bytes: string | Buffer) => ({ name: 'files', bytes, fileName: 'x.patch', type: 'text/x-patch' });
  const send = (...parts: ReturnType<typeof field | typeof file>[]) =>
    upload(web, bob, form, token === undefined ? parts : [field('csrf', token), ...parts]);
  const empty = { name: 'files', bytes: '', fileName: '', type: 'application/octet-stream' };

  const pasted = await send(field('patch', patch('red').replaceAll('\n', '\r\n')), empty, field('base', 'main'));
  t.match(pasted, { status: 303, headers: { location: `${roofUrl}/pulls/1` } });
  t.equal(await fileOf(1), '# Roof\nred\n');
  t.match(words(await bob.get(`${roofUrl}/pulls/1`)), /Paint <b>it<\/b>.*Because\./);
  const next = await send(field('patch', ''), file(patch('green')), field('pull', '#1'));
  t.match(next, { status: 303, headers: { location: `${roofUrl}/pulls/1` } });
  t.equal(await fileOf(1), '# Roof\ngreen\n');
  t.equal((await pulls.find(viewers.alice, at(1))).pull.lastRound, 2);

  const wrong = patch('<i>red').replace(' # Roof', ' # Other');
  const again = await send(
    field('patch', wrong),
    field('title', 'T <x>'),
    field('body', 'My text'),
    field('base', 'main'),
  );
  t.equal(again.status, 422);
  t.match(words(again), /The patch cannot be applied: README\.md: the hunk at line 1 does not fit the file\./);
  t.match(again.body, /&lt;i&gt;red/, 'what was pasted');
  t.match(again.body, /value="T &lt;x&gt;"/);
  t.match(again.body, />My text</);
  t.match(words(await send(field('patch', patch('a')), file(patch('b')))), /Paste a patch or choose a file, not both/);
  t.match(words(await send(field('patch', patch('a')), field('pull', 'x'))), /Enter the pull request number/);
  t.match(words(await send(field('patch', ''), empty)), /Paste a patch, or choose a patch file/);
  t.match(words(await send(field('patch', patch('a').slice(patch('a').indexOf('diff'))))), /Enter a title/);
  t.match((await upload(web, anonymous, form, [field('patch', patch('a'))])).headers.location ?? '', /^\/login/);

  const secret = async (who: { id: string }, access: 'read' | 'write') =>
    (await accounts.addToken(who.id, { name: access, access, repositoryIds: null, expiresAt: null })).secret;
  const call = async (authorization: string | null, body: object) => {
    const json = JSON.stringify(body);
    const response = await sendRequest(web, '/api/v1/repos/alice/roof/pulls/patch', {
      method: 'POST',
      headers: {
        ...(authorization !== null && { Authorization: `token ${authorization}` }),
        'Content-Type': 'application/json',
        'Content-Length': String(Buffer.byteLength(json)),
      },
      body: json,
    });
    return { ...response, json: JSON.parse(response.body) as Record<string, unknown> };
  };
  const write = await secret(bob, 'write');
  t.match(await call(write, { patch: patch('blue'), base: 'main', draft: true, title: 'Blue' }), {
    status: 201,
    headers: { location: '/api/v1/repos/alice/roof/pulls/2' },
    json: { number: 2, title: 'Blue', draft: true, user: { login: 'bob' } },
  });
  const latin = Buffer.from(patch('gr\xfcn'), 'latin1').toString('base64');
  t.match(await call(write, { patch: latin, encoding: 'base64', pull: 2 }), { status: 201, json: { number: 2 } });
  t.equal((await pulls.find(viewers.alice, at(2))).pull.lastRound, 2);
  t.match(await call(write, { patch: wrong }), { status: 409, json: { error: { code: 'patch_conflict' } } });
  t.match(await call(write, { patch: patch('x'), pull: 77 }), { status: 404 });
  t.match(await call(await secret(bob, 'read'), { patch: patch('x') }), { status: 403 });
  t.match(await call(null, { patch: patch('x') }), { status: 401 });
  await alice.post(`${roofUrl}/settings/visibility`, { visibility: 'PRIVATE' });
  t.match(await call(write, { patch: patch('x') }), { status: 404 }, 'a hidden repository');
  t.equal((await alice.get(form)).status, 200);
});
