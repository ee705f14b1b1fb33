import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { readRef, readRefs } from '../../src/git/refs/refs.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { measureTurns } from '../fixtures/thread-cpu.ts';

const oid = (digit: string): string => digit.repeat(40);

function repositoryWith(packed: Record<string, string>, loose: Record<string, string>): string {
  const folder = temporaryFolder(t);
  mkdirSync(path.join(folder, 'refs'));
  for (const [name, value] of Object.entries(loose)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), `${value}\n`);
  }
  const lines = Object.entries(packed).map(([name, value]) => `${value} ${name}\n^${oid('9')}\n`);
  writeFileSync(path.join(folder, 'packed-refs'), `# pack-refs with: peeled fully-peeled sorted \n${lines.join('')}`);
  return folder;
}

const folder = repositoryWith(
  {
    'refs/heads/a': oid('1'),
    'refs/heads/b': oid('2'),
    'refs/heads/\u{1f333}': oid('3'),
    'refs/heads/\uff5e': oid('4'),
    'refs/hearth/kept': oid('5'),
  },
  {
    'refs/heads/0': oid('6'),
    'refs/heads/b': oid('7'),
    'refs/heads/link': 'ref: refs/heads/b',
    'refs/heads/zz': oid('8'),
    'refs/tags/empty': '',
    'refs/replace/x': oid('5'),
  },
);
writeFileSync(path.join(folder, 'secret'), oid('5'));

t.test(
  'packed and loose refs are one list by name; a loose one wins, hidden and empty ones are left out',
  async (t) => {
    t.strictSame(
      [...(await readRefs(folder))],
      [
        ['refs/heads/0', oid('6')],
        ['refs/heads/a', oid('1')],
        ['refs/heads/b', oid('7')],
        ['refs/heads/link', oid('7')],
        ['refs/heads/zz', oid('8')],
        ['refs/heads/\u{1f333}', oid('3')],
        ['refs/heads/\uff5e', oid('4')],
      ],
    );
  },
);

t.test('one ref is what the list says of it', async (t) => {
  for (const [name, value] of await readRefs(folder)) t.equal(await readRef(folder, name), value, name);
  for (const name of ['refs/heads/none', 'refs/heads', 'refs/tags/empty', 'refs/heads/../../secret', 'secret', '../x'])
    t.equal(await readRef(folder, name), null, name);
  t.equal(await readRef(folder, `refs/tags/${'\u09a5'.repeat(200)}`), null, 'longer than a file name can be');
});

t.test('a hundred thousand refs are listed in short turns', async (t) => {
  const names = Array.from({ length: 100_000 }, (_, n) => `refs/heads/topic/${String(n).padStart(6, '0')}`);
  const large = repositoryWith(Object.fromEntries(names.map((name) => [name, oid('1')])), { 'refs/heads/x': oid('2') });
  await readRefs(large);
  const { longestMs, cpuMs } = await measureTurns(async () => void (await readRefs(large)));
  t.ok(longestMs < cpuMs / 2, `${longestMs.toFixed(0)} of ${cpuMs.toFixed(0)} ms`);
});

t.test('one of many packed refs is found by halving, whether it has a peeled id or not', async (t) => {
  const names = Array.from({ length: 3_000 }, (_, n) => `refs/heads/y${'x'.repeat(n % 60)}/${n}`).sort();
  const peeled = repositoryWith(Object.fromEntries(names.map((name, n) => [name, oid((n % 7).toString())])), {});
  const file = path.join(peeled, 'packed-refs');
  const plain = readFileSync(file, 'utf8').replaceAll(/^\^.*\n/gm, '');
  for (const content of [readFileSync(file, 'utf8'), plain, plain.replace(' sorted ', ' ')]) {
    writeFileSync(file, content);
    for (const [at, name] of names.entries())
      if (at % 37 === 0 || at < 3 || at > 2_996) t.equal(await readRef(peeled, name), oid((at % 7).toString()), name);
    for (const name of ['refs/a/x', 'refs/heads/x', `${names[70]}0`, `${names[2_000]!.slice(0, -1)}`, 'refs/tags/z'])
      t.equal(
        await readRef(peeled, name),
        names.includes(name) ? oid((names.indexOf(name) % 7).toString()) : null,
        name,
      );
  }
  const [first, ...rest] = plain.split('\n');
  writeFileSync(file, [first!.replace(' sorted', ''), ...rest.reverse().filter((line) => line !== ''), ''].join('\n'));
  for (const name of [names[5]!, names[2_900]!]) t.ok(await readRef(peeled, name), 'in no order');
});
