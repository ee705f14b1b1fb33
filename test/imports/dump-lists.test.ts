// Lists of YAML as several writers make them, read part by part.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { createListReader } from '../../src/imports/from-files/dump-lists.ts';
import { run } from '../../src/imports/from-files/read-items-task.ts';
import type { WorkerPool } from '../../src/workers/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const folder = temporaryFolder(t);
/** The pool without its threads. */
const workers = {
  run: async ({ input }: { input(): Promise<readonly string[]> }) => ({ ok: true, value: run(await input()) }),
} as unknown as WorkerPool;
const limits = { itemBytes: 8_000, partBytes: 1_000 };
const read = createListReader({ workers }, folder, 'test', limits);

async function readAll(text: string) {
  writeFileSync(path.join(folder, 'list.yml'), text);
  const items: unknown[] = [];
  let [unreadable, parts] = [0, 0];
  for (let from: number | null = 0; from !== null; ) {
    const part: Awaited<ReturnType<typeof read>> = await read('list.yml', from);
    items.push(...part.items);
    unreadable += part.unreadable;
    parts += 1;
    from = part.next;
  }
  return { items, unreadable, parts };
}

const [one, two] = [{ a: 1 }, { a: 2 }];

t.test('lists', async (t) => {
  const cases: [text: string, items: unknown[], unreadable?: number][] = [
    ['', []],
    ['[]\n', []],
    ['- a: 1\n[]\n- a: 2\n', [one, two]],
    ['[]\n- a: 1\n[]\n[]\n', [one]],
    ['---\n- a: 1\n---\n- a: 2\n...\n', [one, two]],
    ['[{"a":1},{"a":2}]\n', [one, two]],
    ['- {"a":1}\n- {"a":2}\n', [one, two]],
    ['[{a: 1}, {a: 2}]', [one, two]],
    ['- a: 1\r\n- a: 2\r\n', [one, two]],
    ['- a: |-\n    x\n\n    []\n    - y\n- a: 2\n', [{ a: 'x\n\n[]\n- y' }, two]],
    ['- a: |\n    x\n- a: 2', [{ a: 'x\n' }, two]],
    ['- a: 2024-01-01T00:00:00Z\n', [{ a: '2024-01-01T00:00:00Z' }]],
    ['- x\n- a: 1\n- {{{\n- - 1\n', [one], 3],
    ['- &b {a: 1}\n- *b\n- c: &d [1]\n  e: *d\n- a: 2\n', [one, two], 2],
  ];
  for (const [text, items, unreadable = 0] of cases)
    t.match(await readAll(text), { items, unreadable }, JSON.stringify(text));
  t.strictSame(await read('absent.yml', 0), { items: [], next: null, unreadable: 0 });
});

t.test('long lists come in parts, and an item without an end is none', async (t) => {
  const body = 'x'.repeat(limits.partBytes / 2);
  const many = await readAll(Array.from({ length: 7 }, (_, at) => `- n: ${at}\n  body: ${body}\n`).join(''));
  t.strictSame(
    many.items.map((item) => (item as { n: number }).n),
    [0, 1, 2, 3, 4, 5, 6],
  );
  t.ok(many.parts > 2 && many.parts < 7, `${many.parts} parts`);
  for (const more of [100, 900, 5_000]) {
    const long = `- a: 1\n- body: ${'x'.repeat(limits.itemBytes + more)}\n  more: yes\n- a: 2\n`;
    const { items, unreadable } = await readAll(long);
    t.strictSame([items, unreadable], [[one, two], 1], `${more} bytes above the limit`);
  }
});
