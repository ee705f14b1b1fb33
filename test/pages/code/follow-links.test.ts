// Where symbolic links, submodules and addresses in commit messages lead, and code in subjects.
import t from 'tap';
import { runGit } from '../../fixtures/git-repositories.ts';
import { parseModules, resolveSubmodule } from '../../../src/pages/code/submodules.ts';
import { viewLinkedText } from '../../../src/pages/markdown/linked-text.ts';
import { noReferences } from '../../../src/pages/markdown/reference-links.ts';
import { localAdministrator } from '../../../src/access/index.ts';
import { signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import { viewerOf } from '../issues/issues-fixture.ts';

t.test('addresses of submodules are resolved as git does', async (t) => {
  const place = {
    origin: 'https://git.example.org',
    repository: { owner: 'alice', name: 'site' },
    oid: '1'.repeat(40),
  };
  const here = (path: string): string => `/repos/${path}/tree/${place.oid}`;
  const table: readonly [url: string, link: string | null][] = [
    ['../lib.git', here('alice/lib')],
    ['../lib', here('alice/lib')],
    ['../lib/', here('alice/lib')],
    ['./../lib.git', here('alice/lib')],
    ['../../bob/lib.git', here('bob/lib')],
    ['../../../bob/lib.git', here('bob/lib')],
    ['../../../../x/y', null],
    ['https://git.example.org/git/bob/lib.git', here('bob/lib')],
    ['https://git.example.org/bob/lib', here('bob/lib')],
    ['https://git.example.org/repos/bob/lib', here('bob/lib')],
    ['HTTPS://GIT.example.org/git/bob/lib.git', here('bob/lib')],
    ['ssh://git@git.example.org:2222/bob/lib.git', here('bob/lib')],
    ['git@git.example.org:bob/lib.git', here('bob/lib')],
    ['https://example.org/lib.git', 'https://example.org/lib.git'],
    ['http://example.org/lib', 'http://example.org/lib'],
    ['git@github.com:bob/lib.git', 'https://github.com/bob/lib.git'],
    ['ssh://git@gitlab.com/bob/lib.git', 'https://gitlab.com/bob/lib.git'],
    ['git@example.net:bob/lib.git', null],
    ['https://alice:secret@example.org/lib', null],
    ['https://git.example.org@example.net/bob/lib', null],
    ['https://git.example.org.example.net/bob/lib', 'https://git.example.org.example.net/bob/lib'],
    ['javascript:alert(1)', null],
    ['/srv/git/lib.git', null],
    ['file:///srv/lib.git', null],
    ['ext::sh -c x', null],
    ['-u', null],
  ];
  for (const [url, link] of table) t.equal(resolveSubmodule(url, place).link, link, url);
});

t.test('.gitmodules is read as git reads its settings', async (t) => {
  const read = (text: string) => [...parseModules(text)];
  t.strictSame(read('[submodule "a"]\n\tpath = lib\n\turl = ../lib.git\n'), [['lib', '../lib.git']]);
  t.strictSame(read('[submodule "a"]\npath="my lib" ; here\nurl = "../l#ib" # there\n'), [['my lib', '../l#ib']]);
  t.strictSame(read('[submodule "a"]\nPATH = lib/\nurl = one\nurl = two\n'), [['lib', 'two']]);
  t.strictSame(read('[submodule "a"]\npath = a\n[core]\nurl = x\n[submodule "b"]\nurl = y\n'), []);
  t.strictSame(read('[submodule "a"]\r\npath = a\r\nurl = x\r\n'), [['a', 'x']]);
  t.strictSame(read('[submodule "a"] path = a\nurl = x\n'), [['a', 'x']], 'behind the header');
  t.strictSame(read('[submodule "a"] # path = b\npath = a\nurl = x\n'), [['a', 'x']]);
  t.strictSame(read('[submodule.A]\npath = a\n[submodule "a"]\nurl = x\n'), [['a', 'x']], 'the form of old');
  t.strictSame(read('[submodule "a"]\npath = lib/\\\na\nurl = "x\\\ny"\n'), [['lib/a', 'xy']], 'joined lines');
  t.strictSame(read('[submodule "a"]\npath = a\nurl = x\\\\\n'), [['a', 'x\\']], 'a backslash of its own');
  t.strictSame(read('\\'.repeat(60_000)), []);
});

t.test('addresses in messages are links, without the end of the sentence', async (t) => {
  const links = (text: string) => (viewLinkedText(text, noReferences, true) ?? []).flatMap(({ url }) => url ?? []);
  t.strictSame(links('Link: https://example.org/a?b=c#1\n'), ['https://example.org/a?b=c#1']);
  t.strictSame(links('(see https://example.org/a_(b)), or http://example.net.'), [
    'https://example.org/a_(b)',
    'http://example.net',
  ]);
  t.strictSame(links('<https://example.org/x> "https://example.org/y"'), [
    'https://example.org/x',
    'https://example.org/y',
  ]);
  t.strictSame(links('javascript:alert(1) ftp://example.org xhttps://example.org https://'), []);
  t.equal(viewLinkedText('https://example.org', noReferences), null, 'not where the text is a link itself');
  t.equal(viewLinkedText('see https://example.org/\u202Ex', noReferences, true)?.[1]?.rel, 'nofollow ugc noopener');
});

t.test('links lead inside the tree of their commit, at most five steps', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  const { repositories } = web.modules;
  const viewer = viewerOf(alice.id, 'alice');
  await repositories.create(viewer, { name: 'site', visibility: 'PUBLIC' });
  const { path } = await repositories.find(localAdministrator, 'alice', 'site');
  const blob = async (text: string): Promise<string> =>
    (await runGit(['hash-object', '-w', '--stdin'], { cwd: path, input: text })).trim();
  const links: Record<string, string> = {
    plain: 'docs/guide.md',
    'docs/up': '../main.c',
    folder: 'docs',
    root: '.',
    dangling: 'none',
    outside: '../../etc/passwd',
    absolute: '/etc/passwd',
    loop: 'loop',
    'through-file': 'main.c/x',
    'hidden-outside': 'docs/../../main.c',
    l1: 'l2',
    l2: 'l3',
    l3: 'l4',
    l4: 'l5',
    l5: 'main.c',
    l0: 'l1',
    'README.md': 'docs/guide.md',
  };
  let index = '';
  for (const [name, target] of Object.entries(links)) index += `120000 ${await blob(target)}\t${name}\n`;
  index += `100644 ${await blob('int main;\n')}\tmain.c\n`;
  index += `100644 ${await blob('# Guide\n\n[more](more.md)\n')}\tdocs/guide.md\n`;
  index += `100644 ${await blob('[submodule "lib"]\npath = lib\nurl = ../lib.git\n')}\t.gitmodules\n`;
  index += `160000 ${'2'.repeat(40)}\tlib\n`;
  const env = { GIT_INDEX_FILE: `${path}/links-index` };
  await runGit(['update-index', '--add', '--index-info'], { cwd: path, input: index, env });
  const tree = (await runGit(['write-tree'], { cwd: path, env })).trim();
  const commit = (
    await runGit(['commit-tree', tree, '-m', 'Link `main.c` to `<b>`\n\nSee `https://example.org/a?b=c#1`.'], {
      cwd: path,
    })
  ).trim();
  await runGit(['update-ref', 'refs/heads/main', commit], { cwd: path });

  const get = (rest: string) => visitor(web).get(`/repos/alice/site${rest}`);
  const targetOf = async (name: string): Promise<string | null> => {
    const { status, body } = await get(`/blob/main/${name}`);
    t.equal(status, 200, name);
    t.match(body, /Symbolic link to/);
    return /Symbolic link to\s*<a href="([^"]*)"/.exec(body.replace(/\s+/g, ' '))?.[1] ?? null;
  };
  for (const [name, target] of [
    ['plain', '/blob/main/docs/guide.md'],
    ['docs/up', '/blob/main/main.c'],
    ['folder', '/tree/main/docs'],
    ['l1', '/blob/main/main.c'],
  ] as const)
    t.equal(await targetOf(name), `/repos/alice/site${target}`, name);
  t.equal(await targetOf('root'), '/repos/alice/site/tree/main');
  for (const name of ['dangling', 'outside', 'absolute', 'loop', 'through-file', 'hidden-outside', 'l0'])
    t.equal(await targetOf(name), null, name);
  const through = await get('/blob/main/folder/guide.md');
  t.strictSame([through.status, through.headers.location], [301, '/repos/alice/site/blob/main/docs/guide.md']);
  t.equal((await get('/blob/main/folder/none')).status, 404);

  const home = await get('');
  t.match(
    home.body,
    /<h2 id="user-content-guide"><a class="anchor" href="#user-content-guide" aria-label="Link to this heading"><\/a>Guide<\/h2>/,
    'a README that is a link',
  );
  t.match(home.body, '/repos/alice/site/blob/main/docs/more.md', 'its links begin in its folder');
  t.match(home.body, `href="/repos/alice/lib/tree/${'2'.repeat(40)}"`, 'a submodule in a list');
  t.match((await get('/tree/main/lib')).body, `href="/repos/alice/lib/tree/${'2'.repeat(40)}"`);
  const page = (await get(`/commit/${commit}`)).body;
  t.match(page, /`<a class="reference" href="https:\/\/example\.org\/a\?b=c#1" rel="nofollow ugc noopener">/);
  const subject = 'Link <code>main.c</code> to <code>&lt;b&gt;</code>';
  for (const [where, body] of Object.entries({ page, home: home.body, commits: (await get('/commits/main')).body }))
    t.ok(body.includes(`<bdi>${subject}</bdi>`), `backticks of a subject: ${where}`);
});
