import t from 'tap';
import { execFileSync } from 'node:child_process';
import { statfsSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { anonymous } from '../../src/access/index.ts';
import type { PersonViewer, Viewer } from '../../src/access/index.ts';
import { sendRequest, fillRepository, startWeb } from '../fixtures/web-fixture.ts';
import type { Web } from '../fixtures/web-fixture.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { createCodeSearch } from '../../src/search/index.ts';
import { literalOf } from '../../src/search/code/parse-code-query.ts';

const viewerOf = (id: string, username: string): PersonViewer => ({
  kind: 'person',
  id,
  username,
  isAdministrator: false,
  via: 'session',
  scope: 'admin',
  repositoryIds: null,
});

async function start(t: Parameters<typeof startWeb>[0], env: Record<string, string> = {}) {
  const web = await startWeb(t, { env });
  const alice = viewerOf((await web.modules.accounts.addPerson({ username: 'alice' })).id, 'alice');
  const add = async (
    name: string,
    files: Record<string, string | Buffer>,
    visibility: 'PUBLIC' | 'PRIVATE' = 'PUBLIC',
  ) => {
    await web.modules.repositories.create(alice, { name, visibility });
    const { path } = await web.modules.repositories.find(alice, 'alice', name);
    await fillRepository(t, path, files);
    return path;
  };
  const find = async (viewer: Viewer, text: string) => {
    const { hits, coverage } = await web.modules.codeSearch.find(viewer, text);
    return {
      files: hits.map(
        ({ located, path, lines }) => `${located.repository.name}/${path}:${lines.map(({ number }) => number).join()}`,
      ),
      coverage,
    };
  };
  /** Whether the index has these trigrams, in whatever text; and how many texts it has. */
  const indexed = (...trigrams: string[]): (boolean | number)[] => {
    const database = new DatabaseSync(path.join(web.modules.config.dataDir, 'cache', 'code-search-1.db'));
    const count = (sql: string, ...values: string[]) => Number(database.prepare(sql).get(...values)!['n']);
    try {
      return [
        ...trigrams.map((three) => count('SELECT count(*) AS n FROM code WHERE code MATCH ?', three) > 0),
        count('SELECT count(*) AS n FROM blobs'),
      ];
    } finally {
      database.close();
    }
  };
  return { web, alice, add, find, indexed };
}

/** The change of a repository's row by a push. */
const touch = (web: Web, name: string) =>
  web.modules.db.write((tx) =>
    tx.manager.query('UPDATE repositories SET updated_at = updated_at + 1 WHERE name = ?', [name]),
  );

t.test('code is found literally, ignoring case, and only by viewers who may see it', async (t) => {
  const { web, alice, add, find } = await start(t);
  const source = 'int tool_set;\nint toolXset;\n#97df14 is a colour\nGrüße aus der STRASSE\nquote "q" * (a) %_\n';
  await add('open', { 'src/a.c': source, 'b.bin': Buffer.from('tool_set\0'), empty: '' });
  await add('hidden', { 'secret.c': 'tool_set in private\n' }, 'PRIVATE');
  await web.modules.codeSearch.update();
  const cases: [string, string[]][] = [
    ['tool_set', ['open/src/a.c:1']],
    ['TOOL_SET', ['open/src/a.c:1']],
    ['#97df14', ['open/src/a.c:3']],
    ['grüsse', []],
    ['GRÜSSE', []],
    ['GRÜßE', ['open/src/a.c:4']],
    ['"q" * (a)', ['open/src/a.c:5']],
    ['%_', []],
    ['int tool', ['open/src/a.c:1,2']],
    ['set;\nint', []],
    ['nothing of it', []],
    ['.c', ['open/src/a.c:']],
    ['', []],
  ];
  for (const [text, files] of cases) t.strictSame((await find(anonymous, text)).files, files, JSON.stringify(text));
  const mine = await find(alice, 'tool_set');
  t.strictSame(mine.files, ['hidden/secret.c:1', 'open/src/a.c:1'], 'in the order of names');
  t.match(
    [mine.coverage, (await find(anonymous, 'x')).coverage],
    [
      { visible: 2, searched: 2, tooLarge: 0 },
      { visible: 1, searched: 1 },
    ],
  );
});

t.test(
  'the index follows what is pushed, hidden, deleted; and is rebuilt when its file is gone or damaged',
  async (t) => {
    const { web, alice, add, find, indexed } = await start(t);
    const bare = await add('tool', { 'a.txt': 'first words\n' });
    await add('copy', { 'a.txt': 'first words\n' });
    await web.modules.codeSearch.update();
    t.strictSame(
      (await find(anonymous, 'first words')).files,
      ['copy/a.txt:1', 'tool/a.txt:1'],
      'one blob, two places',
    );
    t.strictSame(indexed('fir', 'sec'), [true, false, 1]);

    execFileSync('git', [`--git-dir=${bare}`, 'update-ref', '-d', 'refs/heads/main'], {
      env: { PATH: process.env['PATH'] },
    });
    await fillRepository(t, bare, { 'b.txt': 'second words\n' });
    await touch(web, 'tool');
    await web.modules.codeSearch.update();
    t.strictSame(
      [(await find(anonymous, 'first words')).files, (await find(anonymous, 'second words')).files],
      [['copy/a.txt:1'], ['tool/b.txt:1']],
    );
    t.strictSame(indexed('fir', 'sec'), [true, true, 2], 'another repository still has the first');

    await web.modules.repositories.changeVisibility(alice, 'alice', 'tool', 'PRIVATE');
    t.strictSame((await find(anonymous, 'second words')).files, [], 'at once, without the index');
    await web.modules.repositories.trash.move(alice, 'alice', 'copy');
    t.strictSame((await find(alice, 'first words')).files, []);
    await web.modules.codeSearch.update();
    t.match((await find(alice, 'first words')).coverage, { visible: 1, searched: 1 });
    t.strictSame(indexed('fir', 'sec'), [false, true, 1], 'what no repository has any more is gone');
  },
);

t.test(
  'limits are enforced and reported: a repository that is too large, an index without space, no index',
  async (t) => {
    const large = await start(t, { SERVICE_SEARCH_CODE_REPOSITORY_LIMIT: '1KiB' });
    await large.add('small', { 'a.txt': 'some words\n' });
    await large.add('large', { 'a.txt': `some words\n${'x'.repeat(2_000)}` });
    await large.web.modules.codeSearch.update();
    t.match(await large.find(anonymous, 'some words'), {
      files: ['small/a.txt:1'],
      coverage: { visible: 2, searched: 1, tooLarge: 1 },
    });
    const page = await sendRequest(large.web, '/search/code?q=some%20words');
    t.match(page, { status: 200, body: /Searched 1 of 2 repositories; 1 is over the size limit\./ });
    t.match(page.body, /<mark>some words<\/mark>/);

    const full = await start(t, { SERVICE_SEARCH_CODE_INDEX_BUDGET: '1KiB' });
    await full.add('small', { 'a.txt': 'some words\n' });
    await full.web.modules.codeSearch.update();
    t.match(await full.find(anonymous, 'some words'), {
      files: [],
      coverage: { visible: 1, searched: 0, tooLarge: 1 },
    });

    const off = await start(t, { SERVICE_SEARCH_CODE_INDEX_BUDGET: '0B' });
    t.match(await sendRequest(off.web, '/search/code?q=x'), { status: 200, body: /not indexed on this server/ });
  },
);

t.test('one repository is searched by git: literally, or by a pattern, within limits', async (t) => {
  const { web, add } = await start(t);
  await add('tool', { 'a.c': 'int tool_set;\nint TOOL_SET(a);\nfree(x)\n', '<b>.txt': '<img src=x> tool_set\n' });
  const lines = async (query: string) => {
    const { status, body } = await sendRequest(web, `/repos/alice/tool/search?${query}`);
    return { status, found: [...body.matchAll(/aria-label="Line (\d+)"/g)].map(([, number]) => Number(number)), body };
  };
  t.match(await lines('q=tool_set'), { status: 200, found: [1, 1, 2] });
  t.match(await lines('q=tool_set&case=1'), { found: [1, 1] });
  t.match(await lines('q=free(x)'), { found: [3] });
  t.strictSame((await lines('q=tool.set')).found, [], 'a dot is a dot');
  t.match(await lines('q=tool.set&pattern=1'), { found: [1, 1, 2] });
  t.match(await lines('q=(&pattern=1'), { status: 422, body: /does not understand this regular expression/ });
  for (const query of ['q=-e', 'q=--open-files-in-pager%3Dtouch%20hacked', 'q=']) {
    const { status, found } = await lines(query);
    t.strictSame([status, found], [200, []], query);
  }
  const { body } = await lines('q=%3Cimg');
  t.match(body, /<mark>&lt;img<\/mark> src=x&gt;/);
  t.notMatch(body, /<img src=x>/);
  t.equal((await sendRequest(web, '/repos/alice/absent/search?q=x')).status, 404);
});

t.test('qualifiers narrow a search down, and a regular expression is matched by git', async (t) => {
  const { web, alice, add, find } = await start(t);
  await add('glow', { 'ui/width.go': 'func Width() int {\n', 'main.go': 'var Width = 1\n', 'ui/a.css': '.Width {}\n' });
  await add('dim', { 'ui/width.go': 'func width() int { repo:glow }\n', 'x_y.txt': 'Width [a-z]\n' });
  await add('hidden', { 'ui/width.go': 'func Width() secret {\n' }, 'PRIVATE');
  await web.modules.codeSearch.update();
  const everywhere = ['dim/ui/width.go:1', 'dim/x_y.txt:1', 'glow/main.go:1', 'glow/ui/a.css:1', 'glow/ui/width.go:1'];
  const cases: [string, string[]][] = [
    ['width', everywhere],
    ['repo:alice/glow width', ['glow/main.go:1', 'glow/ui/a.css:1', 'glow/ui/width.go:1']],
    ['REPO:Alice/GLOW path:ui/ Width', ['glow/ui/a.css:1', 'glow/ui/width.go:1']],
    ['repo:glow repo:dim path:*.go width', ['dim/ui/width.go:1', 'glow/main.go:1', 'glow/ui/width.go:1']],
    ['width lang:go', ['dim/ui/width.go:1', 'glow/main.go:1', 'glow/ui/width.go:1']],
    ['width lang:css lang:nothing', ['glow/ui/a.css:1']],
    ['width lang:nothing', []],
    ['owner:alice case:yes Width', everywhere.filter((file) => file !== 'dim/ui/width.go:1')],
    ['owner:bob width', []],
    ['repo:alice/hidden width', []],
    ['repo:alice/absent width', []],
    ['"repo:glow"', ['dim/ui/width.go:1']],
    ['path:x_y', ['dim/x_y.txt:']],
    ['path:xAy', []],
    ['path:[a-z]', []],
    ['repo:glow', ['glow/main.go:', 'glow/ui/a.css:', 'glow/ui/width.go:']],
    ['/func W[a-z]+\\(\\)/', ['dim/ui/width.go:1', 'glow/ui/width.go:1']],
    ['case:yes /func W[a-z]+\\(\\)/', ['glow/ui/width.go:1']],
    ['repo:glow /^.W/', ['glow/ui/a.css:1']],
    ['repo:glow /nothing|Width =/', ['glow/main.go:1']],
    ['http://width', []],
    ['repo: width', []],
  ];
  for (const [text, files] of cases) t.strictSame((await find(anonymous, text)).files, files, text);
  t.ok((await find(alice, 'lang:go width')).files.includes('hidden/ui/width.go:1'));
  for (const wrong of ['/a/', '/(/ repo:glow', '/a|b/', `${'path:a '.repeat(11)}x`])
    await t.rejects(find(anonymous, wrong), { message: /./ }, wrong);
  const page = (await sendRequest(web, '/search/code?q=%2Fa%2F')).body;
  t.match(page, /Enter at least three literal characters/);
  const shown = (await sendRequest(web, '/search/code?q=repo%3Aglow+width')).body;
  t.match(shown, /<mark>Width<\/mark>/);
  const own = (await sendRequest(web, '/repos/alice/glow/search?q=width')).body;
  t.match(own, /href="\/search\/code\?q=repo%3Aalice%2Fglow\+width"/);
});

t.test('the literal text of a regular expression is in each of its matches', async (t) => {
  const cases: [string, string][] = [
    ['abcdef', 'abcdef'],
    ['abc|def', ''],
    ['abc.*defg', 'defg'],
    ['abcd?e', 'abc'],
    ['colou?r', 'colo'],
    ['(optional)?text', 'text'],
    ['a{3}bcd', 'bcd'],
    ['[abc]def', 'def'],
    ['[]x]def', 'def'],
    ['a\\.b\\(c', 'a.b(c'],
    ['\\bword\\b', 'word'],
    ['^start', 'start'],
    ['x+yz', 'yz'],
    ['[abc', ''],
    ['', ''],
  ];
  for (const [pattern, literal] of cases) t.equal(literalOf(pattern), literal, pattern);
});

t.test('the index does not grow on a disk with fewer free bytes than the floor', async (t) => {
  const { web, add, find } = await start(t);
  await add('tool', { 'a.txt': 'some words\n' });
  const { config } = web.modules;
  const folder = path.join(config.dataDir, 'cache');
  const { bavail, bsize } = statfsSync(config.dataDir);
  const free = bavail * bsize;
  const limits = {
    budgetBytes: config.search.codeIndexBudgetBytes,
    repositoryBytes: config.search.codeRepositoryLimitBytes,
  };
  for (const [lowDiskFloorBytes, files] of [
    [free * 4, []],
    [free / 4, ['tool/a.txt:1']],
  ] as const) {
    const search = createCodeSearch({ ...web.modules, folder, limits, lowDiskFloorBytes, logger: silentLogger });
    await search.update();
    await search.stop();
    t.strictSame(
      (await find(anonymous, 'some words')).files,
      files,
      `a floor of ${lowDiskFloorBytes / free} of the room`,
    );
  }
});
