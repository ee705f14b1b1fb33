import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import { internal } from '../../kernel/index.ts';

const compress = promisify(deflate);

const typeNumbers = { tree: 2, blob: 3 } as const;

interface PackedObject {
  type: keyof typeof typeNumbers;
  payload: Buffer;
}

/**
 * Checks whether git accepts a file of this name in a push (git-fsck(1)). git-index-pack(1) checks a pack with the blob
 * and a tree that names it, as it checks a pushed one. The pack is written to `folder` and stays there.
 * @param run runs git on the repository
 * @returns git's message about the problem, or null
 */
export async function checkBlob(
  run: (argv: readonly string[]) => Promise<{ code: number | null; errorText: string }>,
  folder: string,
  { name, content, idLength }: { name: string; content: Buffer; idLength: number },
): Promise<string | null> {
  const algorithm = idLength === 64 ? 'sha256' : 'sha1';
  const oid = createHash(algorithm).update(`blob ${content.length}\0`).update(content).digest();
  const tree = Buffer.concat([Buffer.from(`100644 ${name}\0`), oid]);
  const pack = await packOf(algorithm, [
    { type: 'blob', payload: content },
    { type: 'tree', payload: tree },
  ]);
  const file = path.join(folder, `check-${oid.toString('hex')}`);
  await writeFile(`${file}.pack`, pack);
  const { code, errorText } = await run(['index-pack', '--strict', '-o', `${file}.idx`, `${file}.pack`]);
  if (code === 0) return null;
  const [, fault] = /^error: object [0-9a-f]+: (?:\w+: )?(.+)$/m.exec(errorText) ?? [];
  if (fault === undefined) throw internal('git could not check a file', { cause: { code, errorText } });
  return fault;
}

/** A pack of whole objects (gitformat-pack(5)). */
async function packOf(algorithm: string, objects: readonly PackedObject[]): Promise<Buffer> {
  const head = Buffer.alloc(12);
  head.write('PACK');
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(objects.length, 8);
  const parts: Buffer[] = [head];
  for (const { type, payload } of objects)
    parts.push(sizeOf(typeNumbers[type], payload.length), await compress(payload));
  const content = Buffer.concat(parts);
  return Buffer.concat([content, createHash(algorithm).update(content).digest()]);
}

/** Header with type and size of an object: four bits of the size, then seven in each byte. */
function sizeOf(type: number, size: number): Buffer {
  const bytes = [(type << 4) | (size & 0x0f)];
  for (let rest = size >>> 4; rest > 0; rest >>>= 7) {
    bytes[bytes.length - 1]! |= 0x80;
    bytes.push(rest & 0x7f);
  }
  return Buffer.from(bytes);
}
