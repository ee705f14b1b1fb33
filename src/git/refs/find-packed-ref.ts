import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

/** Above the length of any line: a name has at most 4,096 bytes. */
const blockBytes = 8_192;

/**
 * The value of one ref in a `packed-refs` file; null if it is missing, or the file does not exist. Uses binary search
 * if the header declares the file sorted, as git does: the cost hardly grows with the number of refs.
 * @param ref a full name
 */
export async function findPackedRef(file: string, ref: string): Promise<string | null> {
  let handle: FileHandle;
  try {
    handle = await open(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    const { size } = await handle.stat();
    const [from, to] = await narrow(handle, size, Buffer.from(ref));
    const lines = await read(handle, from, Math.min(to + blockBytes, size) - from);
    const at = lines.indexOf(` ${ref}\n`);
    return at < 0 ? null : lines.toString('latin1', lines.lastIndexOf('\n', at) + 1, at);
  } finally {
    await handle.close();
  }
}

/** Position of a ref's line if it exists, within a part of the file that starts at a line. */
async function narrow(handle: FileHandle, size: number, ref: Buffer): Promise<[from: number, to: number]> {
  let [from, to] = [0, size];
  if (size <= 4 * blockBytes) return [from, to];
  const header = (await read(handle, 0, blockBytes)).toString('latin1').split('\n', 1)[0]!;
  if (!/^#.* sorted(?: |$)/.test(header)) return [from, to];
  while (to - from > 2 * blockBytes) {
    const middle = (from + to) >>> 1;
    const block = await read(handle, middle, 2 * blockBytes);
    const start = lineOfRef(block);
    const space = block.indexOf(' ', start);
    const end = block.indexOf('\n', start);
    // No line is that long: git did not write this file.
    if (start === 0 || end < space) return [0, size];
    if (block.compare(ref, 0, ref.length, space + 1, end) <= 0) from = middle + start;
    else to = middle + 1;
  }
  return [from, to];
}

/** Position of the first whole line that is not a peeled id; 0 if there is none. */
function lineOfRef(block: Buffer): number {
  let start = block.indexOf('\n') + 1;
  while (start > 0 && block[start] === 0x5e) start = block.indexOf('\n', start) + 1;
  return start;
}

async function read(handle: FileHandle, from: number, length: number): Promise<Buffer> {
  const block = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(block, filled, length - filled, from + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return block.subarray(0, filled);
}
