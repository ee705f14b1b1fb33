import t from 'tap';
import { embedded } from '../../../src/embedded/index.ts';
import { findDocument, listDocuments } from '../../../src/pages/help/documents.ts';
import { helpGroups, helpUrlOf } from '../../../src/pages/app/help-topics.ts';
import { searchDocuments } from '../../../src/pages/help/search-documents.ts';
import { extractMain, startWeb, visitor } from '../../fixtures/web-fixture.ts';

// It renders every page of the documentation: on a busy machine longer than an ordinary file.
t.setTimeout(180_000);

const listed = helpGroups.flatMap(({ names }): readonly string[] => names);

t.test('every page of the documentation is listed once, and pages of the product lead to one', async (t) => {
  t.strictSame([...listed].sort(), embedded.documentNames());
  for (const template of [
    'pulls/pull',
    'issues/issue',
    'runs/run',
    'admin/usage',
    'repository/branch-rules',
    'code/blob',
  ])
    t.ok(['', ...listed].includes(helpUrlOf(template).slice('/help/'.length)), template);
  t.equal(helpUrlOf('pulls/pull'), '/help/pull-requests');
  t.equal(helpUrlOf('code/blob'), '/help');
});

t.test('sections are found by all words of a query, in any case and order', async (t) => {
  const documents = listDocuments(embedded);
  const found = searchDocuments(documents, 'PATTERN  branch');
  t.ok(found.some(({ document }) => document.name === 'branch-rules'));
  for (const { section } of found)
    t.match(`${section.title} ${section.text}`.toLowerCase(), /(?=[^]*pattern)(?=[^]*branch)/);
  t.strictSame(searchDocuments(documents, ' '), []);
  t.strictSame(searchDocuments(documents, 'xylophone quartet'), []);
  const one = { name: 'a', title: 'A', summary: '', source: '', sections: [] };
  const section = (title: string, text: string) => ({ title, anchor: title, text });
  const own = { ...one, sections: [section('Other', 'a queue'), section('The queue', `${'x '.repeat(500)}end`)] };
  t.match(searchDocuments([own], 'queue'), [{ section: { title: 'The queue' } }, { section: { title: 'Other' } }]);
  t.ok(searchDocuments([own], 'end queue')[0]!.excerpt.length < 300);
});

t.test('headings in code are no sections, and markup is no part of titles and texts', async (t) => {
  const source = '# A `b`\n\nSee [the list](x.md). More.\n\n```\n# not one\n```\n\n## One, two\nEnd.\n';
  const document = findDocument({ documentNames: () => ['x'], document: () => source }, 'x');
  t.match(document, { title: 'A b', summary: 'See the list. More. # not one' });
  t.strictSame(
    document?.sections.map(({ title, anchor }) => [title, anchor]),
    [
      ['A b', ''],
      ['One, two', 'one-two'],
    ],
  );
});

t.test('the help is served to anonymous clients, with links inside of it, and nothing else below docs', async (t) => {
  const web = await startWeb(t);
  const anonymous = visitor(web);
  const list = await anonymous.get('/help');
  t.match([list.status, list.body], [200, /href="\/help\/pull-requests"/]);
  t.match((await anonymous.get('/help?q=merge+queue')).body, /href="\/help\/pull-requests#/);
  t.match((await anonymous.get('/help?q=%3Cscript%3Exyz')).body, /Nothing contains “&lt;script&gt;xyz”/);
  const german = await anonymous.get('/help', { 'Accept-Language': 'de' });
  t.match(extractMain(german), /<h1>Hilfe<\/h1>[^]*Die Dokumentation ist auf Englisch/);
  for (const name of embedded.documentNames()) {
    const { status, body } = await anonymous.get(`/help/${name}`);
    t.equal(status, 200, name);
    // A link leads to a page that is there, and to a heading that it has.
    for (const [, to, anchor] of body.matchAll(/href="\/help\/([\w-]+)(?:#([\w-]+))?"/g)) {
      t.ok(listed.includes(to!), `${name} leads to ${to}`);
      const target = findDocument(embedded, to!);
      if (anchor !== undefined)
        t.ok(
          target?.sections.some((section) => section.anchor === anchor),
          `${name} leads to ${to}#${anchor}`,
        );
    }
    t.notMatch(body, /href="[^"]*\.md[#"]/, `${name} leads to no file`);
  }
  for (const name of ['testing', 'nowhere', '..%2Fpackage', 'branch-rules.md', '__proto__'])
    t.equal((await anonymous.get(`/help/${name}`)).status, 404, name);
});
