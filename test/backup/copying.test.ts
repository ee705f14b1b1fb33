import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { copyFile } from '../../src/backup/copy-file.ts';
import { copyRepository } from '../../src/backup/copy-repository.ts';
import type { Copier } from '../../src/backup/file-copier.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

t.test('a file is linked to its older copy only when it had rested before that', async (t) => {
  const readAt = Date.UTC(2026, 0, 1, 12);
  const cases: [agoMs: number, isLinked: boolean][] = [
    [1, false],
    [1_999, false],
    [2_000, false],
    [2_001, true],
    [3_600_000, true],
  ];
  for (const [agoMs, isLinked] of cases) {
    const folder = temporaryFolder(t);
    const [from, old, to] = ['file', 'old', 'new'].map((name) => path.join(folder, name)) as [string, string, string];
    const modified = (readAt - agoMs) / 1_000;
    writeFileSync(from, 'one');
    utimesSync(from, modified, modified);
    const entry = await copyFile(from, old);
    // Of the same size, and within the resolution of file times.
    writeFileSync(from, 'two');
    utimesSync(from, modified, modified);
    await copyFile(from, to, { at: old, entry, readAt });
    t.equal(statSync(to).ino === statSync(old).ino, isLinked, `${agoMs} ms before`);
    t.equal(readFileSync(to, 'utf8'), isLinked ? 'one' : 'two');
  }
});

t.test('a ref that is packed while the refs are copied is in the copy', async (t) => {
  const folder = temporaryFolder(t);
  const [from, target] = [path.join(folder, 'from.git'), path.join(folder, 'target')];
  const git = (...args: string[]) => execFileSync('git', ['-C', from, ...args], { encoding: 'utf8' }).trim();
  execFileSync('git', ['init', '-q', '--bare', from]);
  const oid = git('hash-object', '-w', '-t', 'blob', '/dev/null');
  git('update-ref', 'refs/tags/loose', oid);
  let copies = 0;
  const copy = (source: string, relativePath: string): Promise<void> => {
    const to = path.join(target, relativePath);
    mkdirSync(path.dirname(to), { recursive: true });
    if (existsSync(source)) cpSync(source, to, { recursive: true });
    // Housekeeping runs after the first copy, whichever that is.
    copies += 1;
    if (copies === 1) git('pack-refs', '--all', '--prune');
    return Promise.resolve();
  };
  await copyRepository({ folder: copy, file: copy } as unknown as Copier, from, target, 'to.git');
  t.equal(git('for-each-ref', '--format=%(objectname)'), oid, 'it was packed');
  t.notOk(existsSync(path.join(from, 'refs/tags/loose')));
  const copied = execFileSync('git', ['-C', path.join(target, 'to.git'), 'for-each-ref', '--format=%(refname)']);
  t.equal(copied.toString().trim(), 'refs/tags/loose');
});
