// Changes that are no text, or too much of it: the page says so in words, and a comment finds its file all the same.
import t from 'tap';
import { runGit } from '../../fixtures/git-repositories.ts';
import { startPullWeb } from '../../fixtures/pull-web-fixture.ts';
import { extractMain } from '../../fixtures/web-fixture.ts';

t.setTimeout(240_000);

const garden = await startPullWeb(t, { 'text.txt': 'one\r\ntwo\r\n', 'run.sh': 'echo\n', 'link-to-be': 'file\n' });
const { web, git, work, alice } = garden;

/** A file of a commit for `git fast-import`; the path is bytes as octal escapes. */
const file = (mode: string, path: string, content: Buffer | string): Buffer[] => {
  const bytes = Buffer.from(content);
  return [Buffer.from(`M ${mode} inline ${path}\ndata ${bytes.length}\n`), bytes, Buffer.from('\n')];
};
const commitOn = (branch: string, from: string, message: string): Buffer =>
  Buffer.from(
    `commit refs/heads/${branch}\ncommitter Alice <alice@example.org> 1767225600 +0000\ndata ${message.length}\n${message}\nfrom ${from}\n`,
  );

const start = (await git('rev-parse', 'main')).trim();
const million = Buffer.alloc(1024 * 1024, 'x');
const hundred = Buffer.concat(Array.from({ length: 100 }, () => Buffer.concat([million, Buffer.from('\n')])));
const odd = Buffer.concat([
  commitOn('odd', start, 'Odd files'),
  ...file('100644', 'text.txt', 'one\r\nthree\r\n'),
  ...file('100755', 'run.sh', 'echo\n'),
  ...file('120000', 'link-to-be', 'text.txt'),
  ...file('100644', 'binary.bin', Buffer.from([0, 1, 2, 3])),
  ...file('100644', 'nul.txt', 'a\0b\n'),
  ...file('100644', '"ill-\\377-\\302.txt"', 'ill\n'),
  ...file('100644', '"new\\nline.txt"', 'line\n'),
  ...file('100644', '*.txt', 'star\n'),
  ...file('100644', "quote-'-`-<b>.txt", '<script>alert(1)</script>\n'),
  ...file('100644', 'large.txt', hundred),
  ...file('100644', 'long.txt', `${'line\n'.repeat(30_000)}`),
  Buffer.from(`M 160000 ${'1'.repeat(40)} module\n`),
]);
const many: Buffer[] = [];
for (let at = 0; at < 10_000; at += 1)
  many.push(
    at === 0
      ? commitOn('many', start, 'Commit')
      : Buffer.from('commit refs/heads/many\ncommitter Alice <alice@example.org> 1767225600 +0000\ndata 6\nCommit\n'),
  );
many.push(...file('100644', 'last.txt', 'last\n'));
await runGit(['fast-import', '--quiet'], { cwd: work, input: Buffer.concat([odd, ...many]) });
const pull = await garden.open('Odd files', 'odd');

/** The part of a page that one file has. */
const partOf = (body: string, name: string): string =>
  body.split('<details class="changed-file"').find((part) => part.split('</summary>')[0]!.includes(name)) ?? '';

t.test('each odd file is named, with what there is to show', async (t) => {
  const response = await alice.get(`${pull.url}/changes`);
  t.equal(response.status, 200);
  const body = extractMain(response);
  t.match(partOf(body, 'text.txt'), /<span class="sign">\+<\/span>three/, 'CRLF');
  t.match(partOf(body, 'run.sh'), /file → executable/);
  t.match(partOf(body, 'link-to-be'), /file → symbolic link/);
  t.match(partOf(body, 'binary.bin'), /Binary file\./);
  t.match(partOf(body, 'nul.txt'), /Binary file\./);
  t.match(partOf(body, 'module'), /submodule/);
  t.match(partOf(body, '&lt;b&gt;'), /&lt;script&gt;/);
  t.notMatch(body, '<script>alert');
  t.match(partOf(body, 'long.txt'), /30,000 changed lines: too many to show\.\s*<a href="[^"]*file=long\.txt#/);
  t.match(partOf(body, 'large.txt'), /too many to show|line goes on|Binary file|long already/);
  t.match(body, /Load all files/);
});

t.test('a file of any name can be loaded alone and be commented', async (t) => {
  const { body } = await alice.get(`${pull.url}/changes`);
  const names = ['ill-', 'new', '*.txt', 'quote-'];
  for (const name of names) {
    const part = partOf(body, `<bdi>${name}`);
    const [, link = ''] = /class="add" href="([^"]+)"/.exec(part) ?? [];
    t.match(link, /comment=.+:NEW:1#comment$/, name);
    const file = decodeURIComponent(/comment=(.+):NEW:1#/.exec(link)![1]!.replaceAll('&amp;', '&'));
    const alone = await alice.get(`${pull.url}/changes?file=${encodeURIComponent(file)}`);
    t.match(extractMain(alone), /class="sign">\+</, `${name} alone`);
    const form = extractMain(await alice.get(link.replaceAll('&amp;', '&').replace('#comment', '')));
    const fields = Object.fromEntries(
      [
        ...(/<form class="[^"]*comment-form.*?<\/form>/s.exec(form)?.[0] ?? '').matchAll(
          /name="(\w+)" value="([^"]*)"/g,
        ),
      ]
        .filter(([, field]) => field !== 'action')
        .map(([, field, value]) => [
          field!,
          value!.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
        ]),
    );
    const sent = await alice.post(`${pull.url}/review/comments`, { ...fields, body: `About ${name}`, action: 'now' });
    t.equal(sent.status, 303, name);
  }
  const after = extractMain(await alice.get(`${pull.url}/changes`));
  for (const name of names) t.match(partOf(after, `<bdi>${name}`), `About ${name}`, `${name} has its thread`);
});

t.test('a long file loads alone, within limits that are said', async (t) => {
  const long = await alice.get(`${pull.url}/changes?file=long.txt`);
  t.equal(long.status, 200);
  t.match(extractMain(long), /too many to show/);
  const large = await alice.get(`${pull.url}/changes?file=large.txt&context=20000`);
  t.equal(large.status, 200);
  t.ok(large.body.length < 6_000_000);
  t.equal((await alice.get(`${pull.url}/changes?all=1`)).status, 200);
  t.match(extractMain(await alice.get(`${pull.url}/changes?file=nothing`)), /This file is not changed here/);
});

t.test('parameters that make no sense are the default', async (t) => {
  for (const query of [
    'context=7',
    'comment=x',
    'comment=%25FF:NEW:1',
    'file=%2500',
    'to=0',
    'last=9',
    'edit=1:2',
    'view=x',
  ])
    t.equal((await alice.get(`${pull.url}/changes?${query}`)).status, 200, query);
  t.equal((await alice.get(`${pull.url}/changes?to=7`)).status, 404);
  t.equal((await alice.get('/repos/alice/garden/pulls/0/changes')).status, 404);
});

t.test('10,000 commits', async (t) => {
  const large = await garden.open('Many commits', 'many');
  t.equal((await alice.get(`${large.url}/changes`)).status, 200);
  const mails = await alice.get(`${large.url}.patch`);
  t.equal(mails.status, 422);
  t.match(mails.body, /more than 1,000 commits/);
  t.match((await alice.get(`${large.url}.diff`)).body, /^diff --git a\/last\.txt/);
  await git('checkout', '--quiet', 'many');
  await garden.commit({ 'more.txt': 'more\n' }, 'More');
  await garden.pushRound(large.number, 'many');
  const compared = await alice.get(`${large.url}/changes?from=1`);
  t.equal(compared.status, 200);
  t.match(extractMain(compared), /The commits are not paired: there are too many of them/);
});

t.teardown(() => {
  for (const { event, fields } of web.log) if (event === 'http.fault') console.error(fields['error']);
});
