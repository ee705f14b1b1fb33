/**
 * Frees the memory of a buffer that does not share it; leaves others unchanged. For large chunks of a stream that are
 * no longer read: V8 counts their memory, and would walk the whole heap several times over a large transfer to find out
 * that they are garbage.
 */
export function freeMemory({ buffer, length }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length && length >= leastBytes) buffer.transfer(0);
}

/** Smaller buffers cost the collector little, and often share their memory. */
const leastBytes = 8_192;
