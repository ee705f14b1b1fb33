import t from 'tap';
import { measureCpuTime, taskMs } from '../../fixtures/thread-cpu.ts';
import { renderMarkdown } from '../../../src/pages/markdown/render-markdown.ts';
import { sizeImages } from '../../../src/pages/markdown/size-images.ts';

const nowhere = { page: () => null, image: () => null };
const render = (source: string): string => renderMarkdown(source, nowhere).trim();

const hostile: string[] = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg onload=alert(1)><a xlink:href="javascript:alert(1)">x</a></svg>',
  '[x](javascript:alert(1))',
  '[x](JaVaScRiPt:alert(1))',
  '<a href="java\nscript:alert(1)">x</a>',
  '<a href="  javascript:alert(1)">x</a>',
  '<a href="&#106;avascript:alert(1)">x</a>',
  '<a href="vbscript:x">x</a><a href="data:text/html,x">x</a><a href="file:///etc/passwd">x</a>',
  '<iframe src="https://evil.example"></iframe><object data=x></object><embed src=x>',
  '<form action="https://evil.example"><input name=password type=password><button>Sign in</button></form>',
  '<style>body{display:none}</style><p style="position:fixed">x</p>',
  '<link rel=stylesheet href=x><meta http-equiv=refresh content="0;url=x"><base href="https://evil.example">',
  '<p id="main" class="top button" name="q" onclick=x data-copy="#x">x</p>',
  '<h2 id="main">x</h2><ul><li id="main">x</li></ul><a href="#x" id="main">x</a><div id="main"><table id="main"></table></div>',
  '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '<template><script>alert(1)</script></template><textarea><script>alert(1)</script></textarea>',
  '<!--><script>alert(1)</script>-->',
  '<video src=x autoplay></video><audio src=x></audio>',
  '<a href="https://x.example" target="_blank" ping="https://evil.example">x</a>',
  '```x" onmouseover="alert(1)\ncode\n```',
  '![a](x "\\" onerror=alert(1)")',
  '<input type="checkbox" autofocus onfocus=alert(1)><input type="image" src="https://evil.example">',
];

t.test('images of other hosts only where the settings allow it, and over https', async (t) => {
  const source =
    '![badge](https://img.example.org/b.svg) ![plain](http://img.example.org/b.png) ![none](//img.example.org/c.png) [![in a link](https://img.example.org/d.svg)](https://ci.example.org)';
  t.notMatch(render(source), /<img/);
  const shown = renderMarkdown(source, { ...nowhere, showsRemoteImages: true });
  t.match(shown, '<img src="https://img.example.org/b.svg" alt="badge" loading="lazy" />');
  t.match(shown, /<a href="https:\/\/ci\.example\.org"[^>]*><img src="https:\/\/img\.example\.org\/d\.svg"/);
  t.equal(shown.match(/<img/g)?.length, 2);
});

t.test('a document keeps its shape', async (t) => {
  t.equal(render('# Title'), '<h2 id="user-content-title">Title</h2>', 'the page has the only h1');
  t.equal(render('###### Deep'), '<h6 id="user-content-deep">Deep</h6>');
  t.match(render('## A\n## A\n## B c!'), /content-a"[^]*content-a-1"[^]*content-b-c"/);
  t.equal(
    render('<h2>Über <b>B</b> &amp; #1</h2>\n\n## A\n\n<h2>A</h2>\n\n<h2 id="own">A</h2>\n\n<h2>!</h2>'),
    [
      '<h3 id="user-content-über-b--1">Über <b>B</b> &amp; #1</h3>',
      '<h3 id="user-content-a">A</h3>',
      '<h3 id="user-content-a-1">A</h3>',
      '<h3 id="user-content-own">A</h3>',
      '<h3>!</h3>',
    ].join('\n'),
    'headings in HTML have an anchor',
  );
  t.match(render('[toc](#b-c)'), '<a href="#user-content-b-c">');
  t.match(
    render('- [x] done\n- [ ] todo\n- plain'),
    /<li class="task"><input type="checkbox" disabled aria-label="done" checked \/> done<\/li>[^]*<li class="task"><input type="checkbox" disabled aria-label="to do" \/> todo<\/li>[^]*<li>plain/,
  );
  t.match(render('- [ ]\ttab'), /<li class="task"><input type="checkbox"/);
  for (const text of ['- [x]done', '- [ ]']) t.notMatch(render(text), /<input/, text);
  t.match(
    render('|a|b|\n|-|-:|\n|1|2|'),
    '<div class="scroll" tabindex="0"><table>\n<thead>\n<tr>\n<th>a</th>\n<th class="align-right">b</th>',
  );
  t.match(
    render('<p align="center">x</p>\n\n<h1 align="center">y</h1>'),
    '<p class="align-center">x</p>\n<h2 id="user-content-y" class="align-center">y</h2>',
  );
  t.match(render('<p align="justify" class="menu">x</p>'), '<p>x</p>');
  t.match(
    render('```ts\nconst a = "<b>"\n```'),
    '<pre tabindex="0"><code class="language-ts">const a = "&lt;b&gt;"\n</code></pre>',
  );
  t.match(
    render('<details><summary>More</summary>\n\n*yes*\n\n</details>'),
    /<details><summary>More<\/summary>\s*<p><em>yes<\/em>/,
  );
  t.match(
    render('https://example.org and config.rs, a@example.org'),
    /^<p><a href="https:\/\/example\.org" rel="nofollow ugc noopener">https:\/\/example\.org<\/a> and config\.rs, a@example\.org<\/p>$/,
  );
  for (const [text, link] of [
    ['see www.example.org.', 'www.example.org'],
    ['(www.example.org/a(b)?c=d&e)', 'www.example.org/a(b)?c=d&amp;e'],
    ['*www.example.org/x*', 'www.example.org/x'],
    ['WWW.example.org:8080/', 'WWW.example.org:8080/'],
  ] as const)
    t.match(render(text), `<a href="http://${link}" rel="nofollow ugc noopener">${link}</a>`, text);
  for (const text of [
    'www.',
    'www. example.org',
    'awww.example.org',
    '`www.example.org`',
    'www',
    'x@www.example.org',
    '"www.example.org',
  ])
    t.notMatch(render(text), '<a ', text);
});

t.test('remote images are links that name their host', async (t) => {
  t.equal(
    render('![Logo](https://img.example.org/x.png)'),
    '<p><a href="https://img.example.org/x.png" rel="nofollow ugc noopener" class="image-label">Logo (img.example.org)</a></p>',
  );
  t.equal(
    render('[![Build](https://img.example.org/x.svg)](https://ci.example.org)'),
    '<p><a href="https://ci.example.org" rel="nofollow ugc noopener"><span class="image-label">Build</span></a></p>',
    'links do not nest',
  );
  t.match(
    render('<a href="https://x.example"><img src="//img.example.org/x.png"></a>'),
    '<span class="image-label">image</span>',
  );
  t.match(render('![](//img.example.org/x.png)'), '>image (img.example.org)</a>');
  t.notMatch(
    render('![x](data:image/png;base64,AAAA) ![y](logo.png) <img srcset="https://x/y 2x" src="z.png">'),
    '<img',
  );
});

t.test('a picture has another image for the dark theme, by the same rules as images', (t) => {
  const links = { page: () => null, image: (path: string) => `/raw/${path}` };
  const picture = (attributes: string, given: Parameters<typeof renderMarkdown>[1] = links): string =>
    /<source[^>]*>/.exec(
      renderMarkdown(`<picture><source ${attributes}><img src="light.png"></picture>`, given),
    )?.[0] ?? '';
  const dark = 'media="(prefers-color-scheme: dark)"';
  for (const [attributes, expected] of [
    [`${dark} srcset="dark.png"`, `<source ${dark} srcset="/raw/dark.png" />`],
    [`${dark} srcset="dark.png 1x, dark@2x.png 2x"`, `<source ${dark} srcset="/raw/dark.png" />`],
    ['srcset="a.webp" type="image/webp"', '<source type="image/webp" srcset="/raw/a.webp" />'],
    ['srcset="a.webp" type="text/html"', '<source srcset="/raw/a.webp" />'],
    ['media="(min-width: 40em)" srcset="wide.png"', '<source media="(min-width: 40em)" srcset="/raw/wide.png" />'],
    ['media="all and (x)" srcset="a.png"', ''],
    ['srcset="data:image/png;base64,AAAA"', ''],
    ['srcset="javascript:alert(1)"', ''],
    ['srcset=""', ''],
    ['src="a.png"', ''],
    [`${dark} srcset="https://img.example.org/dark.png"`, ''],
  ] as const)
    t.equal(picture(attributes), expected, attributes);
  const proxied = { ...links, showsRemoteImages: true, remote: (url: string) => `/proxy?${url}` };
  t.equal(
    picture('srcset="//img.example.org/a.png"', proxied),
    '<source srcset="/proxy?https://img.example.org/a.png" />',
  );
  t.end();
});

t.test('relative links go where the page says, or are text', async (t) => {
  t.equal(render('[manual](docs/manual.md)'), '<p><span>manual</span></p>');
  const links = { page: (path: string) => `/page/${path}`, image: (path: string) => `/raw/${path}` };
  t.equal(renderMarkdown('[m](docs/m.md)', links).trim(), '<p><a href="/page/docs/m.md">m</a></p>');
  t.equal(renderMarkdown('![l](l.png "t")', links).trim(), '<p><img src="/raw/l.png" alt="l" loading="lazy" /></p>');
});

t.test(
  'pictures of the repository have both sides, so that a page does not jump; what the author said stays',
  async (t) => {
    const links = { page: () => null, image: (path: string) => `/raw/${path}` };
    const sized = async (source: string) =>
      (
        await sizeImages(renderMarkdown(source, links), async (address) =>
          address === '/raw/a&b.png' ? { width: 400, height: 300 } : null,
        )
      ).trim();
    const cases: [source: string, attributes: string][] = [
      ['src="a&amp;b.png"', 'src="/raw/a&amp;b.png" alt="" loading="lazy" width="400" height="300"'],
      ['src="a&amp;b.png" width="200"', 'src="/raw/a&amp;b.png" alt="" loading="lazy" width="200" height="150"'],
      ['src="a&amp;b.png" height="30px"', 'src="/raw/a&amp;b.png" alt="" loading="lazy" width="40" height="30"'],
      [
        'src="a&amp;b.png" width="50" height="60"',
        'src="/raw/a&amp;b.png" alt="" loading="lazy" width="50" height="60"',
      ],
      ['src="a&amp;b.png" width="50%"', 'src="/raw/a&amp;b.png" alt="" loading="lazy" width="50%"'],
      [
        'src="a&amp;b.png" width="calc(1px)" height="-4"',
        'src="/raw/a&amp;b.png" alt="" loading="lazy" width="400" height="300"',
      ],
      ['src="gone.png" width="007"', 'src="/raw/gone.png" alt="" loading="lazy" width="7"'],
      [
        'src="gone.png" alt="width=&quot;1&quot; src=&quot;x"',
        'src="/raw/gone.png" alt="width=&quot;1&quot; src=&quot;x" loading="lazy"',
      ],
    ];
    for (const [source, attributes] of cases)
      t.equal(await sized(`<p><img ${source}></p>`), `<p><img ${attributes} /></p>`, source);
    t.match(
      await sized('![x](a&b.png) text ![y](gone.png)'),
      /width="400" height="300" \/> text <img src="\/raw\/gone.png" alt="y" loading="lazy" \/>/,
    );
  },
);

t.test('security C02 nothing that acts survives', async (t) => {
  const allowedTag =
    /^(?:h[2-6]|p|br|hr|a|span|strong|em|b|i|del|s|ins|mark|sub|sup|kbd|samp|var|abbr|q|cite|code|pre|blockquote|div|[uo]l|li|d[ltd]|table|caption|t(?:head|body|foot|r|h|d)|details|summary|input|img)$/;
  for (const source of hostile) {
    const html = render(source);
    for (const [, tag = '', attributes = ''] of html.matchAll(/<\/?([a-z0-9]+)((?:\s[^<>]*)?)>/gi)) {
      if (!allowedTag.test(tag)) t.fail(`${source} → <${tag}>`);
      const names = [...attributes.replace(/"[^"]*"/g, '""').matchAll(/([\w:-]+)(?:=|\s|$)/g)].map(([, name]) => name);
      const foreign = names.filter(
        (name) =>
          !/^(?:href|rel|class|title|src|alt|width|height|loading|type|checked|disabled|start|open|id|tabindex|aria-label)$/.test(
            name ?? '',
          ),
      );
      if (foreign.length > 0) t.fail(`${source} → ${foreign.join()}`);
      if (tag === 'input' && !attributes.includes('type="checkbox"')) t.fail(`${source} → ${attributes}`);
    }
    t.notMatch(html, /<script|javascript:alert\(1\)"|vbscript:|data:text|file:|id="main"|class="top/i, source);
  }
});

t.test('security I08 nothing takes long', async (t) => {
  const traps = [
    '['.repeat(60_000),
    '*a '.repeat(20_000),
    '>'.repeat(60_000),
    '- '.repeat(5_000),
    '<div>'.repeat(12_000),
    '**a*'.repeat(15_000),
    '[a](b'.repeat(12_000),
  ];
  for (const trap of traps) {
    const { cpuMs } = await measureCpuTime(() => render(trap));
    t.ok(cpuMs < taskMs, `${trap.slice(0, 8)}…: ${cpuMs} ms`);
  }
});

t.test('a note that is mentioned twice has two ways back, and no id comes twice', async (t) => {
  const html = render('a[^1] b[^2] c[^1] d[^1]\n\n[^1]: one\n[^2]: two, see[^1]\n');
  const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id!);
  t.equal(new Set(ids).size, ids.length);
  const targets = [...html.matchAll(/href="#([^"]*)"/g)].map(([, id]) => id!);
  t.strictSame(
    targets.filter((id) => !ids.includes(id)),
    [],
    'each link lands',
  );
  t.equal(targets.filter((id) => id.includes('mention-1')).length, 3);
  const many = render(`${'x[^1] '.repeat(500)}\n\n[^1]: one\n`);
  t.ok(many.split('↩').length <= 21);
});
