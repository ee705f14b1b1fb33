import { Transform } from 'node:stream';
import type { TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { internal } from '../../kernel/index.ts';
import type { GitProcess, GitRunner } from '../processes/git-runner.ts';
import { checked } from './browse.ts';

/** Which blobs: those of all refs, hidden ones included, or those reachable from some commits but not from others. */
export type BlobRange = 'all' | { of: readonly string[]; without: readonly string[] };

export interface SmallBlob {
  oid: string;
  content: Buffer;
}

interface SmallBlobOptions {
  minBytes: number;
  maxBytes: number;
  signal?: AbortSignal | undefined;
}

const timeLimitMs = 3_600_000;

/**
 * The contents of all blobs of one size, each once, in no particular order. Reads sizes first, and so no larger blob.
 * Throws `internal` if git has not read everything successfully.
 */
export async function* smallBlobs(
  runner: GitRunner,
  path: string,
  range: BlobRange,
  { minBytes, maxBytes, signal }: SmallBlobOptions,
): AsyncGenerator<SmallBlob> {
  const start = (takesInput: boolean, ...argv: string[]): GitProcess =>
    runner.start({ argv: [`--git-dir=${path}`, ...argv], timeLimitMs, takesInput, signal, yields: true });
  const tips =
    range === 'all'
      ? ['--all']
      : ['--ignore-missing', ...range.of.map(checked), '--not', ...range.without.map(checked)];
  const filter = `--filter=blob:limit=${maxBytes + 1}`;
  const list = start(false, 'rev-list', '--objects', '--no-object-names', filter, ...tips, '--');
  const sizes = start(true, 'cat-file', '--batch-check=%(objecttype) %(objectsize) %(objectname)', '--buffer');
  const contents = start(true, 'cat-file', '--batch=%(objectname) %(objectsize)', '--buffer');
  const processes = [list, sizes, contents];
  const feeding = Promise.all([
    pipeline(list.stdout!, sizes.stdin!),
    pipeline(sizes.stdout!, pickBlobs(minBytes, maxBytes), contents.stdin!),
  ]).catch((cause: unknown) => {
    for (const running of processes) running.stop('input_failed');
    return cause;
  });
  let isComplete = false;
  try {
    yield* readBatch(contents.stdout! as AsyncIterable<Buffer>);
    await feeding;
    for (const running of processes) {
      const exit = await running.exited;
      const complaint = running.stderrText();
      if (exit.code !== 0 || exit.stoppedBy !== null || complaint !== '')
        throw internal('git could not read all files of a repository', { cause: { ...exit, complaint } });
    }
    isComplete = true;
  } finally {
    if (!isComplete) for (const running of processes) running.stop('aborted');
  }
}

/** Reads lines `blob <size> <id>` and writes the ids with the right size. */
function pickBlobs(minBytes: number, maxBytes: number): Transform {
  let rest = '';
  return new Transform({
    transform(chunk: Buffer, _encoding, pass: TransformCallback) {
      const lines = (rest + chunk.toString('latin1')).split('\n');
      rest = lines.pop()!;
      let picked = '';
      for (const line of lines) {
        const [type, size, oid] = line.split(' ');
        if (type === 'blob' && Number(size) >= minBytes && Number(size) <= maxBytes) picked += `${oid}\n`;
      }
      pass(null, picked);
    },
  });
}

/** Repeated: `<id> <size>`, a line break, the content, a line break. */
async function* readBatch(output: AsyncIterable<Buffer>): AsyncGenerator<SmallBlob> {
  let unread: Buffer = Buffer.alloc(0);
  for await (const chunk of output) {
    unread = unread.length === 0 ? chunk : Buffer.concat([unread, chunk]);
    for (let at = 0; ; ) {
      const end = unread.indexOf(10, at);
      const [oid = '', size = ''] = end === -1 ? [] : unread.toString('latin1', at, end).split(' ');
      if (size === 'missing') throw internal(`git lost an object: ${oid}`);
      const next = end + 1 + Number(size) + 1;
      if (end === -1 || next > unread.length) {
        unread = unread.subarray(at);
        break;
      }
      yield { oid, content: unread.subarray(end + 1, next - 1) };
      at = next;
    }
  }
}
