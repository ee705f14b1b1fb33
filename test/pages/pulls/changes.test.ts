// The page of changes of a pull request: a round, two rounds, one file, and what is too large or is no text.
import t from 'tap';
import { numbered, startPullWeb } from '../../fixtures/pull-web-fixture.ts';
import { extractMain } from '../../fixtures/web-fixture.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';

const code = numbered(60);
const garden = await startPullWeb(t, { 'src/bed.ts': code, 'other.txt': numbered(5) });
const { commit, push, git, alice } = garden;

/** Text of the lines of a page with their signs, without what is between them. */
const linesOf = (body: string): string[] =>
  [...body.matchAll(/<span class="sign">(.)<\/span>(.*?)<\/td>/g)].map(
    ([, sign, text]) => `${sign}${text!.replace(/<[^>]*>/g, '')}`,
  );

await commit({ 'src/bed.ts': numbered(60, { 30: 'const beans = 1;' }) }, 'Sow beans\n\nChange-Id: I0000000000000001');
await commit({ 'src/pond.ts': 'const pond = 1;\n' }, 'Dig a pond');
const pull = await garden.open('Beans & a pond');
// The second round: rebased onto a base that changed another line of the same file, and one line more.
await git('checkout', '--quiet', 'main');
await commit({ 'src/bed.ts': numbered(60, { 5: 'const path = 1;' }), 'other.txt': numbered(6) }, 'Lay a path');
await push('main');
await git('checkout', '--quiet', 'topic');
await git('rebase', '--quiet', 'main');
await commit({ 'src/pond.ts': 'const pond = 2;\n' }, 'A larger pond');
await garden.pushRound();

t.test('without parameters it shows all of the last round', async (t) => {
  const { status, body } = await alice.get(`${pull.url}/changes`);
  t.equal(status, 200);
  t.match(body, /Beans &amp; a pond/);
  t.strictSame(linesOf(body), [
    ...['27', '28', '29'].map((line) => ` line ${line}`),
    '-line 30',
    '+const beans = 1;',
    ...['31', '32', '33'].map((line) => ` line ${line}`),
    '+const pond = 2;',
  ]);
  t.match(body, /@@ -27,7 \+27,7 @@/, 'headers of hunks are those of git');
  t.match(body, /@@ -0,0 \+1 @@/);
});

t.test('between two rounds it shows what the author changed, without what the rebase brought', async (t) => {
  const { body } = await alice.get(`${pull.url}/changes?from=1`);
  t.strictSame(linesOf(body), ['-const pond = 1;', '+const pond = 2;']);
  t.match(body, /without the changes of the rebase/);
  const pairs = [...body.matchAll(/<tr class="is-(\w+)">(.*?)<\/tr>/gs)].map(([, kind, row]) => [
    kind,
    ...[...row!.matchAll(/<bdi>(.*?)<\/bdi>/g)].map(([, subject]) => subject),
  ]);
  t.strictSame(pairs, [
    ['equal', 'Sow beans', 'Sow beans'],
    ['equal', 'Dig a pond', 'Dig a pond'],
    ['added', 'A larger pond'],
  ]);
  const plain = await alice.get(`${pull.url}/changes?from=1&plain=1`);
  t.ok(linesOf(plain.body).includes('+const path = 1;'), 'as they are, with the base');
  t.equal((await alice.get(`${pull.url}/changes?from=9`)).status, 404);
  t.equal((await alice.get(`${pull.url}/changes?from=2&to=1`)).status, 200, 'the wrong way round: all of round 1');
});

t.test('the tree of files leads to each, and all lines can be expanded', async (t) => {
  const { body } = await alice.get(`${pull.url}/changes`);
  const [, tree = ''] = /<nav class="file-tree"[^>]*>(.*?)<\/nav>/s.exec(body) ?? [];
  t.strictSame(
    [...tree.matchAll(/<bdi>(.*?)<\/bdi>/g)].map(([, name]) => name),
    ['src', 'bed.ts', 'pond.ts'],
  );
  for (const [, anchor] of tree.matchAll(/href="#(\w+)"/g)) t.match(body, `id="${anchor}"`);
  const [, expand = ''] = /<a href="([^"]+)">Expand all<\/a>/.exec(body) ?? [];
  const expanded = (await alice.get(expand.replaceAll('&amp;', '&'))).body;
  t.equal(linesOf(expanded).length, 62);
  t.match(expanded, /<a href="\/repos\/alice\/garden\/pulls\/1\/changes">Collapse<\/a>/);
});

t.test('the list of pull requests shows their size', async (t) => {
  const shown = async () => (await alice.get(pull.url.replace(/\/\d+$/, ''))).body;
  await shown();
  await waitUntil(async () => /class="plus"/.test(await shown()));
  t.match(await shown(), /<span class="plus">\+2<\/span><span class="minus">−1<\/span>/);
});

t.test('one file alone, with more context', async (t) => {
  const { body } = await alice.get(`${pull.url}/changes`);
  const [, more] = /class="more-lines" href="([^"]+)"/.exec(body) ?? [];
  t.match(more, /\?file=src\/bed\.ts&amp;context=25#f[0-9a-f]{10}/);
  const wider = await alice.get(more!.replaceAll('&amp;', '&').replace(/#.*/, ''));
  t.equal(linesOf(wider.body).length, 52);
  t.notMatch(extractMain(wider), /src\/pond\.ts<\/bdi><span class="badge/);
  t.match(wider.body, /@@ -5,51 \+5,51 @@/);
  const whole = await alice.get(`${pull.url}/changes?file=src/bed.ts&context=20000`);
  t.equal(linesOf(whole.body).length, 61);
});

t.test('who may comment has a link at each line', async (t) => {
  const { body } = await alice.get(`${pull.url}/changes?view=split`);
  t.match(body, /href="[^"]*\?view=split&amp;comment=src\/bed.ts:OLD:30#comment"/);
  t.match(body, /href="[^"]*comment=src\/bed.ts:NEW:30#comment"/);
  t.match(body, /href="[^"]*comment=src\/bed.ts:FILE#comment"/);
});

t.test('as a diff and as mails', async (t) => {
  const diff = await alice.get(`${pull.url}.diff`);
  t.match(diff.headers['content-type'], 'text/plain');
  t.match(diff.body, /^diff --git a\/src\/bed\.ts b\/src\/bed\.ts\n/);
  const mails = await alice.get(`${pull.url}.patch`);
  t.equal(mails.body.match(/^From [0-9a-f]{40} /gm)?.length, 3);
  t.equal((await alice.get('/repos/alice/garden/pulls/99.diff')).status, 404);
  const first = await alice.get(`${pull.url}.patch?to=1`);
  t.equal(first.body.match(/^From [0-9a-f]{40} /gm)?.length, 2, 'the commits of the first round');
  t.match((await alice.get(`${pull.url}.diff?to=1`)).body, /^\+const pond = 1;$/m);
  const since = await alice.get(`${pull.url}.diff?from=1`);
  t.match(since.body, /^\+const path = 1;$[^]*^-const pond = 1;$\n^\+const pond = 2;$/m, 'since its head, as it is');
  t.equal((await alice.get(`${pull.url}.patch?from=1`)).body.match(/^From [0-9a-f]{40} /gm)?.length, 4);
  t.match(
    extractMain(await alice.get(`${pull.url}/changes?to=1`)),
    /\.patch\?to=1"/,
    'the page leads to what it shows',
  );
  t.equal((await alice.get(`${pull.url}.diff?to=9`)).status, 404);
  t.equal((await alice.get(`${pull.url}.diff?from=1&to=1`)).status, 422, 'no older round');
});

t.teardown(() => {
  for (const { event, fields } of garden.web.log)
    if (event === 'http.fault' || /push|pull/.test(event)) console.error(event, fields);
});

t.test('a workflow that it brings is checked below its lines', async (t) => {
  await git('checkout', '--quiet', '-b', 'with-workflow', 'main');
  await commit(
    { '.hearth/workflows/ci.yml': 'on: {pull_request: {branch: [a]}}\njobs:\n  a: {runs-on: x, steps: [{run: z}]}\n' },
    'Build',
  );
  await push('with-workflow');
  const brought = await garden.open('Build it', 'with-workflow');
  const { body } = await alice.get(`${brought.url}/changes`);
  t.match(body, /<span class="line-note is-error">.*&quot;branch&quot; is not a key under &quot;pull_request&quot;/);
  await git('checkout', '--quiet', 'topic');
});
