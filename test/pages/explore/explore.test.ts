// Explore: repositories, people and organisations that the viewer may see.
import t from 'tap';
import { extractMain, fillRepository, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import type { PageResponse, Visitor } from '../../fixtures/web-fixture.ts';

const web = await startWeb(t);
const anonymous = visitor(web);

const titles = (response: PageResponse): string[] =>
  [...extractMain(response).matchAll(/class="row-title"[^>]*>(.*?)<\/a>/g)].map(([, text]) =>
    text!.replace(/<[^>]+>/g, ''),
  );

const next = (response: PageResponse): string | null =>
  /href="([^"]+)" rel="next"/.exec(extractMain(response))?.[1]?.replaceAll('&amp;', '&') ?? null;

/** Every row of a list, page by page. */
async function walk(who: Visitor, start: string): Promise<string[]> {
  const all: string[] = [];
  for (let address: string | null = start; address !== null; ) {
    const response = await who.get(address);
    all.push(...titles(response));
    address = next(response);
  }
  return all;
}

t.test('nothing to explore is said in one sentence', async (t) => {
  const empty = await anonymous.get('/explore');
  t.match([empty.status, extractMain(empty)], [200, /There are no public repositories yet/]);
  t.match(extractMain(await anonymous.get('/explore/users')), /There are no users yet/);
  t.match(extractMain(await anonymous.get('/explore/orgs')), /There are no organisations yet/);
});

t.test('explore lists what the viewer may see, in three orders, in pages that never overlap', async (t) => {
  const alice = await signedIn(web, 'alice');
  const made: string[] = [];
  for (let index = 0; index < 53; index += 1) {
    const name = `r${String((index * 37) % 53).padStart(2, '0')}`;
    // Some at the same moment: the order must be total.
    if (index % 3 === 0) web.clock.advance(1000);
    await web.modules.repositories.create(
      {
        kind: 'person',
        id: alice.id,
        username: 'alice',
        isAdministrator: false,
        via: 'session',
        scope: 'admin',
        repositoryIds: null,
      },
      { name, visibility: 'PUBLIC' },
    );
    made.push(`alice/${name}`);
  }
  await alice.post('/repos', { name: 'secret', visibility: 'PRIVATE' });
  const sorted = [...made].sort();
  for (const sort of [
    '',
    '?sort=updated',
    '?sort=name',
    '?sort=created',
    '?sort=nonsense',
    '?after=nonsense',
    '?sort=name&after=%20.x',
  ]) {
    const all = await walk(anonymous, `/explore${sort}`);
    t.equal(all.length, 53, `${sort}: each once`);
    t.same([...all].sort(), sorted, sort);
  }
  t.same(await walk(anonymous, '/explore?sort=name'), sorted);
  t.equal((await walk(anonymous, '/explore?sort=created'))[0]!.length > 0, true);
  t.same((await walk(alice, '/explore?sort=name')).at(-1), 'alice/secret', 'signed in, with what is one’s own');
  t.equal(next(await anonymous.get('/explore'))?.includes('sort'), false, 'the usual order needs no word');
  t.match(next(await anonymous.get('/explore?sort=name')), /sort=name&after=/);
});

t.test('repositories are found by what they are mainly written in, and hidden ones give nothing away', async (t) => {
  const eve = await signedIn(web, 'eve');
  const { secret } = await web.modules.accounts.addToken(eve.id, {
    name: 'push',
    access: 'write',
    repositoryIds: null,
    expiresAt: null,
  });
  const push = async (name: string, visibility: string, files: Record<string, string>, branch = 'main') => {
    if (visibility !== '') await eve.post('/repos', { name, visibility });
    await fillRepository(t, `http://eve:${secret}@127.0.0.1:${web.port}/git/eve/${name}.git`, files, branch);
    web.clock.advance(1000);
  };
  await push('engine', 'PUBLIC', {
    'a.c': 'int a;\n'.repeat(100),
    'b.py': 'b\n'.repeat(100),
    'c.sh': '\n',
    'README.md': '# C\n'.repeat(999),
    'vendor/big.go': 'x\n'.repeat(9_999),
  });
  await push('notes', 'PUBLIC', { 'README.md': 'words\n' });
  await push('vault', 'PRIVATE', { 'main.rs': 'fn main() {}\n', 'a.c': 'int a;\n'.repeat(9) });
  // On a busy machine the first ones are counted seconds after their push, before the next one has come.
  const { updateDue } = web.modules.repositories.statistics;
  t.ok((await updateDue()) <= 3, 'what was pushed to');
  t.equal(await updateDue(), 0, 'and only that');

  const offered = (response: PageResponse): string[] =>
    [...extractMain(response).matchAll(/<option value="([^"]+)"/g)].map(([, name]) => name!);
  const written = (response: PageResponse): string[] =>
    [...extractMain(response).matchAll(/<p class="written-in[^>]*>(.*?)<\/p>/g)].map(([, row]) =>
      row!
        .replace(/<svg.*?<\/svg>/g, '')
        .replace(/<[^>]+>/g, ' ')
        .replace(/ +/g, ' ')
        .trim(),
    );
  t.same(
    offered(await anonymous.get('/explore')),
    ['C', 'Markdown', 'Python'],
    'Rust is only in what is hidden, Shell is too little to stand for anything, and vendored code is not counted',
  );
  t.same(offered(await eve.get('/explore')), ['C', 'Markdown', 'Python', 'Rust']);
  t.same(
    [await walk(anonymous, '/explore?language=C'), await walk(eve, '/explore?language=c')],
    [['eve/engine'], ['eve/vault', 'eve/engine']],
  );
  t.same(written(await anonymous.get('/explore?language=Python')), ['C Python'], 'the card says it, most first');
  t.match(extractMain(await anonymous.get('/explore?language=C&sort=name')), /<option value="C" selected/);
  t.match(
    extractMain(await anonymous.get('/explore?language=C&sort=name')),
    /href="\/explore\?language=C" aria-current|href="\/explore\?language=C"/,
    'another order keeps the language',
  );
  const [hidden, absent] = [
    await anonymous.get('/explore?language=Rust'),
    await anonymous.get('/explore?language=Zig'),
  ];
  t.match([hidden.status, extractMain(hidden)], [200, /There are no repositories in Rust here/]);
  t.equal(
    extractMain(hidden).replaceAll('Rust', 'Zig'),
    extractMain(absent),
    'what is hidden and what is not there read the same',
  );
  t.same((await walk(anonymous, '/explore?language=nonsense')).length, 55, 'a language that nobody knows asks nothing');
  const listed = async (query: string) =>
    ((await (await fetch(`${web.origin}/api/v1/repos?${query}`)).json()) as { name: string }[]).map(({ name }) => name);
  t.same(
    [
      await listed('language=c'),
      await listed('language=Rust'),
      await listed('language=nonsense'),
      await listed('language=Python&owner=eve&limit=1'),
    ],
    [['engine'], [], [], ['engine']],
    'the API asks the same',
  );
  t.match(extractMain(await anonymous.get('/users/eve')), /C<\/span><span>.*Python/);

  await push('notes', '', { 'x.zig': 'const x = 1;\n' }, 'work');
  await eve.post('/repos/eve/notes/settings', { default_branch: 'work', description: '' });
  t.equal(await web.modules.repositories.statistics.updateDue(), 1);
  t.same(await walk(anonymous, '/explore?language=Zig'), ['eve/notes'], 'the default branch counts');
  await eve.post('/repos/eve/engine/settings/visibility', { visibility: 'PRIVATE', confirm: 'eve/engine' });
  t.same(offered(await anonymous.get('/explore')), ['Zig'], 'what is hidden from now on is hidden here');
  await eve.post('/repos/eve/engine/settings/delete', { confirm: 'eve/engine' });
  t.same(offered(await eve.get('/explore')), ['C', 'Rust', 'Zig'], 'the trash counts for nobody');
});

t.test('a language keeps its pages', async (t) => {
  await web.modules.db.write(({ manager }) =>
    manager.query("INSERT INTO repository_languages SELECT id, 0, 'Ada' FROM repositories WHERE name LIKE 'r%'"),
  );
  const all = await walk(anonymous, '/explore?language=Ada&sort=name');
  t.equal(new Set(all).size, 53);
  t.match(next(await anonymous.get('/explore?language=Ada')), /^\/explore\?language=Ada&after=/);
  await web.modules.db.write(({ manager }) => manager.query("DELETE FROM repository_languages WHERE language = 'Ada'"));
});

t.test('SPEC §2.4 people are listed once they have a handle, and while they are not shut out', async (t) => {
  await signedIn(web, 'bob');
  const carol = await signedIn(web, 'carol');
  await web.modules.accounts.addPerson({ password: 'long enough password' });
  t.same(await walk(anonymous, '/explore/users'), ['alice', 'bob', 'carol', 'eve']);
  t.same((await walk(anonymous, '/explore/users?sort=created')).sort(), ['alice', 'bob', 'carol', 'eve']);
  await web.modules.accounts.setDisabled(carol.id, true);
  t.same(await walk(anonymous, '/explore/users'), ['alice', 'bob', 'eve']);
  await web.modules.accounts.setDisabled(carol.id, false);
});

t.test('organisations are public, by name or the newest first', async (t) => {
  const dora = await signedIn(web, 'dora');
  for (const name of ['weavers', 'potters', 'smiths']) {
    web.clock.advance(1000);
    await dora.post('/orgs', { name });
  }
  t.same(await walk(anonymous, '/explore/orgs'), ['potters', 'smiths', 'weavers']);
  t.same(await walk(anonymous, '/explore/orgs?sort=created'), ['smiths', 'potters', 'weavers']);
});
