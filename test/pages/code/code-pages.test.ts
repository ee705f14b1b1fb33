import t from 'tap';
import { localAdministrator } from '../../../src/access/index.ts';
import { sendRequest } from '../../fixtures/web-fixture.ts';
import { edgeCaseUrl, startEdgeCaseWeb } from '../../fixtures/edge-case-web-fixture.ts';
import { gzipSync } from 'node:zlib';
import { runGit } from '../../fixtures/git-repositories.ts';
import { notUtf8 } from '../../fixtures/edge-case-repository.ts';
import { escapeHtml } from '../../../src/pages/app/code-html.ts';
import { markHtml, textLength } from '../../../src/pages/code/mark-html.ts';
import { diffWords } from '../../../src/pages/code/word-diff.ts';
import { viewCodeLines, readLineRange } from '../../../src/pages/code/code-lines.view.ts';
import { encodePath } from '../../../src/pages/app/code-urls.ts';
import { licenceName } from '../../../src/pages/code/licence.view.ts';
import { rankPaths } from '../../../src/pages/code/rank-paths.ts';
import { compareVersions } from '../../../src/pages/code/newest-versions.ts';

t.setTimeout(120_000);

const { web, path, tip, get } = await startEdgeCaseWeb(t);

t.test('each kind of file shows sensibly', async (t) => {
  const cases: [file: string, RegExp][] = [
    ['src/core.ts', /31 lines[^]*executable[^]*id="L1" href="#L1">1<\/a>[^]*x-keyword/],
    ['empty', /This file is empty/],
    ['no-newline.txt', /no newline at the end/],
    ['utf16.txt', /UTF-16[^]*wide &lt;b&gt;text&lt;\/b&gt;/],
    ['latin1.txt', /Latin-1[^]*Grüße/],
    ['binary.bin', /binary file/],
    [
      'images/pixel.png',
      /<img src="\/repos\/alice\/odd\/raw\/main\/images\/pixel\.png" alt="pixel\.png" width="1" height="1"/,
    ],
    ['images/drawing.svg', /<img src="[^"]*drawing\.svg"/],
    ['large.txt', /120,000 lines[^]*Lines 1 to 10,000 of 120,000[^]*large\.txt\?part=2"[^]*id="L10000"/],
    ['long-line.js', /line goes on/],
    ['asset.psd', /123 MB · stored with Git LFS[^]*its content is not on this server/],
    ['escape', /Symbolic link to[^]*\.\.\/etc\/passwd/],
    ['trojan.c', /change the text direction[^]*<span class="odd" title="U\+202E">U\+202E<\/span>[^]*␛\[/],
    [
      'README.md',
      /<a href="\/repos\/alice\/odd\/blob\/main\/docs\/guide\.md#user-content-top">guide<\/a> <img src="\/repos\/alice\/odd\/raw\/main\/images\/pixel\.png" alt="pixel" loading="lazy" width="1" height="1"[^]*<blockquote class="alert-note">/,
    ],
    ['README.md?plain=1', /id="L1"[^]*# Odd/],
    ['src/main.ts?lines=1', /class="line marked"/],
    [encodePath(notUtf8), /a name that is not UTF-8/],
  ];
  for (const [file, shows] of cases) {
    let { status, body } = await get(`/blob/main/${file}`);
    // On a busy machine the first view may come without colours.
    for (let view = 0; view < 50 && /core\.ts/.test(file) && !body.includes('x-keyword'); view += 1)
      ({ status, body } = await get(`/blob/main/${file}`));
    t.equal(status, 200, file);
    t.match(body, shows, file);
  }
  t.match((await get('/blob/main/images/drawing.svg')).body, 'drawing.svg?plain=1">Source');
  t.match(
    (await get('/blob/main/images/drawing.svg?plain=1')).body,
    /id="L1"[^]*onload<\/span>|id="L1"[^]*&lt;svg/,
    'the source of a drawing',
  );
  t.match((await get('/tree/main/lib')).body, /A submodule[^]*2222222222[^]*href="https:\/\/example\.org\/lib\.git"/);
});

t.test(
  'a 404 inside a readable repository keeps its head and tabs, and one of a hidden repository has none',
  async (t) => {
    for (const rest of ['/blob/main/none', '/tree/nosuchbranch', '/commit/0000000', '/nothing-of-the-kind', '/a/b/c']) {
      const { status, body } = await get(rest);
      t.equal(status, 404, rest);
      t.match(body, /class="repository-head"[^]*Back to the code/, rest);
      t.notMatch(body, 'nosuchbranch', 'it repeats nothing of the request');
    }
    const { id } = (await web.modules.repositories.find(localAdministrator, 'alice', 'odd')).repository;
    await web.modules.db.write(({ manager }) =>
      manager.query("UPDATE repositories SET visibility = 'PRIVATE' WHERE id = ?", [id]),
    );
    const [hidden, absent] = await Promise.all(
      ['/repos/alice/odd/blob/main/none', '/repos/alice/none/blob/main/none'].map((path) => sendRequest(web, path)),
    );
    await web.modules.db.write(({ manager }) =>
      manager.query("UPDATE repositories SET visibility = 'PUBLIC' WHERE id = ?", [id]),
    );
    t.equal(hidden!.status, 404);
    t.equal(hidden!.body, absent!.body, 'hidden and absent answer alike');
    t.notMatch(hidden!.body, 'repository-head');
  },
);

t.test('pages of code use a large screen; the description and the clone address come before the files', async (t) => {
  for (const page of ['/blob/main/src/core.ts', '/blame/main/src/core.ts', `/commit/${tip}`, '/compare/main...topic'])
    t.match((await get(page)).body, /href="[^"]*wide\.css"/, page);
  t.notMatch((await get('')).body, 'wide.css');
  t.match((await get('')).body, /class="home-side home-intro"[^]*class="clone[^]*class="home-main"/);
});

t.test('addresses lead where people mean', async (t) => {
  const cases: [from: string, to: string][] = [
    ['/blob/main/src', '/tree/main/src'],
    ['/tree/main/src/core.ts', '/blob/main/src/core.ts'],
    [`/commit/${tip.slice(0, 7)}`, `/commit/${tip}`],
    [`/commit/${tip.slice(0, 7)}?view=split&w=1`, `/commit/${tip}?view=split&w=1`],
    [`/commit/${tip.slice(0, 7)}.patch`, `/commit/${tip}.patch`],
    ['/compare?base=main&head=topic', '/compare/main...topic'],
    ['/go?ref=topic&page=blob&path=src%2Fnowhere.ts', '/tree/topic/src'],
    ['/go?ref=topic&page=blob&path=src%2Fcore.ts', '/blob/topic/src/core.ts'],
    ['/go?ref=nobody', '/branches'],
    ['/blame/main/empty', '/blob/main/empty'],
  ];
  for (const [from, to] of cases) {
    const { status, headers } = await get(from);
    t.ok(status === 301 || status === 303, from);
    t.equal(headers.location, edgeCaseUrl + to, from);
  }
  for (const gone of [
    '/tree/nowhere',
    '/blob/main/nowhere',
    '/blob/main/README.md/x',
    '/commit/zzz',
    '/commit/0000000',
    '/raw/main/lib',
    '/raw/main',
    '/archive/main.rar',
    '/blame/main/x',
    '/tree/main~1',
    '/tree/--all',
  ]) {
    t.equal((await get(gone)).status, 404, gone);
  }
  t.equal((await get('/compare/main...nowhere')).status, 404);
  for (const bad of ['/tree/main/%zz', '/tree/main/%00', '/tree/%']) t.equal((await get(bad)).status, 400, bad);
});

t.test('histories, branches, tags, feeds, the finder', async (t) => {
  const removal = (await get('/commits/main/page.html')).body;
  t.match(removal, /Make it run, drop the page/);
  t.notMatch(
    removal,
    new RegExp(
      `/tree/${(await runGit(['log', '-1', '--format=%H', 'main', '--', 'page.html'], { cwd: path })).trim()}/page\\.html`,
    ),
    'what a commit removed is not there to be looked at',
  );
  t.match((await get('/commits/main/src/core.ts')).body, /then called src\/main\.ts/);
  t.match(
    (await get('/commits/main?author=bob')).body,
    /href="\/repos\/alice\/odd\/commit\/[0-9a-f]{40}"><bdi>&lt;script/,
  );
  const subjects = async (query: string) =>
    [...(await get(`/commits/main?${query}`)).body.matchAll(/class="row-title"[^>]*><bdi>([^<]*)/g)].map(
      ([, text]) => text,
    );
  const all = await subjects('');
  t.ok(all.length > 2, 'without a search');
  const wanted = all[1]!.slice(0, 12);
  const found = await subjects(`message=${encodeURIComponent(wanted.toUpperCase())}`);
  t.ok(found.length > 0 && found.length < all.length, 'some match, in any case');
  for (const subject of found) t.match(subject!.toLowerCase(), wanted.toLowerCase());
  t.same(await subjects(`message=${encodeURIComponent(wanted)}&author=nobody-here`), [], 'both have to match');
  t.same(await subjects('message=.*'), [], 'a text, not an expression');
  t.same(await subjects('until=1999-12-31'), []);
  t.same(await subjects('since=2999-01-01'), []);
  const inTime = await subjects('since=2000-01-01&until=2999-01-01');
  t.same(
    inTime,
    all.filter((subject) => subject !== 'From the year 292277'),
  );
  t.same(await subjects('since=yesterday'), all, 'what is no day is left out');
  t.match((await get('/commits/main?message=none-has-this')).body, 'No commits match the search');
  const elsewhere = await get('/commits/main?message=x&path=%2Fsrc%2Fcore.ts');
  t.match(elsewhere, { status: 303, headers: { location: /\/commits\/main\/src\/core\.ts\?message=x$/ } });
  t.match((await get('/commits/feed.atom')).body, /<!DOCTYPE html>/, 'an existing ref with that exact name wins');
  const feed = await get('/commits/main.atom');
  t.match(feed.headers['content-type'], 'application/atom+xml');
  t.match(feed.body, new RegExp(`<id>${web.origin}${edgeCaseUrl}/commit/${tip}</id>`));
  t.notMatch(feed.body, /<script|\u0000/);
  t.match((await get('/tags')).body, /v1\.10[^]*v1\.1<[^]*v1\.1-rc1[^]*v1\.0<[^]*plain/, 'by version');
  t.match((await get('/tags.atom')).body, /<title>v1\.10<\/title>/);
  t.match((await get('/branches')).body, /Default[^]*ahead, \d+ behind/);
  t.match((await get('/find/main?q=corets')).body, /src\/core\.ts/);
  t.match((await get('/find/main?q=zzzzqq')).body, /None of the \d+ files match/);
  t.match((await get('/blame/main/src/core.ts')).body, /View before this change/);
  t.match((await get(`/commit/${tip}.diff`)).body, /^diff --git /);
  t.match(
    (await get(`/commit/${tip}.patch`)).body,
    new RegExp(`^From ${tip} [^]*Subject: \\[PATCH\\] A link becomes a file`),
  );
  t.match(
    (await get('/commits/main')).body,
    /1 January 10000<[^]*From the year 292277[^]*in [0-9,]+ years/,
    'a date that no calendar holds',
  );
  // On a busy machine the first view does not wait for the languages.
  let home = '';
  for (let view = 0; view < 50 && !/TypeScript/.test(home); view += 1) home = (await get('')).body;
  t.match(home, /MIT<[^]*TypeScript/, 'licence and languages');
  const archive = await get('/archive/v1.0.zip');
  t.match(archive.headers, {
    'content-type': 'application/zip',
    'content-disposition': 'attachment; filename="odd-1.0.zip"',
  });
  t.equal(archive.body.slice(0, 2), 'PK');
  const [, lasting, commit] = /^<(http.*\/archive\/([0-9a-f]{40})\.zip)>; rel="immutable"$/.exec(
    String(archive.headers['link']),
  )!;
  const dated = String(archive.headers['last-modified']);
  t.equal(new Date(dated).toUTCString(), dated, 'the time of the commit');
  const ofCommit = await get(`/archive/${commit}.zip`);
  t.ok(lasting!.endsWith(`/archive/${commit}.zip`));
  t.match([ofCommit.status, ofCommit.headers['last-modified']], [200, dated]);
  t.equal(ofCommit.headers['link'], undefined, 'an archive of a commit is its own address');
});

t.test('what git notes has added stands beside the commit', async (t) => {
  t.notMatch((await get(`/commit/${tip}`)).body, /Notes<\/h3>/);
  await runGit(['notes', 'add', '-m', 'Tested <by> bob\u202e', tip], { cwd: path });
  t.match((await get(`/commit/${tip}`)).body, /Notes<\/h3><pre class="plain">Tested &lt;by&gt; bob(?!\u202e)/);
  // As git itself does when there are many.
  const blob = (await runGit(['notes', 'list', tip], { cwd: path })).trim();
  const leaf = (await runGit(['mktree'], { cwd: path, input: `100644 blob ${blob}\t${tip.slice(2)}\n` })).trim();
  const root = (await runGit(['mktree'], { cwd: path, input: `040000 tree ${leaf}\t${tip.slice(0, 2)}\n` })).trim();
  await runGit(
    ['update-ref', 'refs/notes/commits', (await runGit(['commit-tree', '-m', 'Notes', root], { cwd: path })).trim()],
    { cwd: path },
  );
  t.match((await get(`/commit/${tip}`)).body, /Tested &lt;by&gt;/);
  await runGit(['update-ref', '-d', 'refs/notes/commits'], { cwd: path });
  t.notMatch((await get(`/commit/${tip}`)).body, /Notes<\/h3>/);
});

t.test('weights: a first view below 60 kB, a file of a thousand lines below 120 kB', async (t) => {
  const weightOf = async (target: string) => gzipSync((await get(target)).body).length;
  for (const target of ['', '/tree/main/many', '/commits', '/branches', '/tags', '/find/main'])
    t.ok((await weightOf(target)) < 20_000, target);
  const text = Array.from(
    { length: 1_000 },
    (_, line) => `const value${line} = compute(${line * 7919}, "${(line * 2_654_435_761).toString(36)}");`,
  ).join('\n');
  t.ok(gzipSync(viewCodeLines(text, null, null).html).length < 120_000);
});

t.test('no page starts more than two git processes when warm', async (t) => {
  for (const target of [
    '',
    '/tree/main/src',
    '/blob/main/src/core.ts',
    '/blame/main/src/core.ts',
    '/commits/main',
    `/commit/${tip}`,
    '/compare/v1.0...v1.1',
    '/branches',
    '/tags',
    '/find/main',
  ]) {
    await get(target);
    let most = 0;
    // Another question, so that the page is made anew.
    const again = `${target}?again=1`;
    const before = web.modules.git.load().processes;
    const watch = setInterval(() => (most = Math.max(most, web.modules.git.load().processes - before)), 0);
    await get(again);
    clearInterval(watch);
    t.ok(most <= 2, `${target}: ${most}`);
  }
});

t.test('pure rules of the pages', async (t) => {
  const markWords = (before: string, after: string) => {
    const words = diffWords(before, after);
    return (
      words && { before: markHtml(escapeHtml(before), words.before), after: markHtml(escapeHtml(after), words.after) }
    );
  };
  t.same(markWords('const a = 1;', 'const b = 1;'), {
    before: 'const <mark>a</mark> = 1;',
    after: 'const <mark>b</mark> = 1;',
  });
  t.equal(markWords('completely different', '12345 + 67890'), null, 'marks would only be noise');
  t.same(markWords('a <b> c', 'a <i> c')?.after, 'a &lt;<mark>i</mark>&gt; c');
  t.equal(markWords('x '.repeat(400), 'y '.repeat(400)), null, 'too long to compare');
  t.equal(
    markHtml('<span class="x-string">a&amp;b</span>c', [{ start: 1, end: 4 }]),
    '<span class="x-string">a<mark>&amp;b</mark></span><mark>c</mark>',
    'marks and spans never overlap',
  );
  t.equal(
    markHtml('a<span class="x-a">b</span>c', [
      { start: 0, end: 1 },
      { start: 2, end: 3 },
    ]),
    '<mark>a</mark><span class="x-a">b</span><mark>c</mark>',
  );
  t.equal(textLength('<span class="x-a">&lt;b&#x27;</span>c'), 4);
  t.same(
    [readLineRange('10-20'), readLineRange('L7'), readLineRange('20-10'), readLineRange('x'), readLineRange(null)],
    [{ first: 10, last: 20 }, { first: 7, last: 7 }, { first: 10, last: 20 }, null, null],
  );
  const names = ['lib/reader.ts', 'src/read.ts', 'read.ts', 'src/a/r/e/a/d'].map((name) => Buffer.from(name));
  t.same((await rankPaths(names, 'read', 10)).paths.map(String), [
    'read.ts',
    'src/read.ts',
    'lib/reader.ts',
    'src/a/r/e/a/d',
  ]);
  t.same(['v1.0', 'v1.10', 'v1.9', 'v1.10-rc1', 'v1.10.1'].sort(compareVersions), [
    'v1.0',
    'v1.9',
    'v1.10-rc1',
    'v1.10',
    'v1.10.1',
  ]);
  t.equal(licenceName('GNU GENERAL PUBLIC LICENSE\n  Version 2, June 1991'), 'GPL-2.0');
});
