import type { Signature } from '../objects/parse-objects.ts';

/** Signs the content of a commit. @returns an armoured signature */
export type SignCommit = (payload: Buffer) => Promise<string>;

interface NewCommit {
  tree: string;
  parents: readonly string[];
  /** A person, or the unchanged line of another commit, without `author `. */
  author: Signature | Uint8Array;
  committer: Signature;
  /** The encoding that another commit declares for its author and message. */
  encoding?: string | undefined;
  /** The header `change-id` of another commit, by which jj identifies it. */
  changeId?: string | null | undefined;
  /** Bytes stay unchanged; text ends with one line feed. */
  message: string | Uint8Array;
}

/** The content of a commit object (git-commit-tree(1)), signed if there is a signer. */
export async function commitPayload(commit: NewCommit, sign?: SignCommit): Promise<Buffer> {
  const { tree, parents, author, committer, encoding, changeId = null, message } = commit;
  const headers = Buffer.concat([
    Buffer.from([`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`), 'author '].join('\n')),
    author instanceof Uint8Array ? author : Buffer.from(personLine(author)),
    Buffer.from(`\ncommitter ${personLine(committer)}\n${encoding === undefined ? '' : `encoding ${encoding}\n`}`),
    Buffer.from(changeId === null ? '' : `change-id ${changeId}\n`),
  ]);
  const body = Buffer.concat([
    Buffer.from('\n'),
    message instanceof Uint8Array ? message : Buffer.from(`${message.toWellFormed().replaceAll('\0', '').trimEnd()}\n`),
  ]);
  const unsigned = Buffer.concat([headers, body]);
  return sign === undefined ? unsigned : withSignature(unsigned, await sign(unsigned));
}

/** A commit object with its signature in the headers, where git looks for it: after the committer. */
export function withSignature(commit: Buffer, armored: string, header: 'gpgsig' | 'gpgsig-sha256' = 'gpgsig'): Buffer {
  const end = commit.indexOf('\n\n');
  const at = end === -1 ? commit.length : end + 1;
  const lines = armored.trimEnd().split('\n').join('\n ');
  return Buffer.concat([commit.subarray(0, at), Buffer.from(`${header} ${lines}\n`), commit.subarray(at)]);
}

/** `Alice <alice@example.org> 1767225600 +0100`; omits characters that git's format does not allow. */
export function personLine({ name, email, at, offsetMinutes }: Signature): string {
  const plain = (text: string) =>
    text
      .toWellFormed()
      .replace(/[<>\x00-\x1f\x7f]+/g, ' ')
      .trim();
  const minutes = Math.abs(offsetMinutes);
  const two = (count: number) => String(count).padStart(2, '0');
  const zone = `${offsetMinutes < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${two(minutes % 60)}`;
  return `${plain(name) || 'unknown'} <${plain(email)}> ${Math.floor(at / 1000)} ${zone}`;
}
