import t from 'tap';
import { linkSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import path from 'node:path';
import { copyFile } from '../../src/backup/copy-file.ts';
import { createSharedFiles } from '../../src/backup/shared-files.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

t.test('two names of one file are one file again, also when the first copy is slow', async (t) => {
  const folder = temporaryFolder(t);
  const at = (name: string) => path.join(folder, name);
  mkdirSync(at('copy'));
  writeFileSync(at('first'), 'pack');
  linkSync(at('first'), at('second'));
  writeFileSync(at('other'), 'pack');
  const shared = createSharedFiles();
  let copies = 0;
  const copy = (name: string) =>
    shared.copyOrLink(at(name), at(`copy/${name}`), async () => {
      copies += 1;
      await sleep(20);
      return copyFile(at(name), at(`copy/${name}`));
    });
  const entries = await Promise.all(['first', 'second', 'other'].map(copy));
  t.equal(copies, 2);
  t.same(entries[1], entries[0]);
  const inode = (name: string) => statSync(at(`copy/${name}`)).ino;
  t.equal(inode('second'), inode('first'));
  t.not(inode('other'), inode('first'));

  shared.forget(at('copy'));
  await copy('second').then(
    () => t.fail('copied over a file'),
    (error: NodeJS.ErrnoException) => t.equal(error.code, 'EEXIST', 'copied anew once the copies are forgotten'),
  );
  t.equal(copies, 3);
});

t.test('a copy below a forgotten folder is not linked to; those beside it are', async (t) => {
  const folder = temporaryFolder(t);
  const at = (name: string) => path.join(folder, name);
  for (const name of ['one', 'one-more', 'next']) mkdirSync(at(name));
  for (const name of ['a', 'b']) {
    writeFileSync(at(name), 'pack');
    linkSync(at(name), at(`${name}2`));
  }
  const shared = createSharedFiles();
  const copies: string[] = [];
  const copy = (from: string, to: string) =>
    shared.copyOrLink(at(from), at(to), async () => {
      copies.push(to);
      return copyFile(at(from), at(to));
    });
  await copy('a', 'one/a');
  await copy('b', 'one-more/b');
  shared.forget(at('one'));
  await copy('a2', 'next/a');
  await copy('b2', 'next/b');
  t.strictSame(copies, ['one/a', 'one-more/b', 'next/a']);
});
