import t from 'tap';
import { viewFileTable } from '../../../src/pages/code/file-table.view.ts';
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

t.test('files are listed folders first, with names that cannot lie', async (t) => {
  const entries = [
    entry('a'),
    entry('b', 'folder'),
    entry('c', 'symlink'),
    entry('d', 'submodule'),
    entry('\u202egpj.exe'),
    entry('x\ny\u001b[31m'),
  ];
  const at = { kind: 'branch', ref: 'main', name: 'main', oid: '', file: Buffer.alloc(0), isAmbiguous: false } as const;
  const context = { repositoryUrl: '/repos/a/b', at, last: { rows: new Map(), isComplete: true }, now: 0 };
  const { rows, cut } = viewFileTable({ oid: '', entries, truncated: false }, context);
  t.same(
    rows.map(({ name }) => name),
    ['b', 'd', 'a', 'c', '\ufffdgpj.exe', 'x\ufffdy\ufffd[31m'],
  );
  t.same(
    rows.map(({ size }) => size),
    [null, '5 B', '5 B', null, '5 B', '5 B'],
  );
  t.equal(cut, null);
  const many = viewFileTable(
    { oid: '', entries: Array.from({ length: 1001 }, (_, index) => entry(`f${index}`)), truncated: false },
    context,
  );
  t.equal(many.rows.length, 1000);
  t.match(many.cut, /more than 1,000/);
});
