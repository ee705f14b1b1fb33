import { createHash } from 'node:crypto';
import { PacketReader } from '../pkt-line.ts';

/** Capabilities that describe the client program; the response does not depend on them. */
const clientCapability = /^(?:agent|session-id)=/;
const clientWords = / (?:agent|session-id)=[^ \n]*/g;

/**
 * Cache key of a response: everything that it depends on and nothing else, so never the caller.
 * @param place repository path, ref state, protocol, and versions of git and its settings
 */
export function requestKey(place: readonly string[], request: Buffer, protocol: string): string {
  const hash = createHash('sha256').update(place.join('\0')).update(`\0${protocol}\0`);
  return hash.update(withoutClient(request, protocol === 'version=2')).digest('base64');
}

/** The request without the capabilities that describe the client; unchanged when it cannot be parsed. */
function withoutClient(request: Buffer, isVersion2: boolean): Buffer {
  const packets = new PacketReader();
  packets.push(request);
  const retained: string[] = [];
  try {
    for (let packet = packets.next(); packet?.kind === 'data'; packet = packets.next()) {
      const line = packet.data.toString('latin1');
      if (!isVersion2) retained.push(line.replaceAll(clientWords, ''));
      else if (!clientCapability.test(line)) retained.push(line);
      // Before version 2 only the first line has capabilities.
      if (!isVersion2) break;
    }
  } catch {
    return request;
  }
  const rest = request.subarray(request.length - packets.restBytes);
  return Buffer.concat([
    Buffer.from(retained.map((line) => `${line.length} ${line}`).join(''), 'latin1'),
    Buffer.from(`\0${rest.length}\0`),
    rest,
  ]);
}
