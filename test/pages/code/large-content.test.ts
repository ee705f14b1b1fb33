// What is small to push and endless to read, and refs beyond counting: pages respond, and show a part.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import type { Test } from 'tap';
import { runGit } from '../../fixtures/git-repositories.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { fillRepository, signedIn, startWeb } from '../../fixtures/web-fixture.ts';
import type { PageResponse } from '../../fixtures/web-fixture.ts';

t.setTimeout(120_000);

const web = await startWeb(t);
const alice = await signedIn(web, 'alice');
await alice.post('/repos', { name: 'kiln', visibility: 'PUBLIC' });
const B = '/repos/alice/kiln';
const { path: bare } = await web.modules.repositories.find({ kind: 'anonymous' }, 'alice', 'kiln');

await fillRepository(t, bare, {
  'long-line.txt': 'x'.repeat(2_000_000),
  'long.txt': 'a line\n'.repeat(300_000),
  'huge.txt': 'a line\n'.repeat(1_300_000),
  ...Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`many/file-${n}`, 'x\n'])),
});

const tip = (await web.modules.git.refs.head(bare)).oid!;
const mebibyte = 1024 * 1024;

/** Every page responds, and is no larger than a browser takes. */
async function responses(t: Pick<Test, 'ok'>, pages: readonly string[], most = 2 * mebibyte): Promise<PageResponse[]> {
  return Promise.all(
    pages.map(async (page) => {
      const response = await alice.get(B + page);
      t.ok([200, 301].includes(response.status), `${page || 'the home page'}: ${response.status}`);
      t.ok(response.body.length < most, `${page}: ${response.body.length} characters`);
      return response;
    }),
  );
}

t.test('security I05 large files, long lines and many entries are shown in part, and it is said', async (t) => {
  const [long, longLine, blame, , commit, huge] = await responses(t, [
    '/blob/main/long.txt?part=30',
    '/blob/main/long-line.txt',
    '/blame/main/long.txt',
    '/tree/main/many',
    `/commit/${tip}`,
    '/blob/main/huge.txt',
    '/find/main?q=file',
    '/search?q=line',
    '/search?q=x',
  ]);
  t.match(long!.body, /Lines 290,001 to 300,000 of 300,000[^]*id="L300000"/);
  t.match(longLine!.body, /line goes on/);
  t.match(huge!.body, /too large to show/, 'nine mebibytes');
  t.match(blame!.headers.location, `${B}/blob/main/long.txt`, 'nobody’s lines are told apart in a file of this size');
  t.match(commit!.body, /large|more|not shown/i);
});

t.test('blame of a file of very many rows is shown in parts, and a line is found in its part', async (t) => {
  const lines = (round: number) =>
    Array.from({ length: 6_000 }, (_, n) => `line ${n}${n % 2 < round ? ` of ${round}` : ''}\n`).join('');
  const work = temporaryFolder(t);
  await runGit(['clone', '--quiet', bare, '.'], { cwd: work });
  for (const round of [0, 1]) {
    writeFileSync(path.join(work, 'rows.txt'), lines(round));
    await runGit(['add', '.'], { cwd: work });
    await runGit(['commit', '--quiet', '-m', `Round ${round}`], { cwd: work });
  }
  await runGit(['push', '--quiet', 'origin', 'HEAD:refs/heads/rows'], { cwd: work });
  const [first, found, last] = await responses(t, [
    '/blame/rows/rows.txt',
    '/blame/rows/rows.txt?lines=2500',
    '/blame/rows/rows.txt?part=99',
  ]);
  t.match(first!.body, /Lines 1 to 1,000 of 6,000/);
  t.match(first!.body, /id="L1000"/);
  t.notMatch(first!.body, /id="L1001"/);
  t.match(found!.body, /id="L2500"/);
  t.match(last!.body, /Lines 5,001 to 6,000/);
  t.match(first!.body, /\/blame\/[0-9a-f]{40}\/rows\.txt\?lines=1#L1"/, 'the line before a change is found, too');
});

t.test('security I05 a tree of ten thousand million files in a few kilobytes', async (t) => {
  const git = async (args: string[], input?: string) =>
    (await runGit(args, { cwd: bare, ...(input === undefined ? {} : { input }) })).trim();
  let entry = `100644 blob ${await git(['hash-object', '-w', '--stdin'], 'bang\n')}`;
  for (let level = 0; level < 10; level += 1)
    entry = `040000 tree ${await git(['mktree'], Array.from({ length: 10 }, (_, n) => `${entry}\tf${n}\n`).join(''))}`;
  await git([
    'update-ref',
    'refs/heads/bomb',
    await git(['commit-tree', entry.split(' ')[2]!, '-p', tip, '-m', 'Bomb']),
  ]);
  await responses(t, [
    '/tree/bomb',
    '/tree/bomb/f0/f1',
    `/blob/bomb/${Array.from({ length: 10 }, () => 'f0').join('/')}`,
    '/find/bomb?q=f9',
    '/commits/bomb',
    '/commits/bomb/f0',
    '/branches',
  ]);
  await alice.post(`${B}/settings`, { description: '', default_branch: 'bomb' });
  await responses(t, ['', '/settings']);
  await alice.post(`${B}/settings`, { description: '', default_branch: 'main' });
});

t.test('security I02 twenty thousand branches and as many tags are listed in part', async (t) => {
  const lines = (folder: string) =>
    Array.from({ length: 20_000 }, (_, n) => `${tip} refs/${folder}/r${String(n).padStart(6, '0')}\n`).join('');
  writeFileSync(
    path.join(bare, 'packed-refs'),
    `# pack-refs with: peeled fully-peeled sorted \n${lines('heads')}${lines('tags')}`,
  );
  await responses(
    t,
    [
      '',
      '/tree/r000001',
      '/branches',
      '/tags',
      '/tags.atom',
      `/commit/${tip}`,
      '/commits/main',
      '/compare',
      '/activity',
      '/settings',
    ],
    mebibyte,
  );
  t.equal((await alice.get(`${B}/go?ref=r019999&page=tree`)).status, 303, 'the last one is found');
  t.same(
    web.log.filter(({ level }) => level === 'error'),
    [],
  );
});
