/** A pkt-line of git's protocol: four hex digits of length, then the text. */
export function encodePacket(text: string): string {
  return `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`;
}
