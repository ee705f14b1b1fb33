// Notebooks as the worker pool reads and renders them. `run` is the task: pages call it in a thread.
import t from 'tap';
import { parseNotebook } from '../../../src/pages/markdown/parse-notebook.ts';
import type { Output } from '../../../src/pages/markdown/parse-notebook.ts';
import { run } from '../../../src/pages/markdown/notebook-task.ts';
import { plainFills, replacePlaceholders } from '../../../src/pages/markdown/rendered-markdown.ts';
import { png } from '../../fixtures/edge-case-repository.ts';

const base64 = png.toString('base64');
const notebook = (cells: unknown[], rest: object = {}): string =>
  JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells, ...rest });
const code = (outputs: unknown[], source: unknown = 'x'): object => ({
  cell_type: 'code',
  execution_count: 3,
  source,
  outputs,
});
const data = (bundle: object): object => ({ output_type: 'display_data', data: bundle });

/** The outputs of a cell as they are read. */
function outputsOf(...outputs: unknown[]): Output[] {
  const [cell] = parseNotebook(notebook([code(outputs)]))!.cells;
  return cell?.kind === 'code' ? cell.outputs : [];
}

function htmlOf(cells: unknown[], rest?: object): string {
  const parts = run({ source: notebook(cells, rest), showsRemoteImages: false })!;
  return replacePlaceholders(parts, plainFills);
}

t.test('cells are read with their language, counts and limits', async (t) => {
  const read = parseNotebook(
    notebook(
      [
        { cell_type: 'markdown', source: ['# A', '\n', 'b'] },
        { cell_type: 'raw', source: 'r' },
        { cell_type: 'code', execution_count: null, source: 'y', outputs: [] },
        { cell_type: 'unheard of', source: 'z' },
        7,
      ],
      { metadata: { language_info: { name: 'Julia' }, kernelspec: { language: 'python' } } },
    ),
  );
  t.strictSame(read, {
    language: 'julia',
    cells: [
      { kind: 'markdown', source: '# A\nb' },
      { kind: 'raw', source: 'r' },
      { kind: 'code', source: 'y', count: '', outputs: [] },
    ],
    isCut: false,
  });
  t.equal(parseNotebook(notebook([], { metadata: { kernelspec: { language: '"><b>' } } }))!.language, 'python');
  const many = parseNotebook(notebook(Array.from({ length: 1_001 }, () => ({ cell_type: 'raw', source: '' }))))!;
  t.strictSame([many.cells.length, many.isCut], [1_000, true]);
  const large = parseNotebook(notebook([{ cell_type: 'markdown', source: 'x'.repeat(300_000) }, code([])]))!;
  t.strictSame([large.cells.length, large.isCut], [1, true], 'a cell that is too long is left out alone');
});

t.test('short source that becomes long HTML ends with a note, and its size grows no further', async (t) => {
  const cell = { cell_type: 'markdown', source: '- [ ] a\n'.repeat(100) };
  const isCut = (html: string): boolean => html.includes('is longer than what is shown');
  const shown = [100, 300, 1_000].map((count) => htmlOf(Array.from({ length: count }, () => cell)));
  t.strictSame(shown.map(isCut), [false, true, true]);
  t.equal(shown[2]!.length, shown[1]!.length, 'ten times the cells cost no more');
  t.ok(shown[1]!.length < 1_200_000, `${shown[1]!.length} characters`);
  t.notOk(isCut(htmlOf([code([], 'y'.repeat(600_000)), cell])), 'code does not count');
});

t.test('what is no notebook of format 4 is none', async (t) => {
  for (const text of [
    '',
    '{',
    'null',
    '[]',
    '7',
    '{"nbformat":3,"worksheets":[{"cells":[]}]}',
    '{"nbformat":4}',
    '{"nbformat":"4","cells":[]}',
    '{"nbformat":4,"cells":{}}',
    '['.repeat(200_000),
  ])
    t.equal(parseNotebook(text), null, text.slice(0, 40));
});

t.test('of the forms of an output, the one that a page can show', async (t) => {
  const image = { kind: 'image', type: 'image/png', base64 };
  const cases: [title: string, output: unknown, read: Output][] = [
    ['a stream', { output_type: 'stream', text: ['a\n', 'b'] }, { kind: 'text', text: 'a\nb' }],
    [
      'colours of a terminal',
      { output_type: 'stream', text: '\x1b[31;1mred\x1b[0m \x1b]0;title\x07x\x08\x00' },
      { kind: 'text', text: 'red x\ufffd' },
    ],
    [
      'a progress bar',
      { output_type: 'stream', text: '10 %\r50 %\r100 %\r\r\nend\r\n' },
      { kind: 'text', text: '100 %\nend\n' },
    ],
    [
      'an error',
      { output_type: 'error', ename: 'E', evalue: 'v', traceback: ['\x1b[31mTrace', 'E: v'] },
      { kind: 'error', text: 'Trace\nE: v' },
    ],
    ['an error without a trace', { output_type: 'error', ename: 'E', evalue: 'v' }, { kind: 'error', text: 'E: v' }],
    ['a picture before text', data({ 'text/plain': '<Figure>', 'image/png': [base64, '\n'] }), image as Output],
    ['a table before text', data({ 'text/plain': 't', 'text/html': '<table>' }), { kind: 'html', text: '<table>' }],
    ['text before other HTML', data({ 'text/plain': 't', 'text/html': '<b>' }), { kind: 'text', text: 't' }],
    ['HTML alone', data({ 'text/html': '<b>' }), { kind: 'html', text: '<b>' }],
    ['formulas', data({ 'text/plain': 'x', 'text/latex': '$x$' }), { kind: 'markdown', text: '$x$' }],
    [
      'JavaScript',
      data({ 'application/javascript': 'alert(1)' }),
      { kind: 'note', text: 'Output of the type application/javascript is not shown.' },
    ],
    [
      'JavaScript with text',
      data({ 'application/javascript': 'alert(1)', 'text/plain': 't' }),
      { kind: 'text', text: 't' },
    ],
    [
      'SVG',
      data({ 'image/svg+xml': '<svg onload="alert(1)"/>' }),
      { kind: 'note', text: 'Output of the type image/svg+xml is not shown.' },
    ],
    ['nothing', data({}), { kind: 'note', text: 'Output of the type unknown is not shown.' }],
    ['an unknown kind', { output_type: 'x' }, { kind: 'note', text: 'An output of an unknown kind is not shown.' }],
  ];
  for (const [title, output, read] of cases) t.strictSame(outputsOf(output), [read], title);
  for (const [title, fake] of [
    ['HTML as a PNG', Buffer.from('<script>').toString('base64')],
    ['quotes in base64', `${base64}" onerror="alert(1)`],
    ['JPEG as a PNG', '/9j/AAAA'],
    ['an address', 'https://example.org/x.png'],
  ] as const)
    t.strictSame(outputsOf(data({ 'image/png': fake, 'text/plain': 't' })), [{ kind: 'text', text: 't' }], title);
  t.match(outputsOf(data({ 'image/png': base64.replace(/=+$/, '') + 'A'.repeat(3 * 1024 * 1024) })), [
    { kind: 'note', text: 'An image is too large to show here.' },
  ]);
  t.match(outputsOf({ output_type: 'stream', text: 'x'.repeat(40_000) })[0], { text: /x\n… 7232 more characters$/ });
  t.strictSame(outputsOf(...Array.from({ length: 52 }, () => data({ 'text/plain': 't' }))).slice(49), [
    { kind: 'text', text: 't' },
    { kind: 'note', text: '2 more outputs are not shown.' },
  ]);
});

t.test('cells become one document, and none reaches into the next', async (t) => {
  const parts = run({
    source: notebook([
      { cell_type: 'markdown', source: '# Same\n\n```js\na\n```\n\n- [ ] task $x$' },
      code([data({ 'text/plain': '42' })], 'print("b")'),
      { cell_type: 'markdown', source: '# Same\n\n```sh\nc\n```\n\n- [x] done $y$' },
    ]),
    showsRemoteImages: false,
  })!;
  t.strictSame(parts.blocks, [
    { language: 'js', text: 'a\n' },
    { language: 'python', text: 'print("b")' },
    { language: 'sh', text: 'c\n' },
  ]);
  t.strictSame(
    parts.formulas.map(({ tex }) => tex),
    ['x', 'y'],
  );
  t.strictSame(
    parts.tasks.map(({ label }) => label.slice(0, 4)),
    ['task', 'done'],
  );
  t.equal(parts.cellCount, 3);
  const html = replacePlaceholders(parts, {
    ...plainFills,
    code: (index) => `<i>${index}</i>`,
    formula: (index) => `<u>${index}</u>`,
  });
  t.strictSame(
    [...html.matchAll(/<i>(\d)<\/i>/g)].map(([, index]) => index),
    ['0', '1', '2'],
  );
  t.strictSame(
    [...html.matchAll(/<u>(\d)<\/u>/g)].map(([, index]) => index),
    ['0', '1'],
  );
  t.equal(html.match(/id="user-content-same"/g)!.length, 1, 'an anchor is there once');
  t.match(html, />\[3\]</);
  t.match(html, /<code>42<\/code>/);

  const open = htmlOf([
    { cell_type: 'markdown', source: '<div><details><b>open' },
    { cell_type: 'markdown', source: '```\nunclosed' },
    { cell_type: 'markdown', source: 'after' },
    code([data({ 'text/html': '<table><tr><td><div>cell' })]),
    code([data({ 'text/html': '</table></div></div></body>behind' })]),
  ]);
  for (const tag of ['div', 'details', 'b', 'pre', 'code', 'table', 'td', 'p'])
    t.equal(open.match(new RegExp(`<${tag}[ >]`, 'g'))?.length, open.match(new RegExp(`</${tag}>`, 'g'))?.length, tag);
  t.match(open, /<p>after<\/p>/);
});

t.test('SECURITY C02, C03: nothing of a notebook runs', async (t) => {
  const hostile = [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<svg onload=alert(1)></svg>',
    '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
    '<style>body{display:none}</style>',
    '<form action=/logout method=post><button>x</button></form>',
    '<a href="javascript:alert(1)">x</a>',
    '<p id="main" style="position:fixed" class="top" onclick="alert(1)">x</p>',
    '<meta http-equiv=refresh content="0;url=//example.org">',
    '<base href=//example.org>',
    '<object data=x></object><embed src=x><link rel=stylesheet href=x>',
    '<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>',
    '"><script>alert(1)</script>',
    '\0c0\0\0m0\0\0t0\0',
  ];
  const allowed =
    /^(?:a|b|blockquote|br|code|dd|del|details|div|dl|dt|em|h[2-6]|hr|img|input|li|ol|p|pre|span|strong|summary|table|tbody|td|th|thead|tr|ul)$/;
  for (const text of hostile)
    for (const cell of [
      { cell_type: 'markdown', source: text },
      { cell_type: 'raw', source: text },
      code([], text),
      code([{ output_type: 'stream', text }]),
      code([{ output_type: 'error', ename: text, evalue: text }]),
      code([{ output_type: 'error', traceback: [text] }]),
      code([data({ 'text/html': text })]),
      code([data({ 'text/html': `<table><tr><td>${text}` })]),
      code([data({ 'text/markdown': text })]),
      code([data({ 'text/latex': text })]),
      code([data({ 'text/plain': text })]),
      code([data({ [text]: text })]),
      code([{ output_type: text }]),
    ]) {
      const html = htmlOf([cell], { metadata: { language_info: { name: text } } });
      const what = `${text} in ${JSON.stringify(cell).slice(0, 60)}`;
      for (const [tag, name] of html.matchAll(/<([a-z][a-z0-9]*)\b[^>]*>/gi)) {
        t.match(name, allowed, what);
        t.notMatch(tag, /\s(?:on\w+|style|action|srcdoc)\s*=|javascript:|id="(?!user-content-)/i, what);
      }
      t.notOk(html.includes('\0'), 'no mark is left, and none is made');
    }
  t.match(
    htmlOf([code([data({ 'text/html': '<div><script>draw()</script></div>' })])]),
    /needs scripts, which are not run/,
  );
  t.notMatch(
    htmlOf([code([data({ 'text/html': '<table><tr><td>see #7' })])]),
    /<a /,
    'numbers of tables refer to nothing',
  );
});

t.test('SECURITY I05: the time grows with the notebook', async (t) => {
  const before = process.cpuUsage();
  for (const text of [
    'x'.repeat(32_000),
    '\r'.repeat(32_000),
    '\x1b['.repeat(16_000),
    '\x1b]'.repeat(16_000),
    `\x1b[${'1;'.repeat(16_000)}`,
    'a\r'.repeat(16_000),
  ])
    outputsOf(...Array.from({ length: 30 }, () => ({ output_type: 'stream', text })));
  parseNotebook(notebook([code([data({ 'image/png': `${base64}${'A='.repeat(500_000)}` })])]));
  const { user } = process.cpuUsage(before);
  t.ok(user < 2_000_000, `${user} µs`);
});
