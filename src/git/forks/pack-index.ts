import { open, readdir } from 'node:fs/promises';
import path from 'node:path';
import { internal } from '../../kernel/index.ts';

const idBytes = 20;
const fanoutBytes = 256 * 4;
const headBytes = 8;
const magic = Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2]);

/** The ids of the objects in a pack, from its index: sorted, 20 bytes each. */
interface PackIndex {
  /** File name without its extension. */
  stem: string;
  count: number;
  has(id: Buffer): boolean;
}

/** Reads the id table of a version 2 pack index (gitformat-pack(5)). */
async function readPackIndex(folder: string, stem: string): Promise<PackIndex> {
  const file = await open(path.join(folder, `${stem}.idx`), 'r');
  try {
    const head = Buffer.alloc(headBytes + fanoutBytes);
    await file.read(head, 0, head.length, 0);
    if (!head.subarray(0, headBytes).equals(magic)) throw internal('an index of a pack is not of version 2');
    const fanout = head.subarray(headBytes);
    const count = fanout.readUInt32BE(fanoutBytes - 4);
    const ids = Buffer.alloc(count * idBytes);
    for (let done = 0; done < ids.length; ) {
      const { bytesRead } = await file.read(ids, done, ids.length - done, head.length + done);
      if (bytesRead === 0) throw internal('an index of a pack is too short');
      done += bytesRead;
    }
    return { stem, count, has: (id) => isAmong(ids, fanout, id) };
  } finally {
    await file.close();
  }
}

function isAmong(ids: Buffer, fanout: Buffer, id: Buffer): boolean {
  const first = id[0]!;
  let low = first === 0 ? 0 : fanout.readUInt32BE((first - 1) * 4);
  let high = fanout.readUInt32BE(first * 4);
  while (low < high) {
    const middle = (low + high) >>> 1;
    const order = ids.compare(id, 0, idBytes, middle * idBytes, (middle + 1) * idBytes);
    if (order === 0) return true;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return false;
}

/** All packs of a repository; null if they hold more than `maxObjects`, whose ids would need too much memory. */
export async function readPackIndexes(folder: string, maxObjects: number): Promise<PackIndex[] | null> {
  const stems = (await readdir(folder)).filter((name) => name.endsWith('.pack')).map((name) => name.slice(0, -5));
  const packs: PackIndex[] = [];
  let objects = 0;
  for (const stem of stems) {
    const contents = await readPackIndex(folder, stem);
    objects += contents.count;
    if (objects > maxObjects) return null;
    packs.push(contents);
  }
  return packs;
}
