/** A mail for git-mailinfo(1), or a plain diff. */
type PatchText = { kind: 'mails'; mails: Buffer[] } | { kind: 'diff'; diff: Buffer };

/** Number of header bytes examined to tell a mail from a plain diff. */
const maxHeadBytes = 64 * 1024;

/**
 * Splits the output of `git format-patch` (mbox, RFC 4155) into mails; a single mail may lack the line `From …`, and a
 * plain diff is not a mail. A text in which every line ends with CR LF, as forms and some editors send it, is converted
 * to LF; if only some do, the CRs belong to the files.
 */
export function splitMails(text: Buffer): PatchText {
  const plain = withPlainLines(withoutMark(text));
  const starts = startsOf(plain);
  if (starts.length > 0)
    return { kind: 'mails', mails: starts.map((start, at) => plain.subarray(start, starts[at + 1] ?? plain.length)) };
  return isMail(plain) ? { kind: 'mails', mails: [plain] } : { kind: 'diff', diff: plain };
}

/** The commit named by `git format-patch --base`: the full id at the end of the first mail; null for none. */
export function baseCommitOf(text: Buffer): string | null {
  const [, oid] = /^base-commit: ([0-9a-f]{40}|[0-9a-f]{64})\r?$/m.exec(text.toString('latin1')) ?? [];
  return oid ?? null;
}

/** Without the byte order mark that some editors write. */
const withoutMark = (text: Buffer): Buffer =>
  text[0] === 0xef && text[1] === 0xbb && text[2] === 0xbf ? text.subarray(3) : text;

function withPlainLines(text: Buffer): Buffer {
  let feeds = 0;
  for (let at = text.indexOf(0x0a); at !== -1; at = text.indexOf(0x0a, at + 1)) {
    if (text[at - 1] !== 0x0d) return text;
    feeds += 1;
  }
  return feeds === 0 ? text : Buffer.from(text.toString('latin1').replaceAll('\r\n', '\n'), 'latin1');
}

/** Where mails begin: at lines `From …` after an empty line or at the start of the text. */
function startsOf(text: Buffer): number[] {
  const first = firstLineOf(text);
  if (!isFromLine(text, first)) return [];
  const starts = [first];
  for (let at = text.indexOf('\n\nFrom ', first); at !== -1; at = text.indexOf('\n\nFrom ', at + 1))
    if (isFromLine(text, at + 2)) starts.push(at + 2);
  return starts;
}

function firstLineOf(text: Buffer): number {
  let at = 0;
  while (text[at] === 0x0a || text[at] === 0x0d) at += 1;
  return at;
}

const maxFromLine = 300;

function isFromLine(text: Buffer, at: number): boolean {
  const line = text.toString('latin1', at, at + maxFromLine).split('\n', 1)[0]!;
  return /^From \S/.test(line) && /\d\d:\d\d:\d\d .*\d{4}/.test(line);
}

function isMail(text: Buffer): boolean {
  const first = firstLineOf(text);
  const head = text.toString('latin1', first, first + maxHeadBytes).split('\n\n', 1)[0]!;
  return /^[A-Za-z][A-Za-z-]*:/.test(head) && /^(?:from|subject):/im.test(head);
}
