import { createHash } from 'node:crypto';

/** A UUID of version 8 (RFC 9562) derived from its source: a repeated import finds the rows of the first one. */
export const derivedId = (kind: string, repositoryId: string, id: string): string =>
  uuidOf(createHash('sha256').update(`${kind} ${repositoryId} ${id}`).digest().subarray(0, 16));

/** The same, sorted by a time in milliseconds, and by a rank below 4,096 within the same time. */
export function orderedId(
  kind: string,
  repositoryId: string,
  { id, at, rank }: { id: string; at: number; rank: number },
): string {
  const bytes = createHash('sha256').update(`${kind} ${repositoryId} ${id}`).digest().subarray(0, 16);
  bytes.writeUIntBE(at, 0, 6);
  bytes.writeUInt16BE(rank & 0x0fff, 6);
  return uuidOf(bytes);
}

function uuidOf(bytes: Buffer): string {
  bytes[6] = (bytes[6]! & 0x0f) | 0x80;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
