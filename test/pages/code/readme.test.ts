import t from 'tap';
import { findReadme } from '../../../src/pages/code/readme.view.ts';
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
  t.equal(
    find(entry('README.md', 'symlink'), entry('README.md', 'folder'), entry('README.md.bak'), entry('AREADME')),
    undefined,
  );
});
