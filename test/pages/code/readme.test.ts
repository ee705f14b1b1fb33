import t from 'tap';
import { findReadme, maxReadmeBytes, prepareReadme } from '../../../src/pages/code/readme.view.ts';
import type { TreeEntry } from '../../../src/git/index.ts';

const entry = (name: string, kind: TreeEntry['kind'] = 'file'): TreeEntry => ({
  name,
  kind,
  rawName: Buffer.from(name),
  mode: '100644',
  type: kind === 'folder' ? 'tree' : 'blob',
  oid: '0'.repeat(40),
  size: kind === 'folder' ? null : 5,
});

t.test('the README is found in any case, Markdown first, links never followed', async (t) => {
  const find = (...entries: TreeEntry[]) => findReadme(entries)?.name;
  t.equal(find(entry('README'), entry('readme.MD'), entry('README.txt')), 'readme.MD');
  t.equal(find(entry('README'), entry('README.txt')), 'README.txt');
  for (const name of ['README.rst', 'readme.adoc', 'README.org', 'README.textile', 'README.en', 'README.de'])
    t.equal(find(entry(name)), name);
  t.equal(find(entry('README'), entry('README.de'), entry('README.rst')), 'README.rst');
  t.equal(find(entry('README.rst'), entry('README.adoc')), 'README.adoc', 'what is rendered comes first');
  t.equal(find(entry('README.adoc'), entry('README.md')), 'README.md');
  t.equal(find(entry('README.pdf'), entry('README.png'), entry('README.html'), entry('README.PDF')), undefined);
  t.equal(
    find(entry('README.md', 'symlink'), entry('README.md', 'folder'), entry('README.md.bak'), entry('AREADME')),
    undefined,
  );
});

t.test('markup that is not rendered is shown as text, and the page says so', async (t) => {
  const source = { client: '/', showsRemoteImages: false, origin: 'http://localhost' };
  const read = (name: string) =>
    prepareReadme(null as never, entry(name), Buffer.from('Title\n=====\n\n<b>&\n'), source);
  t.match(await read('README.rst'), {
    kind: 'plain',
    view: {
      name: 'README.rst',
      html: null,
      text: 'Title\n=====\n\n<b>&\n',
      note: 'reStructuredText is shown as text.',
    },
  });
  t.match(await read('README.org'), { view: { note: 'Org is shown as text.' } });
  t.match(await read('README.txt'), { view: { note: null } });
  t.match(await prepareReadme(null as never, entry('README.rst'), null, source), { view: { note: null } });
});

t.test('the beginning of a long README is shown, cut behind a line and never inside a character', async (t) => {
  const source = { client: '/', showsRemoteImages: false, origin: 'http://localhost' };
  const read = async (text: string) => {
    const readme = await prepareReadme(null as never, entry('README.txt'), Buffer.from(text), source);
    if (readme.kind !== 'plain') throw new Error('It is no document');
    return readme.view;
  };
  const line = `${'é'.repeat(40)}\n`;
  const lines = await read(line.repeat(4_000));
  t.equal(lines.isCut, true);
  t.match(lines.text, /é\n$/);
  t.ok(Buffer.byteLength(lines.text!) > maxReadmeBytes - 200);
  const one = await read(`x${'é'.repeat(maxReadmeBytes)}`);
  t.match(one.text, /^xé+$/);
  t.ok(Buffer.byteLength(one.text!) <= maxReadmeBytes);
  t.equal((await read('short')).isCut, false);
  t.equal((await read('x'.repeat(maxReadmeBytes))).isCut, false);
});
