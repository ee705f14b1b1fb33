// Long files in parts, notebooks and PDF on the page of a file.
import t from 'tap';
import { fillRepository, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';

t.setTimeout(120_000);

const web = await startWeb(t);
const alice = await signedIn(web, 'alice');
const anonymous = visitor(web);
const B = '/repos/alice/kiln';
await alice.post('/repos', { name: 'kiln', visibility: 'PUBLIC' });
const { path } = await web.modules.repositories.find({ kind: 'anonymous' }, 'alice', 'kiln');

const cells = [
  { cell_type: 'markdown', source: ['# Firing\n', '\n', '[notes](notes.md), $x^2$, #1 <script>alert(1)</script>'] },
  {
    cell_type: 'code',
    execution_count: 7,
    source: 'def heat(x):\n    return x',
    outputs: [
      { output_type: 'stream', name: 'stdout', text: '\u001b[31mhot\u001b[0m <b>\n' },
      { output_type: 'display_data', data: { 'text/html': '<table><tr><td onclick="alert(1)">1</td></tr></table>' } },
    ],
  },
];
await fillRepository(t, path, {
  'long.txt': Array.from({ length: 25_000 }, (_, at) => `line ${at + 1}\n`).join(''),
  'last.txt': Array.from({ length: 10_001 }, (_, at) => `line ${at + 1}`).join('\n'),
  'large.csv': `a,b\n${'1,2\n'.repeat(200_000)}`,
  'kiln.ipynb': JSON.stringify({ nbformat: 4, metadata: { language_info: { name: 'python' } }, cells }),
  'odd.ipynb': '{"nbformat": 3}\n',
  'plan.pdf': '%PDF-1.4\n<script>alert(1)</script>\n',
  'plan.md': 'No [PDF](plan.pdf)\n',
});

const get = async (file: string) => (await anonymous.get(`${B}/blob/main/${file}`)).body;
const linesOf = (body: string): string[] =>
  Array.from(body.matchAll(/<a id="L(\d+)"/g), ([, number]) => number!).filter(
    (_, at, all) => at === 0 || at === all.length - 1,
  );

t.test('a long file shows ten thousand lines at a time', async (t) => {
  const first = await get('long.txt');
  t.strictSame(linesOf(first), ['1', '10000']);
  t.match(first, /25,000 lines · /);
  t.match(first, /Lines 1 to 10,000 of 25,000/);
  t.match(first, /long\.txt\?part=2" rel="next"/);
  t.notMatch(first, /rel="prev"/);
  t.match(first, /data-lines="25000"/);
  const last = await get('long.txt?part=3');
  t.strictSame(linesOf(last), ['20001', '25000']);
  t.match(last, /long\.txt\?part=2" rel="prev"/);
  t.notMatch(last, /rel="next"/);
  t.strictSame(linesOf(await get('long.txt?part=x')), ['1', '10000']);
  const marked = await get('long.txt?lines=12345-12346');
  t.strictSame(linesOf(marked), ['10001', '20000'], 'the part that has the line');
  t.match(marked, /class="line marked"><a id="L12345"/);
  t.equal(marked.match(/class="line marked"/g)!.length, 2);
  t.match(
    await get('last.txt?part=2'),
    /Line 10,001 of 10,001[^]*no newline at the end|no newline at the end[^]*Line 10,001 of 10,001/,
  );
  t.notMatch(await get('plan.md?plain=1'), /Parts of the file/, 'a short one has no parts');
});

t.test('a part of a source keeps showing the source; blame is offered where there is some', async (t) => {
  const source = await get('large.csv?plain=1');
  t.match(source, /large\.csv\?plain=1&amp;part=2"/);
  t.match(source, /name="plain" value="1"/);
  t.notMatch(source, /data-key="b"/, 'its lines are too many to be told apart');
  t.match(await get('long.txt'), /data-key="b"/);
});

t.test('a notebook is a document, and its source is there, too', async (t) => {
  let body = await get('kiln.ipynb');
  // On a busy machine the first views may come without it, or without colours.
  for (let view = 0; view < 50 && !body.includes('x-keyword'); view += 1) body = await get('kiln.ipynb');
  t.match(body, /2 cells · /);
  t.match(
    body,
    /<h2 id="user-content-firing"><a class="anchor" href="#user-content-firing" aria-label="Link to this heading"><\/a>Firing<\/h2>/,
  );
  t.match(body, `href="${B}/blob/main/notes.md"`, 'links lead to the files beside it');
  t.match(body, /<math/);
  t.match(body, />\[7\]</);
  t.match(body, /<span class="x-keyword">def<\/span>/);
  t.match(body, /<code>hot &lt;b&gt;\n<\/code>/);
  t.match(body, /<table>[^]*<td>1<\/td>/);
  t.notMatch(body, /alert\(1\)|onclick/);
  t.match(body, /kiln\.ipynb\?plain=1">Source/);
  const source = await get('kiln.ipynb?plain=1');
  t.strictSame(linesOf(source), ['1']);
  t.match(source, /kiln\.ipynb">Rendered/);
  const odd = await get('odd.ipynb');
  t.strictSame(linesOf(odd), ['1'], 'what is no notebook is text');
});

t.test('a PDF is shown by the browser, in a sandbox and nowhere else', async (t) => {
  const page = await anonymous.get(`${B}/blob/main/plan.pdf`);
  t.match(page.body, new RegExp(`<object class="pdf" data="${B}/raw/main/plan\\.pdf" type="application/pdf"`));
  t.match(page.body, /cannot show PDF files in the page[^]*Open document/, 'what a browser without a viewer shows');
  const policy = String(page.headers['content-security-policy']);
  t.match(policy, /^default-src 'none'; script-src 'self';/);
  t.match(policy, /; object-src 'self'; frame-src 'self'$/);
  t.equal((await anonymous.get(`${B}/blob/main/plan.pdf`)).headers['content-security-policy'], policy, 'each time');
  for (const other of ['plan.md', 'long.txt'])
    t.notMatch((await anonymous.get(`${B}/blob/main/${other}`)).headers['content-security-policy'], /object-src/);
  const raw = await anonymous.get(`${B}/raw/main/plan.pdf`);
  t.match(raw.headers, {
    'content-type': 'application/pdf',
    'content-disposition': /^inline/,
    'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'self'",
    'x-content-type-options': 'nosniff',
  });
  t.match((await anonymous.get(`${B}/raw/main/plan.pdf?download=1`)).headers['content-disposition'], /^attachment/);
});
