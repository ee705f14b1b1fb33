import { createHash } from 'node:crypto';
import type { IssueDeps } from '../deps.ts';

/** Closes the object that the text left open. */
const macMarker = ',\n "seal": ';

/** Appends a keyed digest to a text, by which this instance recognises its own exports. */
export async function* appendMac(
  { sealExport }: Pick<IssueDeps, 'sealExport'>,
  text: AsyncIterable<string>,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  for await (const chunk of text) {
    const bytes = Buffer.from(chunk);
    hash.update(bytes);
    yield bytes;
  }
  yield Buffer.from(`${macMarker}"${sealExport(hash.digest('hex'))}"}\n`);
}

export function hasValidMac({ sealExport }: Pick<IssueDeps, 'sealExport'>, bytes: Buffer): boolean {
  const at = bytes.lastIndexOf(macMarker);
  if (at === -1) return false;
  const [, seal] = /^"([^"]*)"\}\s*$/.exec(bytes.toString('utf8', at + macMarker.length)) ?? [];
  return seal === sealExport(createHash('sha256').update(bytes.subarray(0, at)).digest('hex'));
}
