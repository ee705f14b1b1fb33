/** A `string` of the SSH protocol (RFC 4251 §5): its length in four bytes, then its bytes. */
export function sshString(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([uint32(bytes.length), bytes]);
}

/** A `uint32` of the SSH protocol. */
export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
