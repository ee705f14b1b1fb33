import { PacketReader } from '../pkt-line.ts';

/** Size limit in bytes of a `git archive --remote` request: a few options, a tree and some paths. */
export const maxArchiveRequestBytes = 64 * 1024;

/** The only options of `git archive` that are passed to git: none of them names a file or a program. */
const allowedOption = /^(?:--format=[\w.-]{1,32}|--prefix=.*|-[0-9]|-v|--verbose|-l|--list|--)$/s;

/**
 * The first forbidden argument of a `git archive --remote` request, or null if git may get the request. git itself
 * accepts every option of `git archive` here, even those that read files of the server (`--add-file`), so only options
 * that a client needs are allowed (security A01).
 * @param request packets up to and including the flush, as git-upload-archive(1) reads them
 */
export function refusedArchiveArgument(request: Buffer): string | null {
  const packets = new PacketReader();
  packets.push(request);
  let areOptionsOver = false;
  for (let packet = packets.next(); packet?.kind === 'data'; packet = packets.next()) {
    const line = packet.data.toString('utf8').replace(/\n$/, '');
    const argument = /^argument (.*)$/s.exec(line)?.[1];
    if (argument === undefined || argument.includes('\0')) return line;
    if (!areOptionsOver && argument.startsWith('-') && !allowedOption.test(argument)) return argument;
    if (argument === '--') areOptionsOver = true;
  }
  return null;
}
