import { invalid } from '../../kernel/index.ts';
import { checked } from '../objects/browse.ts';
import type { BrowseDeps } from '../objects/browse.ts';
import { readGitToEnd } from './read-git.ts';

export interface GrepRequest {
  /** The commit. */
  oid: string;
  /** One line of text. */
  text: string;
  /** `text` is a POSIX extended regular expression; otherwise it is literal. */
  isPattern: boolean;
  /** Only for the letters A to Z; git compares others exactly. */
  ignoresCase: boolean;
  /** Line limits: in total and per file. */
  limit: number;
  perFile: number;
}

export interface GrepLine {
  file: Buffer;
  /** Counted from 1. */
  number: number;
  text: Buffer;
}

/** Matching lines of a commit's text files, in the order of their paths. */
export interface Grep {
  lines: GrepLine[];
  /** Whether the result is complete: false if a limit or the time limit was reached. */
  isWhole: boolean;
}

const maxOutputBytes = 8 * 1024 * 1024;

/** Searches the files of a commit, except binary ones. Throws `git_busy`, `invalid_pattern`. */
export async function grep(deps: BrowseDeps, path: string, request: GrepRequest): Promise<Grep> {
  const { text, isPattern, ignoresCase, limit, perFile } = request;
  const oid = checked(request.oid);
  if (/[\n\0]/.test(text)) throw invalid('invalid_pattern', 'Search for a single line of text.', { field: 'q' });
  const lines: GrepLine[] = [];
  const reader = grepReader(oid.length + 1, (line) => lines.push(line) < limit);
  const argv = [
    'grep',
    '--no-color',
    '-I',
    '-z',
    '-n',
    '--full-name',
    `--max-count=${perFile}`,
    isPattern ? '--extended-regexp' : '--fixed-strings',
    ...(ignoresCase ? ['--ignore-case'] : []),
    '-e',
    text,
    oid,
    '--',
  ];
  const { isWhole, code } = await readGitToEnd(deps, path, argv, reader, { yields: true });
  if (isPattern && code === 128)
    throw invalid('invalid_pattern', 'git does not understand this regular expression.', { field: 'q' });
  return { lines, isWhole: isWhole && (code === 0 || code === 1) };
}

/**
 * Parses `<oid>:<path> NUL <number> NUL <line> LF` (git-grep(1) with `-z -n`), where a path may contain a line feed and
 * a line a NUL.
 * @param maxBytes limit of output to read
 */
export function grepReader(
  prefixBytes: number,
  take: (line: GrepLine) => boolean,
  maxBytes: number = maxOutputBytes,
): (chunk: Buffer) => boolean {
  let rest: Buffer = Buffer.alloc(0);
  let bytes = 0;
  return (chunk) => {
    bytes += chunk.length;
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const pathEnd = rest.indexOf(0);
      const numberEnd = pathEnd === -1 ? -1 : rest.indexOf(0, pathEnd + 1);
      const end = numberEnd === -1 ? -1 : rest.indexOf(0x0a, numberEnd + 1);
      if (end === -1) return bytes <= maxBytes;
      const line: GrepLine = {
        file: Buffer.from(rest.subarray(prefixBytes, pathEnd)),
        number: Number(rest.toString('latin1', pathEnd + 1, numberEnd)),
        text: Buffer.from(rest.subarray(numberEnd + 1, end)),
      };
      rest = rest.subarray(end + 1);
      if (!take(line)) return false;
    }
  };
}
