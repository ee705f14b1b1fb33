// AsciiDoc as the pages of files and READMEs show it: constructs with their HTML, and what a hostile document tries.
import t from 'tap';
import { renderAsciidoc } from '../../../src/pages/markdown/render-asciidoc.ts';
import { plainFills, replacePlaceholders } from '../../../src/pages/markdown/rendered-markdown.ts';

const links = {
  page: (path: string) => `/page/${path}`,
  image: (path: string) => (path.startsWith('..') ? null : `/image/${path}`),
};
const remote = 'rel="nofollow ugc noopener"';

/** Without the elements that only group, so that a case says what it is about. */
async function render(source: string): Promise<string> {
  const html = replacePlaceholders(await renderAsciidoc(source, links), plainFills);
  return html
    .replace(/<\/?div>/g, '')
    .replace(/\n+/g, '\n')
    .trim();
}

const lines = (...parts: string[]): string => parts.join('\n');

const constructs: [what: string, source: string, html: string][] = [
  ['a paragraph', 'One\nline', '<p>One\nline</p>'],
  ['the title of the document', '= Tools\n\nText', lines('<h2 id="user-content-tools">Tools</h2>', '<p>Text</p>')],
  ['a section', '== Usage notes', '<h3 id="user-content-usage-notes">Usage notes</h3>'],
  [
    'sections of two levels',
    '== A\n\n=== B',
    lines('<h3 id="user-content-a">A</h3>', '<h4 id="user-content-b">B</h4>'),
  ],
  [
    'two sections of one name',
    '== A\n\n== A',
    lines('<h3 id="user-content-a">A</h3>', '<h3 id="user-content-a-2">A</h3>'),
  ],
  ['an id of the author', '[#start]\n== A', '<h3 id="user-content-start">A</h3>'],
  ['strong text', 'a *b* c', '<p>a <strong>b</strong> c</p>'],
  ['strong text in a word', 'a**b**c', '<p>a<strong>b</strong>c</p>'],
  ['emphasis', 'a _b_ c', '<p>a <em>b</em> c</p>'],
  ['code in a line', 'a `b < c` d', '<p>a <code>b &lt; c</code> d</p>'],
  ['marked text', '#a#', '<p><mark>a</mark></p>'],
  ['text above and below the line', 'H~2~O x^2^', '<p>H<sub>2</sub>O x<sup>2</sup></p>'],
  ['a line break', 'a +\nb', '<p>a<br />\nb</p>'],
  ['typographic quotes and signs', '"`a`" (C) ->', '<p>“a” © →</p>'],
  ['a list', '* a\n* b', lines('<ul>', '<li>', '<p>a</p>', '</li>', '<li>', '<p>b</p>', '</li>', '</ul>')],
  [
    'a list in a list',
    '* a\n** b',
    lines('<ul>', '<li>', '<p>a</p>', '<ul>', '<li>', '<p>b</p>', '</li>', '</ul>', '</li>', '</ul>'),
  ],
  ['a numbered list', '. a\n. b', lines('<ol>', '<li>', '<p>a</p>', '</li>', '<li>', '<p>b</p>', '</li>', '</ol>')],
  ['a numbered list from four', '[start=4]\n. a', lines('<ol start="4">', '<li>', '<p>a</p>', '</li>', '</ol>')],
  [
    'a check list',
    '* [x] a\n* [ ] b',
    lines('<ul>', '<li>', '<p>✓ a</p>', '</li>', '<li>', '<p>❏ b</p>', '</li>', '</ul>'),
  ],
  ['a list of terms', 'a:: b', lines('<dl>', '<dt>a</dt>', '<dd>', '<p>b</p>', '</dd>', '</dl>')],
  ['a block of code', '[source,js]\n----\na < b\n----', '<pre tabindex="0"><code>a &lt; b</code></pre>'],
  [
    'a block of code with a title',
    '.One\n[source,js]\n----\na\n----',
    '<p><strong>One</strong></p><pre tabindex="0"><code>a</code></pre>',
  ],
  ['a fence as in Markdown', '```js\na\n```', '<pre tabindex="0"><code>a</code></pre>'],
  ['a literal block', '....\na *b*\n....', '<pre tabindex="0">a *b*</pre>'],
  ['an indented line', ' a *b*', '<pre tabindex="0">a *b*</pre>'],
  ['a quotation', '____\na\n____', lines('<blockquote>', '<p>a</p>', '</blockquote>')],
  [
    'a note in a line',
    'NOTE: a *b*',
    '<blockquote class="alert-note"><p><strong>Note</strong></p><p>a <strong>b</strong></p></blockquote>',
  ],
  [
    'a warning of paragraphs',
    '[WARNING]\n====\na\n\nb\n====',
    lines('<blockquote class="alert-warning"><p><strong>Warning</strong></p>', '<p>a</p>', '<p>b</p>', '</blockquote>'),
  ],
  ['an example with a title', '.One\n====\na\n====', lines('<p><strong>Example 1. One</strong></p>', '<p>a</p>')],
  ['a sidebar', '****\na\n****', '<p>a</p>'],
  ['a rule', "a\n\n'''\n\nb", lines('<p>a</p>', '<hr />', '<p>b</p>')],
  [
    'a table',
    '|===\n|a |b\n\n|1 |2\n|===',
    lines(
      '<div class="scroll" tabindex="0"><table>',
      '<thead>',
      '<tr>',
      '<th>a</th>',
      '<th>b</th>',
      '</tr>',
      '</thead>',
      '<tbody>',
      '<tr>',
      '<td><p>1</p></td>',
      '<td><p>2</p></td>',
      '</tr>',
      '</tbody>',
      '</table>',
    ),
  ],
  [
    'a cell over two columns',
    '|===\n|a |b\n2+|c\n|===',
    lines(
      '<div class="scroll" tabindex="0"><table>',
      '<tbody>',
      '<tr>',
      '<td><p>a</p></td>',
      '<td><p>b</p></td>',
      '</tr>',
      '<tr>',
      '<td colspan="2"><p>c</p></td>',
      '</tr>',
      '</tbody>',
      '</table>',
    ),
  ],
  ['an address', 'https://example.org', `<p><a href="https://example.org" ${remote}>https://example.org</a></p>`],
  ['an address with a text', 'https://example.org[a]', `<p><a href="https://example.org" ${remote}>a</a></p>`],
  ['a link to a file', 'link:docs/a.adoc[a]', '<p><a href="/page/docs/a.adoc">a</a></p>'],
  ['a reference to another document', 'xref:docs/a.adoc#b[a]', '<p><a href="/page/docs/a.adoc#b">a</a></p>'],
  [
    'a reference to a section',
    '== A b\n\n<<A b>>',
    lines('<h3 id="user-content-a-b">A b</h3>', '<p><a href="#user-content-a-b">A b</a></p>'),
  ],
  ['a mail address', 'alice@example.org', `<p><a href="mailto:alice@example.org" ${remote}>alice@example.org</a></p>`],
  ['an image', 'image::a.png[A]', '<img src="/image/a.png" alt="A" loading="lazy" />'],
  [
    'an image in a line, with its width',
    'image:a.png[A,20]',
    '<p><span><img src="/image/a.png" alt="A" loading="lazy" width="20" /></span></p>',
  ],
  ['a folder of images', ':imagesdir: img\n\nimage::a.png[A]', '<img src="/image/img/a.png" alt="A" loading="lazy" />'],
  ['an attribute', ':v: 1.2\n\nVersion {v}', '<p>Version 1.2</p>'],
  ['a condition', ':v: 1\n\nifdef::v[a]\nifndef::v[b]', '<p>a</p>'],
  ['a comment', '// a\n\nb', '<p>b</p>'],
  ['a formula', 'latexmath:[x < 1]', '<p><code class="formula">$x &lt; 1$</code></p>'],
  ['a formula in AsciiMath', 'stem:[x]', '<p><code>x</code></p>'],
  ['a key', ':experimental:\n\nkbd:[Esc]', '<p><kbd>Esc</kbd></p>'],
  [
    'HTML of the author',
    '++++\n<details><summary>a</summary>b</details>\n++++',
    '<details><summary>a</summary>b</details>',
  ],
  [
    'a footnote',
    'a footnote:[b]',
    lines(
      '<p>a <sup>[<a href="#user-content-_footnotedef_1" id="user-content-_footnoteref_1">1</a>]</sup></p>',
      '<div id="user-content-footnotes">',
      '<hr />',
      '<div id="user-content-_footnotedef_1">',
      '<a href="#user-content-_footnoteref_1">1</a>. b',
    ),
  ],
];

t.test(`${constructs.length} constructs`, async (t) => {
  for (const [what, source, html] of constructs) t.equal(await render(source), html, what);
});

const hostile: [what: string, source: string, forbidden: RegExp][] = [
  ['a script', '+++<script>alert(1)</script>+++\n\n++++\n<script>alert(1)</script>\n++++', /script|alert/],
  ['an event handler', '++++\n<img src=x onerror=alert(1)>\n++++', /onerror/],
  ['the address of a script', 'link:javascript:alert(1)[a]', /javascript/],
  ['a frame', '++++\n<iframe src="https://example.org"></iframe>\n++++\n\nvideo::a[youtube]', /iframe/],
  ['a style', '++++\n<p style="position:fixed">a</p><style>p{}</style>\n++++', /style|position/],
  ['a form', '++++\n<form action="/"><button>a</button></form>\n++++', /form|button/],
  ['an id of the page', '[#header]\n== A', /id="header"/],
  ['a file of the server', 'include::/etc/hostname[]\n\ninclude::../../etc/passwd[]', /localhost|root:/],
  ['a file in the place of an image', ':data-uri:\n\nimage::/etc/hostname[a]', /data:/],
  ['a placeholder of ours', 'a \0c0\0 \0r<b>\0', /\0|<b>/],
];

t.test('nothing of a hostile document reaches a page', async (t) => {
  for (const [what, source, forbidden] of hostile) t.notMatch(await render(source), forbidden, what);
});

t.test('a document learns nothing of the server', async (t) => {
  const html = await render('{docdir} {user-home} {env-home} {docfile}');
  t.notOk(html.includes(process.cwd()), html);
});

t.test('code keeps its language for the highlighter, and its text', async (t) => {
  const { blocks, formulas } = await renderAsciidoc(
    '[source,TypeScript]\n----\nlet a = "<b>" & 1;\n----\n\n[latexmath]\n++++\na < b\n++++',
    links,
  );
  t.strictSame(blocks, [{ language: 'typescript', text: 'let a = "<b>" & 1;' }]);
  t.strictSame(formulas, [{ tex: 'a < b', isDisplay: true }]);
});
