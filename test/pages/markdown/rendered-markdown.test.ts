// What is put into a document after the cleaner: code, formulas, task boxes, references, short codes.
import t from 'tap';
import { measureCpuTime, taskMs } from '../../fixtures/thread-cpu.ts';
import { run as highlightBlocks } from '../../../src/highlighting/highlight-blocks-task.ts';
import { noReferences } from '../../../src/pages/markdown/reference-links.ts';
import type { ReferenceLinks } from '../../../src/pages/markdown/reference-links.ts';
import { linkText, shortenInstanceUrls, viewLinkedText } from '../../../src/pages/markdown/linked-text.ts';
import { parseReferences } from '../../../src/issues/index.ts';
import { placeholders } from '../../../src/pages/markdown/link-placeholders.ts';
import { cleanMathMl, run as renderMaths } from '../../../src/pages/markdown/math-task.ts';
import {
  replacePlaceholders,
  plainFills,
  taskButton,
  taskFormHtml,
} from '../../../src/pages/markdown/rendered-markdown.ts';
import { renderMarkdown, renderParts } from '../../../src/pages/markdown/render-markdown.ts';

const nowhere = { page: () => null, image: () => null };
const partsOf = (source: string) => renderParts(source, nowhere);
const render = (source: string): string => renderMarkdown(source, nowhere).trim();

/** Every issue is there, and everyone is called alice. */
const links: ReferenceLinks = {
  ...noReferences,
  of: (reference) =>
    reference.kind === 'issue'
      ? { url: `/issues/${reference.number}`, title: 'Open: <a "b">', name: `#${reference.number}` }
      : reference.kind === 'person' && reference.handle === 'alice'
        ? { url: '/users/alice', title: null, name: '@alice' }
        : null,
};
const linked = (source: string): string =>
  replacePlaceholders(partsOf(source), {
    ...plainFills,
    text: (text) => linkText(text, parseReferences(text), links),
  }).trim();

t.test('formulas as other forges write them; prices and variables are text', async (t) => {
  const formulasOf = (source: string) =>
    partsOf(source).formulas.map(({ tex, isDisplay }) => (isDisplay ? `[${tex}]` : tex));
  const cases: [source: string, formulas: string[]][] = [
    ['$x^2$', ['x^2']],
    ['a $`x|y`$ b', ['x|y']],
    ['$$x$$', ['[x]']],
    ['text $$x$$ text', ['[x]']],
    ['$$\nx\ny\n$$', ['[x\ny]']],
    ['```math\nx\n```', ['[x]']],
    ['> $$\n> x\n> $$', ['[x]']],
    ['- $$\n  x\n  $$', ['[x]']],
    ['($x$), $y$.', ['x', 'y']],
    ['$5 and $10', []],
    ['$5-$10 US$5 5$ $ 5$', []],
    ['$HOME/bin:$PATH', []],
    ['`$x$` <code>$x$</code>', ['x']],
    ['\\$x\\$ $x\\$', []],
    ['$$', []],
    ['$$\n\n$$', []],
    ['$$\nx\n\ny\n$$', []],
    ['    $$x$$', []],
  ];
  for (const [source, formulas] of cases) t.strictSame(formulasOf(source), formulas, JSON.stringify(source));
  t.match(render('$x<y$'), '<p><code class="formula">$x&lt;y$</code></p>', 'its source where it is not rendered');
});

t.test('MathML is clean whatever the formula says', async (t) => {
  const one = (tex: string) => renderMaths({ formulas: [{ tex, isDisplay: false }] })[0];
  t.match(one('\\frac{a}{b}'), '<math><mfrac><mi>a</mi><mi>b</mi></mfrac></math>');
  t.match(one('\\color{red}x'), '<mi mathcolor="#ff0000">x</mi>');
  t.equal(one('\\nothing'), null);
  t.equal(one('\\def\\a{\\a\\a}\\a'), null, 'endless macros');
  t.equal(one('\\href{javascript:alert(1)}{x}'), null);
  t.equal(one('\\includegraphics{https://x.example/a.png}'), null);
  t.equal(one('\\class{site-header}{x}'), null);
  for (const hostile of [
    '\\text{<img src=x onerror=alert(1)>}',
    '</math><script>alert(1)</script>',
    '\\text{</mtext><style>}',
    '\\unicode{x3c}script',
    '\\char"3C',
    '\\tag{<b>}x',
    '\\url{https://x.example}',
    '\\style{color:red}{x}',
    '\\data{a=b}{x}',
    '\\id{main}{x}',
  ]) {
    const html = one(hostile) ?? '';
    for (const [tag] of html.matchAll(/<[^>]*>/g))
      t.notMatch(tag, /^<(?!\/?m)|on\w+=|href|style=|id=|src=|data-/i, hostile);
  }
  t.equal(
    cleanMathMl(
      '<math onclick="x"><annotation-xml encoding="text/html"><img src=x></annotation-xml><maction actiontype="statusline" xlink:href="x"><mi href="javascript:x" style="color:blue" class="top">x</mi></maction><mglyph src="x"/></math>',
    ),
    '<math><mi mathcolor="blue">x</mi></math>',
  );
  const many = renderMaths({ formulas: Array.from({ length: 10_000 }, () => ({ tex: 'x^2', isDisplay: false })) });
  t.equal(many.filter((each) => each !== null).length, 300, 'the rest is not rendered');
});

t.test('MathML and marks that a document writes itself are nothing', async (t) => {
  t.equal(render('<math><mi>x</mi></math>'), '<p>x</p>');
  t.notMatch(render('\0c0\0 &#0;m0&#0; \ufffdt0\ufffd'), /undefined|<input|\0/);
  t.match(partsOf('\0t0\0 &#0;t0&#0;').tasks, []);
  t.equal(partsOf('`\0c0\0`').html.includes('\0'), false);
});

t.test('short codes are emoji outside of code', async (t) => {
  t.equal(render(':tada: :+1: **:rocket:**'), '<p>🎉 👍 <strong>🚀</strong></p>');
  t.equal(
    render('`:tada:` :nope: 12:30:45 a:tada: :constructor: ::'),
    '<p><code>:tada:</code> :nope: 12:30:45 a:tada: :constructor: ::</p>',
  );
  t.match(render('[:tada:](https://x.example)'), />🎉<\/a>/);
  t.match(render('```\n:tada:\n```'), ':tada:');
  t.match(render('# Party :tada:'), /id="user-content-party-tada">Party 🎉</);
});

t.test('references are links outside of links and code', async (t) => {
  const seven = '<a href="/issues/7" class="reference" title="Open: &lt;a &quot;b&quot;&gt;">#7</a>';
  t.equal(
    linked('see #7, @alice & @bob'),
    `<p>see ${seven}, <a href="/users/alice" class="reference">@alice</a> &amp; @bob</p>`,
  );
  t.match(linked('# #7'), seven);
  t.match(linked('| #7 |\n|-|\n| #7 |'), seven);
  t.match(linked('<div>#7</div>'), seven);
  for (const source of [
    '`#7`',
    '```\n#7\n```',
    '    #7',
    '<pre>#7</pre>',
    '<code>#7</code>',
    '[#7](https://x.example)',
    '<a href="https://x.example">a <b>#7</b></a>',
    'a#7',
    'https://x.example/#7',
    '![#7](x)',
    '![#7](https://x.example/a.png)',
    '`` ` `` <code>![#7](https://x.example/a.png)</code>',
  ])
    t.notMatch(linked(source), 'class="reference"', source);
  t.notMatch(linked('![#7](https://x.example/a.png) <code>![a](b)</code>'), '\0');
  t.match(linked('<kbd>#</kbd>7'), '<kbd>#</kbd>7');
  t.strictSame(viewLinkedText('Fix #7: a', links), [
    { text: 'Fix ', url: null, title: null },
    { text: '#7', url: '/issues/7', title: 'Open: <a "b">' },
    { text: ': a', url: null, title: null },
  ]);
  t.equal(viewLinkedText('Fix nothing', links), null);
  const own = 'https://git.example.org';
  const shown = (text: string) => viewLinkedText(text, { ...links, origin: own })?.map(({ text, url }) => [text, url]);
  t.strictSame(shown(`See ${own}/repos/alice/roof/issues/7#e2, #8.`), [
    ['See ', null],
    ['#7 (comment)', '/issues/7#e2'],
    [', ', null],
    ['#8', '/issues/8'],
    ['.', null],
  ]);
  t.equal(shown(`${own}.example/repos/alice/roof/issues/7 ${own}/repos/alice/roof/issues/7/x`), undefined);
});

t.test('full addresses of this server are shortened, those of others are not', async (t) => {
  const own = 'https://git.example.org';
  const shown = (source: string) => shortenInstanceUrls(render(source), own, links);
  t.match(
    shown(`${own}/repos/alice/roof/issues/7#e3`),
    /<a href="\/issues\/7#e3" class="reference" [^>]*>#7 \(comment\)<\/a>/,
  );
  for (const source of [
    `${own}.example/repos/alice/roof/issues/7`,
    `${own}/repos/alice/roof/issues/7/edit`,
    `[text](${own}/repos/alice/roof/issues/7)`,
    `${own}/repos/alice/roof/commit/abcdef0`,
  ])
    t.notMatch(shown(source), 'class="reference"', source);
});

t.test('task boxes are buttons of one form; their line is that of the source', async (t) => {
  const source = 'a\n\n- [ ] one "1"\n- [x] two\n\n  - [ ] three\n\n> - [ ] four\n';
  const parts = partsOf(source);
  t.strictSame(
    parts.tasks.map(({ line, isChecked }) => [line, isChecked]),
    [
      [2, false],
      [3, true],
      [5, false],
      [7, false],
    ],
  );
  for (const { line } of parts.tasks) t.match(source.split('\n')[line], /\[[ x]\]/);
  const form = { action: '/x?a&b', position: 4, revision: 2 };
  t.match(taskFormHtml(form), /action="\/x\?a&amp;b"[^]*name="position" value="4"[^]*name="revision" value="2"/);
  t.match(
    taskButton(form, parts.tasks[0]!),
    /form="tasks-4" name="line" value="2" role="checkbox" aria-checked="false" aria-label="one &quot;1&quot;"/,
  );
});

t.test(
  'code is highlighted by name, alias or ending; an unknown language and what is too long are plain',
  async (t) => {
    const blocks = [
      'ts',
      'typescript',
      'Console'.toLowerCase(),
      'c++',
      'nope',
      '',
      'mermaid',
      '__proto__',
      'x'.repeat(100),
    ].map((language) => ({ language, text: 'const a = "<b>";' }));
    const shown = await highlightBlocks({ blocks });
    t.strictSame(
      shown.map((each) => each !== null),
      [true, true, true, true, false, false, false, false, false],
    );
    t.match(shown[0], '<span class="x-keyword">const</span>');
    t.notMatch(shown.join(''), '<b>');
    t.strictSame(await highlightBlocks({ blocks: [{ language: 'ts', text: 'a\n'.repeat(50_000) }] }), [null]);
  },
);

t.test('what is made to hurt is rendered in time', async (t) => {
  const hostile: Record<string, string> = {
    dollars: '$'.repeat(1 << 20),
    'unclosed formulas': '$a '.repeat(40_000),
    'unclosed ticks': '$`a'.repeat(40_000),
    'display formulas': '$$a\n'.repeat(30_000),
    'formulas in lists': '- $$a\n'.repeat(20_000),
    references: '#7 '.repeat(10_000),
    handles: '@a'.repeat(60_000),
    'hex digits': 'deadbeef'.repeat(15_000),
    'nested fences': Array.from({ length: 500 }, (_, at) => '`'.repeat(500 - at)).join('a\n'),
    'short codes': ':a'.repeat(60_000),
    images: '![](https://x.example/a.png) '.repeat(10_000),
    boxes: '- [ ] a\n'.repeat(15_000),
  };
  for (const [name, source] of Object.entries(hostile)) {
    const { result, cpuMs } = await measureCpuTime(() =>
      renderParts(source, { ...placeholders, showsRemoteImages: true }),
    );
    const { html } = result;
    // Threads that share a core and its caches with others take more than twice the CPU time.
    t.ok(cpuMs < 4 * taskMs, `${name}: ${cpuMs} ms`);
    t.ok(html.length < 30 * source.length + 1_000, name);
  }
  const images = renderParts(hostile['images']!, { ...placeholders, showsRemoteImages: true }).html;
  t.equal(images.match(/<img/g)?.length, 200, 'those behind are links');
});
