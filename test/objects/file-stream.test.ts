// Files that are read into buffers that are given back: every range has its bytes, however slow the reader is, and a
// long file takes a few buffers.
import { writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { copyAndFree } from '../../src/kernel/index.ts';
import { FileStream } from '../../src/objects/file-stream.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const atOnce = 512 * 1024;
const content = Buffer.alloc(10 * atOnce + 123);
for (let at = 0; at + 4 <= content.length; at += 4) content.writeUInt32LE(at, at);
const file = path.join(temporaryFolder(t), 'file');
writeFileSync(file, content);

const whole = { first: 0, last: content.length - 1 };
const ranges: readonly { first: number; last: number }[] = [
  whole,
  { first: 5, last: 5 },
  { first: 7, last: atOnce + 6 },
  { first: atOnce, last: 3 * atOnce - 1 },
  { first: 1, last: 9 * atOnce + 1 },
  { first: content.length - 2, last: content.length + atOnce },
  { first: 0, last: -1 },
];
/** How long a target takes for the chunk with a number, in turns of the event loop. */
const paces: Readonly<Record<string, (at: number) => number>> = {
  fast: () => 0,
  slow: () => 5,
  uneven: (at) => (at % 3) * 4,
};

for (const { first, last } of ranges)
  for (const [pace, turnsOf] of Object.entries(paces))
    t.test(`${first} to ${last}, ${pace}`, async (t) => {
      const parts: Buffer[] = [];
      const memory = new Set<ArrayBufferLike>();
      let at = 0;
      const to = new Writable({
        highWaterMark: 16_384,
        write(chunk: Buffer, _encoding, done) {
          memory.add(chunk.buffer);
          let turns = turnsOf((at += 1));
          // What it gets stays as it is until it is done.
          const finish = (): void => {
            if (turns-- > 0) return void setImmediate(finish);
            parts.push(Buffer.from(chunk));
            done();
          };
          finish();
        },
      });
      const from = new FileStream(await open(file), { first, last });
      await copyAndFree(from, to);
      t.ok(Buffer.concat(parts).equals(content.subarray(first, last + 1)));
      t.ok(memory.size <= 5, `${memory.size} buffers`);
      t.ok(from.closed || from.destroyed, 'the file is closed');
    });

t.test('a reader that gives nothing back gets everything', async (t) => {
  t.ok((await buffer(new FileStream(await open(file), whole))).equals(content));
});

t.test('a stream that is destroyed while it reads closes its file, and keeps no chunk', async (t) => {
  const handle = await open(file);
  const from = new FileStream(handle, whole);
  from.resume();
  from.destroy();
  await new Promise((resolve) => from.on('close', resolve));
  t.equal(handle.fd, -1);
  const late = Buffer.allocUnsafeSlow(atOnce);
  from.reuse(late);
  t.equal(late.length, 0);
});

t.test('a file that cannot be read fails the stream', async (t) => {
  await t.rejects(buffer(new FileStream(await open(path.dirname(file)), whole)), { code: 'EISDIR' });
});
