import { Readable, Writable } from 'node:stream';
import t from 'tap';
import { copyAndFree } from '../../src/kernel/index.ts';

/** Keeps a copy of what it gets, and takes its time, so that the source must wait. */
function collector(): { to: Writable; text: () => string } {
  const parts: string[] = [];
  const to = new Writable({
    highWaterMark: 10_000,
    write(chunk: Buffer, _encoding, done) {
      parts.push(chunk.toString());
      setImmediate(done);
    },
  });
  return { to, text: () => parts.join('') };
}

t.test('a stream is copied whole, and its chunks are freed', async (t) => {
  const content = ['a', 'b', 'c'].map((letter) => Buffer.alloc(20_000, letter));
  const expected = content.join('');
  const { to, text } = collector();
  const from = Readable.from(content);
  await copyAndFree(from, to);
  t.equal(text(), expected);
  t.strictSame(
    content.map(({ length }) => length),
    [0, 0, 0],
  );
  t.ok(to.writableFinished && from.destroyed);
});

t.test('a source that reuses chunks gets them back once they are written, and none that was not', async (t) => {
  const [returned, content] = [[] as string[], ['a', 'b', 'c'].map((letter) => Buffer.alloc(20_000, letter))];
  const reusing = (): Readable =>
    Object.assign(Readable.from(content), {
      reuse(this: Readable, chunk: Buffer) {
        returned.push(chunk.toString('latin1', 0, 1));
      },
    });
  await copyAndFree(reusing(), collector().to);
  t.strictSame(returned.splice(0), ['a', 'b', 'c']);
  t.ok(content.every(({ length }) => length === 20_000));

  const failing = new Writable({ write: (_chunk, _encoding, done) => done(new Error('gone')) });
  failing.on('error', () => {});
  await t.rejects(copyAndFree(reusing(), failing), { message: 'gone' });
  t.strictSame(returned, []);
});

t.test('a source that fails, or is closed early, closes the target', async (t) => {
  async function* broken(): AsyncGenerator<Buffer> {
    yield Buffer.from('half');
    throw new Error('the disk fails');
  }
  const failing = collector();
  failing.to.on('error', () => {});
  await t.rejects(copyAndFree(Readable.from(broken()), failing.to), { message: 'the disk fails' });
  t.ok(failing.to.destroyed && !failing.to.writableFinished);

  const closed = collector();
  const from = new Readable({ read() {} });
  from.push('half');
  setImmediate(() => from.destroy());
  await t.rejects(copyAndFree(from, closed.to), { code: 'ERR_STREAM_PREMATURE_CLOSE' });
  t.ok(closed.to.destroyed);
});

t.test('a target that closes early, even before the copying, closes the source', async (t) => {
  const endless = (): Readable => new Readable({ read: () => {} });
  const late = collector();
  const from = endless();
  setImmediate(() => late.to.destroy());
  await t.rejects(copyAndFree(from, late.to), { code: 'ERR_STREAM_PREMATURE_CLOSE' });
  t.ok(from.destroyed);

  const early = collector();
  early.to.destroy();
  const unread = endless();
  await t.rejects(copyAndFree(unread, early.to), { code: 'ERR_STREAM_PREMATURE_CLOSE' });
  t.ok(unread.destroyed);
});
