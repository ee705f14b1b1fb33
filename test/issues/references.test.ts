import t from 'tap';
import { parseClosing, parseReferences } from '../../src/issues/index.ts';
import type { IssueReference, Reference } from '../../src/issues/index.ts';
import { shownClosing, shownReferences } from '../../src/issues/references/shown-references.ts';
import { defaultIssueSettings } from '../../src/issues/settings.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { shownTexts } from '../fixtures/shown-texts.ts';

const deps = { shownTexts, settings: { ...defaultIssueSettings, baseUrl: 'https://git.example.org' } };

/** References in short: `#7`, `alice/roof#7`, `@bob`, `=0a1b2c3`. */
const inShort = (references: readonly Reference[]): string[] =>
  references.map((reference) => {
    if (reference.kind === 'person') return `@${reference.handle}`;
    if (reference.kind === 'team') return `@${reference.organisation}/${reference.team}`;
    const at = reference.repository === null ? '' : `${reference.repository.owner}/${reference.repository.name}`;
    return reference.kind === 'issue' ? `${at}#${reference.number}` : `${at}=${reference.oid}`;
  });
const found = async (...texts: string[]): Promise<string[]> => inShort(await shownReferences(deps, texts));
const closedIn = (issues: readonly IssueReference[]): string[] =>
  issues.map(({ repository, number }) =>
    repository === null ? `#${number}` : `${repository.owner}/${repository.name}#${number}`,
  );
const closedBy = async (text: string): Promise<string[]> => closedIn(await shownClosing(deps, [text]));

const table: [text: string, ...references: string[]][] = [
  ['See #7.', '#7'],
  ['(#7), #8; and alice/roof#9!', '#7', '#8', 'alice/roof#9'],
  ['alice/my.roof-2_x#9', 'alice/my.roof-2_x#9'],
  ['x#7 C#7 #7x &#7; https://example.org/a/b#7 #0 #07'],
  ['# 7 and ##7'],
  ['@alice, @Bob-2: look', '@alice', '@Bob-2'],
  ['@acme/reviewers, @acme/a.b and @acme/x/y @acme/x#7 @acme/', '@acme/reviewers', '@acme/a.b'],
  ['@bob.smith. @bob- and @alice.b@example.org', '@bob.smith', '@bob'],
  ['alice@example.org @alice@example.org /@alice @-a'],
  ['`#7` and ``a ` #8`` and #9', '#9'],
  ['```\n#7 @alice\n```\n#8', '#8'],
  ['~~~ js\n#7\n```\n#6\n~~~\n#8', '#8'],
  ['- ```\n  #7\n  ```\n#8', '#8'],
  ['````\n```\n#7\n````\n#8', '#8'],
  ['```\n#7 never closed'],
  ['a ` b #7', '#7'],
  ['a ` b\n\n` #7', '#7'],
  ['<!-- #7 @alice --> #8', '#8'],
  ['#8 <!-- #7', '#8', '#7'],
  ['https://git.example.org/repos/alice/roof/issues/7 @bob', 'alice/roof#7', '@bob'],
  ['`https://git.example.org/repos/alice/roof/issues/7`'],
  ['a `<!--` #7', '#7'],
  ['#7\r\n#8', '#7', '#8'],
];

t.test('references of Markdown text, outside of code', async (t) => {
  for (const [text, ...references] of table) t.same(await found(text), references, JSON.stringify(text));
  t.same(await found('```\n#7', '#8', '', '@bob'), ['#8', '@bob'], 'a document does not reach into the next one');
  t.same(inShort(parseReferences('`#7`')), ['#7'], 'a commit message has no code');
  for (const [text, ...references] of [
    ['0a1b2c3 fixes it', '=0a1b2c3'],
    ['alice/roof@0a1b2c3d', 'alice/roof=0a1b2c3d'],
    ['defaced 1234567 0a1b2c 0a1b2c3g https://example.org/commit/0a1b2c3'],
  ])
    t.same(inShort(parseReferences(text!)), references, text!);
  const [first] = parseReferences('See #77.');
  t.equal('See #77.'.slice(first!.start, first!.end), '#77', 'with its place');
});

t.test('what a commit message closes', async (t) => {
  const closed = (message: string) => closedIn(parseClosing(message));
  t.same(closed('Closes #7, fixes: #8 and resolved alice/roof#9'), ['#7', '#8', 'alice/roof#9']);
  t.same(closed('close #1 closed #2 fix #3 fixed #4 resolve #5 RESOLVES #6'), ['#1', '#2', '#3', '#4', '#5', '#6']);
  t.same(closed('closes #7 closes #7'), ['#7'], 'each once');
  t.same(closed('discloses #7, prefix #8, un-fixes #9, fixing #10, closes 7, fixes\n#8, see #9'), []);
});

t.test('only what a reader sees as text closes, mentions and refers', async (t) => {
  const hidden = (text: string): string[] => [
    `\`${text}\``,
    `\`\`\`\n${text}\n\`\`\``,
    `~~~ md\n${text}\n~~~`,
    `<!-- e.g. ${text} -->`,
    `<code>${text}</code>`,
    `<pre>\n\n${text}\n\n</pre>`,
    `<KBD class="x">${text}</KBD>`,
    `<samp>a <code>b</code> ${text}</samp>`,
    `    ${text}`,
    `Example:\n\n\t${text}\n\n    more`,
    `[${text}](https://example.org)`,
    `[a](b "${text}")`,
    `[ref]: https://example.org "${text}"`,
    `<a title="${text}">a</a>`,
    `![${text}](a.png)`,
    `- a\n\n      ${text}`,
    `> - a\n>\n>       ${text}`,
    `1. \`\`\`\n   ${text}\n   \`\`\``,
    `<details><summary>a</summary>\n\n~~~\n${text}\n~~~\n\n</details>`,
    `| a |\n|---|\n| \`${text}\` |`,
    `<div hidden>\n<!--\n${text}\n-->\n</div>`,
    `[${text}][ref]\n\n[ref]: https://example.org`,
    `<a href="https://example.org">${text}</a>`,
    `<script>${text}</script>`,
    `<style>/* ${text} */</style>`,
    `$\`${text}\`$`,
  ];
  const seen = (text: string): string[] => [
    text,
    `> ${text}`,
    `- a\n\n  ${text}`,
    `- a\n\n     ${text}`,
    `Text\n    ${text}`,
    `<b>${text}</b>`,
    `<code>a</code> ${text}`,
    `<code>a\n\n${text}`,
    `**${text}**`,
    `\`a ${text}`,
    `a < b ${text}`,
    `[a](b) ${text}`,
    `| a |\n|---|\n| ${text} |`,
    `# ${text}`,
    `<details><summary>a</summary>\n\n${text}\n\n</details>`,
    `a[^1]\n\n[^1]: ${text}`,
    `- [ ] ${text}`,
    `> [!NOTE]\n> ${text}`,
    `\`\`\`a\`\`\` ${text}`,
    `\\\`${text}\\\``,
  ];
  for (const text of hidden('closes #7')) {
    t.same(await closedBy(text), [], JSON.stringify(text));
    t.equal(parseClosing(text).length, 1, `a commit message has no code: ${JSON.stringify(text)}`);
  }
  for (const text of hidden('@bob #1')) t.same(await found(text), [], JSON.stringify(text));
  for (const text of seen('closes #7')) t.same(await closedBy(text), ['#7'], JSON.stringify(text));
  for (const text of seen('@bob #1')) t.same(await found(text), ['@bob', '#1'], JSON.stringify(text));
});

t.test('a plain line names what its rendered form names, without being rendered', async (t) => {
  const random = seededRandom(7);
  const parts = [
    '@bob',
    '#1',
    'alice/roof#2',
    '@acme/reviewers',
    'closes #3',
    'Grüße',
    '- ',
    '# ',
    '1. ',
    ' ',
    ', ',
    '(',
    ')',
    '!',
    '    ',
  ];
  const never = { ...deps, shownTexts: () => Promise.reject(new Error('rendered')) };
  let plain = 0;
  for (let round = 0; round < 500; round += 1) {
    const bytes = random.bytes(6);
    const text = [...bytes].map((byte) => parts[byte % parts.length]).join('');
    const withoutRendering = await shownReferences(never, [text]).catch(() => null);
    if (withoutRendering === null) continue;
    plain += 1;
    const rendered = (await shownTexts(text)).flatMap(parseReferences);
    t.strictSame(inShort(withoutRendering), inShort(rendered), JSON.stringify(text));
  }
  t.ok(plain > 300, `${plain} of 500 were plain`);
  for (const text of ['`@bob`', '    @bob', '@bob\n', '<b>@bob</b>', '[@bob](a)', '*@bob*', 'a: @bob'])
    await t.rejects(shownReferences(never, [text]), { message: 'rendered' }, text);
});

t.test('a text made to hurt is read in less than 100 ms, and no more than 500 references of it', async (t) => {
  const size = 65_536;
  const fill = (chunk: string) => chunk.repeat(Math.ceil(size / chunk.length)).slice(0, size);
  const runs = Array.from({ length: 360 }, (_, at) => '`'.repeat(at + 1)).join(' ');
  const chunks = [
    '#1 ',
    '@a ',
    'a',
    'a/',
    'a/a',
    '`',
    '` ',
    '``` ',
    '<!--',
    '<!-- `',
    '0a1',
    'fixes ',
    'fixes a/',
    '\n',
    '\n>',
    '🧨#1',
    '-',
    '`\n\n',
    '<code>',
    '<code>\n\n',
    '</code><code>',
    '<a ',
    '[a](',
    '[](b ',
    '![[',
    '    a\n\n',
  ];
  for (const text of [...chunks.map(fill), runs]) {
    const startedAt = process.cpuUsage();
    const references = parseReferences(text);
    parseClosing(text);
    const { user, system } = process.cpuUsage(startedAt);
    t.ok((user + system) / 1000 < 100, `${JSON.stringify(text.slice(0, 12))}: ${(user + system) / 1000} ms`);
    t.ok(references.length <= 500);
  }
  t.equal(parseReferences(fill('#1 ')).length, 500);
  t.ok(parseClosing(fill('closes #1 closes a/b#2 ')).length === 2);
});
