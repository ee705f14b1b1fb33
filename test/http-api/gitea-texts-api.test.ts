// Operations of Gitea about texts and small settings: rendering, patches, settings of editors, the order of rules, and
// the token of a call.
import t from 'tap';
import { callerOf, openWorld } from './gitea-world.ts';
import { sendRequest } from '../fixtures/web-fixture.ts';

t.setTimeout(300_000);

t.test('texts are rendered as in a page, with links into the repository that the caller may read', async (t) => {
  const { web, alice, bob, anonymous } = await openWorld(t);
  const html = async (call: typeof alice, path: string, body: object) => {
    // The first text waits for a thread that loads the renderer, which may take longer than it is given.
    let answer = await call('POST', path, body);
    while (answer.status === 503) answer = await call('POST', path, body);
    const { status, body: text, headers } = answer;
    if (status === 200) t.match(headers['content-type'], /^text\/html/);
    return status === 200 ? text : status;
  };
  const link = '[x](docs/a.md)';
  const issue = (await alice('POST', '/repos/alice/cellar/issues', { title: 'secret words' })).json.number;
  for (const [call, path, body, expected] of [
    [anonymous, '/markdown', { text: '**bold**' }, /<strong>bold<\/strong>/],
    [anonymous, '/markdown', { Text: '**bold**', Mode: 'gfm' }, /<strong>bold<\/strong>/],
    [anonymous, '/markdown', {}, /^$/],
    [anonymous, '/markdown', { text: 'a\nb', mode: 'comment' }, /<br/],
    [anonymous, '/markdown', { text: 'a\nb', mode: 'markdown' }, /<p>a\nb<\/p>/],
    [anonymous, '/markdown', { text: 'x', mode: 'odd' }, 422],
    [
      anonymous,
      '/markdown',
      { text: '<script>alert(1)</script><img src=x onerror=alert(1)>' },
      /^(?!.*(script|onerror))/s,
    ],
    [anonymous, '/markdown', { text: 'x'.repeat(128 * 1024 + 1) }, 422],
    [
      anonymous,
      '/markdown',
      { text: link, context: 'alice/site' },
      /href="https?:\/\/[^/"]+\/repos\/alice\/site\/blob\/main\/docs\/a.md"/,
    ],
    [
      anonymous,
      '/markdown',
      { text: link, Context: '/alice/site/src/branch/main/sub' },
      /\/blob\/main\/sub\/docs\/a.md"/,
    ],
    [anonymous, '/markdown', { text: link, context: 'alice/nowhere' }, /href="docs\/a.md"/],
    [bob, '/markdown', { text: `${link} #${issue}`, context: 'alice/cellar' }, /href="docs\/a.md".* #1/],
    [alice, '/markdown', { text: `${link} #${issue}`, context: 'alice/cellar' }, /alice\/cellar\/issues\/1/],
    [anonymous, '/markup', { Text: '= Title', Mode: 'file', FilePath: 'a.adoc' }, /<h\d[^>]*>Title/],
    [anonymous, '/markup', { Text: '# Title', Mode: 'file', FilePath: 'a.md' }, /<h\d[^>]*>Title/],
    [anonymous, '/markup', { Text: 'x', Mode: 'file', FilePath: 'a.exe' }, 422],
  ] as const) {
    const shown = await html(call, path, body);
    if (typeof expected === 'number') t.equal(shown, expected, JSON.stringify(body).slice(0, 80));
    else t.match(shown, expected, JSON.stringify(body));
  }
  t.equal(
    await html(bob, '/markdown', { text: link, context: 'alice/cellar' }),
    await html(bob, '/markdown', { text: link, context: 'alice/absent' }),
    'hidden as absent',
  );
  for (const [body, status, expected] of [
    ['*x*', 200, /<em>x<\/em>/],
    ['', 200, /^$/],
    ['x'.repeat(200_000), 413, /larger/],
  ] as const) {
    const headers = { 'Content-Type': 'text/plain', 'Content-Length': String(body.length) };
    const raw = await sendRequest(web, '/api/v1/markdown/raw', { method: 'POST', headers, body });
    t.equal(raw.status, status);
    t.match(raw.body, expected);
  }
});

t.test('a patch is applied to a branch, or to a new one, and one that does not fit changes nothing', async (t) => {
  const { alice, bob, anonymous } = await openWorld(t);
  const file = '/repos/alice/site/contents/notes.txt';
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  await alice('POST', file, { content: base64('one\ntwo\n'), message: 'Add notes' });
  const diff = (from: string, to: string) =>
    `diff --git a/notes.txt b/notes.txt\n--- a/notes.txt\n+++ b/notes.txt\n@@ -1,2 +1,2 @@\n ${from}\n-two\n+${to}\n`;
  const at = '/repos/alice/site/diffpatch';
  const read = async (branch = 'main') => {
    const { status, json } = await alice('GET', `${file}?ref=${branch}`);
    return status === 200 ? Buffer.from(json.content, 'base64').toString() : status;
  };
  for (const [call, body, status] of [
    [anonymous, { content: diff('one', 'three') }, 401],
    [bob, { content: diff('one', 'three') }, 404],
    [alice, { content: diff('other', 'three') }, 409],
    [alice, { content: 'no patch' }, 422],
    [alice, { content: '' }, 422],
    [alice, { content: diff('one', 'three'), branch: 'absent' }, 404],
    [alice, { content: diff('one', 'three'), new_branch: 'main' }, 409],
    [alice, { content: diff('one', 'three').replaceAll('notes.txt', '../notes.txt') }, 409],
    [alice, { content: diff('one', 'two') }, 409],
  ] as const)
    t.equal((await call('POST', at, body)).status, status, JSON.stringify(body));
  t.equal(await read(), 'one\ntwo\n');
  t.match(await alice('POST', at, { content: diff('one', 'three'), new_branch: 'topic', message: 'Count on' }), {
    status: 201,
    json: { content: null, commit: { message: /^Count on/ } },
  });
  t.strictSame([await read(), await read('topic')], ['one\ntwo\n', 'one\nthree\n']);
  t.match(await alice('POST', at, { content: diff('one', 'four'), signoff: true }), {
    status: 201,
    json: { commit: { message: /^apply-patch\n\nSigned-off-by: alice/ } },
  });
  t.equal(await read(), 'one\nfour\n');
});

t.test('settings of editors for a file', async (t) => {
  const { alice, bob, anonymous } = await openWorld(t);
  const at = '/repos/alice/site/editorconfig';
  t.equal((await anonymous('GET', `${at}/a.ts`)).status, 404, 'without such a file');
  const text = `root = true
[*]
charset = utf-8
indent_style = space
indent_size = 2
trim_trailing_whitespace = true
end_of_line = lf
insert_final_newline = true
[*.go]
indent_style = tab
tab_width = 8
`;
  await alice('POST', '/repos/alice/site/contents/.editorconfig', { content: Buffer.from(text).toString('base64') });
  const common = {
    charset: 'utf-8',
    indent_size: '2',
    end_of_line: 'lf',
    trim_trailing_whitespace: true,
    insert_final_newline: true,
  };
  t.strictSame((await anonymous('GET', `${at}/src/a.ts`)).json, { ...common, indent_style: 'space', tab_width: 2 });
  t.strictSame((await anonymous('GET', `${at}/a.go?ref=main`)).json, { ...common, indent_style: 'tab', tab_width: 8 });
  t.equal((await anonymous('GET', `${at}/a.go?ref=absent`)).status, 404);
  t.equal((await bob('GET', '/repos/alice/cellar/editorconfig/a.ts')).status, 404);
});

t.test('rules for branches are put into an order by their ids', async (t) => {
  const { alice, bob } = await openWorld(t);
  const at = '/repos/alice/site/branch_protections';
  for (const rule_name of ['one/*', 'two/*', 'three/*']) await alice('POST', at, { rule_name });
  await alice('POST', '/repos/alice/cellar/branch_protections', { rule_name: 'four/*' });
  const rules = async (): Promise<{ id: number; rule_name: string; priority: number }[]> =>
    (await alice('GET', at)).json.filter((rule: { rule_name: string }) => rule.rule_name.endsWith('/*'));
  const idOf = async (name: string) => (await rules()).find(({ rule_name: each }) => each === `${name}/*`)!.id;
  const [one, two, three] = [await idOf('one'), await idOf('two'), await idOf('three')];
  const foreign = (await alice('GET', '/repos/alice/cellar/branch_protections/four%2F*')).json.id;
  const order = async () => (await rules()).map(({ rule_name }) => rule_name.slice(0, -2)).join(' ');
  for (const [call, ids, status, expected] of [
    [alice, [three, one], 204, 'three one two'],
    [alice, [], 204, 'three one two'],
    [alice, [two, two], 422, 'three one two'],
    [alice, [two, foreign], 404, 'three one two'],
    [alice, [two, 1], 404, 'three one two'],
    [bob, [two], 404, 'three one two'],
    [alice, [one, two, three], 204, 'one two three'],
  ] as const) {
    t.equal((await call('POST', `${at}/priority`, { ids })).status, status, ids.join());
    t.equal(await order(), expected, ids.join());
  }
  t.strictSame(
    (await rules()).map(({ priority }) => priority),
    (await rules()).map(({ priority }) => priority).sort((a, b) => a - b),
  );
});

t.test('a token tells what it is, and ends itself', async (t) => {
  const { web, alice, anonymous } = await openWorld(t);
  const made = (await alice('POST', '/users/alice/tokens', { name: 'tool', scopes: ['read:user'] })).json;
  const tool = callerOf(web, `token ${made.sha1}`);
  t.match(await tool('GET', '/token'), {
    status: 200,
    json: { id: made.id, name: 'tool', scopes: made.scopes, user: { login: 'alice' } },
  });
  t.notOk('sha1' in (await tool('GET', '/token')).json);
  t.equal((await anonymous('GET', '/token')).status, 401);
  const password = 'a password of alice';
  await web.modules.accounts.addPerson({ username: 'dora', password });
  const dora = callerOf(web, `Basic ${Buffer.from(`dora:${password}`).toString('base64')}`);
  t.equal((await dora('GET', '/token')).status, 401, 'a password is no token');
  t.equal((await tool('DELETE', '/token')).status, 204);
  t.equal((await tool('GET', '/token')).status, 401);
  t.equal((await alice('GET', '/token')).status, 200, 'no other one');
});
