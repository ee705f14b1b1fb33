import { createHash } from 'node:crypto';
import { PacketReader } from '../pkt-line.ts';

/** Words about the client's program; the answer is the same whatever they say. */
const aboutClient = /^(?:agent|session-id)=/;
const amongWords = / (?:agent|session-id)=[^ \n]*/g;

/**
 * A name for everything that an answer depends on, and nothing else: never who asks.
 * @param place repository path, ref state, protocol, and versions of what answers
 */
export function requestKey(place: readonly string[], request: Buffer, protocol: string): string {
  const hash = createHash('sha256').update(place.join('\0')).update(`\0${protocol}\0`);
  return hash.update(withoutClient(request, protocol === 'version=2')).digest('base64');
}

/** The request without the words about its client; unchanged when it cannot be read. */
function withoutClient(request: Buffer, isVersion2: boolean): Buffer {
  const packets = new PacketReader();
  packets.push(request);
  const kept: string[] = [];
  try {
    for (let packet = packets.next(); packet?.kind === 'data'; packet = packets.next()) {
      const line = packet.data.toString('latin1');
      if (!isVersion2) kept.push(line.replaceAll(amongWords, ''));
      else if (!aboutClient.test(line)) kept.push(line);
      // Before version 2 only the first line has such words.
      if (!isVersion2) break;
    }
  } catch {
    return request;
  }
  const rest = request.subarray(request.length - packets.restBytes);
  return Buffer.concat([
    Buffer.from(kept.map((line) => `${line.length} ${line}`).join(''), 'latin1'),
    Buffer.from(`\0${rest.length}\0`),
    rest,
  ]);
}
