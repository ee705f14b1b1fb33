import { PacketReader } from '../pkt-line.ts';
import type { LsRefsRequest } from './build-advertisement.ts';

/** More than any client sends; beyond this number git ignores them all. */
const maxPrefixes = 1_000;

/**
 * Parses a complete `ls-refs` request.
 * @param format the object format of the repository; git refuses any other
 * @returns null for any other request, and for those that git should handle: unknown arguments, several requests
 */
export function readLsRefs(request: Buffer, format: string): LsRefsRequest | null {
  if (request.toString('latin1', 4, 19) !== 'command=ls-refs') return null;
  const packets = new PacketReader();
  packets.push(request);
  const question = { symrefs: false, peel: false, unborn: false, prefixes: [] as string[] };
  let section: 'capabilities' | 'arguments' = 'capabilities';
  // A client that names no format uses SHA-1.
  let spokenFormat = 'sha1';
  for (let packet = packets.next(); packet !== null; packet = packets.next()) {
    if (packet.kind === 'flush') return packets.restBytes === 0 && spokenFormat === format ? question : null;
    if (packet.kind === 'delimiter' && section === 'capabilities') {
      section = 'arguments';
      continue;
    }
    if (packet.kind !== 'data') return null;
    const line = packet.data.toString('latin1').replace(/\n$/, '');
    if (section === 'capabilities') {
      if (line.startsWith('object-format=')) spokenFormat = line.slice('object-format='.length);
      else if (line !== 'command=ls-refs' && !line.startsWith('agent=')) return null;
    } else if (line === 'symrefs' || line === 'peel' || line === 'unborn') {
      question[line] = true;
    } else if (line.startsWith('ref-prefix ') && question.prefixes.length < maxPrefixes) {
      question.prefixes.push(line.slice('ref-prefix '.length));
    } else {
      return null;
    }
  }
  return null;
}
