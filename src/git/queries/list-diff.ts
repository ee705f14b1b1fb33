import { yieldToEventLoop } from '../../kernel/index.ts';
import { checked } from '../objects/browse.ts';
import type { BrowseDeps } from '../objects/browse.ts';
import { lineSplitter, readGit } from './read-git.ts';
import type { ReadOptions } from './read-git.ts';

type FileStatus = 'added' | 'deleted' | 'modified' | 'renamed' | 'copied' | 'type-changed';

/** One file in which two commits differ. */
export interface ChangedFile {
  status: FileStatus;
  oldPath: Buffer;
  newPath: Buffer;
  oldMode: string;
  newMode: string;
  oldOid: string;
  newOid: string;
  /** Similarity of a rename or copy in per cent. */
  similarity: number | null;
  /** Number of lines; null for binary files. */
  added: number | null;
  removed: number | null;
}

export interface DiffRange {
  /** The older commit or tree, or null if all files are new. */
  from: string | null;
  to: string;
  ignoreWhitespace?: boolean;
  /** Unchanged lines around each change; 3 by default. */
  contextLines?: number;
  /** Only these paths. */
  only?: readonly Buffer[];
  signal?: AbortSignal | undefined;
}

export interface DiffList {
  files: ChangedFile[];
  /** More files differ than are listed, or git ran out of time. */
  truncated: boolean;
}

/** Limit of listed files: longer lists are unreadable. */
const maxFiles = 3_000;

/** Each file takes up to six fields in the two lists. */
export const maxListFields = maxFiles * 6;

const statuses: Readonly<Record<string, FileStatus>> = {
  A: 'added',
  D: 'deleted',
  M: 'modified',
  R: 'renamed',
  C: 'copied',
  T: 'type-changed',
};

/** Arguments shared by all comparisons; the two commits and the paths come last. */
export function diffArguments(
  { from, to, ignoreWhitespace = false, contextLines, only = [] }: DiffRange,
  ...wanted: string[]
): string[] {
  const hasPatterns = !only.every(isText);
  return [
    ...(hasPatterns ? ['--no-literal-pathspecs'] : []),
    'diff-tree',
    '-r',
    '--no-commit-id',
    '--full-index',
    '-M',
    '-C',
    '-l400',
    '--no-ext-diff',
    '--no-textconv',
    '--no-color',
    '--submodule=short',
    '--ignore-submodules=none',
    '--diff-algorithm=histogram',
    ...(ignoreWhitespace ? ['-w'] : []),
    ...(contextLines === undefined ? [] : [`--unified=${contextLines}`]),
    ...wanted,
    ...(from === null ? ['--root', checked(to)] : [checked(from), checked(to)]),
    '--',
    ...only.map((path) => (hasPatterns ? pathspec(path) : path.toString())),
  ];
}

/** Arguments of a process are text here, so a path that is not UTF-8 is matched by a pattern (gitglossary(7)). */
const isText = (path: Buffer): boolean => Buffer.from(path.toString()).equals(path);

function pathspec(path: Buffer): string {
  if (isText(path)) return `:(literal)${path.toString()}`;
  const pattern = path.toString('latin1').replace(/[\\*?[\]]/g, '\\$&');
  return `:(glob)${pattern.replace(/[^\x20-\x7e]/g, '?')}`;
}

/**
 * The files that differ, with line counts. Names are bytes. Throws `git_busy`.
 * @param options.countsLines false omits the counts, for which git has to read and compare every file
 */
export async function listDiff(
  deps: BrowseDeps,
  path: string,
  range: DiffRange,
  { countsLines = true, ...options }: Pick<ReadOptions, 'environment'> & { countsLines?: boolean } = {},
): Promise<DiffList> {
  const fields: Buffer[] = [];
  const splitter = lineSplitter(0, (field) => fields.push(field) < maxListFields);
  const whole = await readGit(
    deps,
    path,
    diffArguments(range, '--raw', ...(countsLines ? ['--numstat'] : []), '-z'),
    splitter.feed,
    {
      signal: range.signal,
      ...options,
    },
  );
  await yieldToEventLoop();
  return parseDiffLists(fields, whole);
}

/** @param whole whether git wrote its lists to their end */
export function parseDiffLists(fields: readonly Buffer[], whole: boolean): DiffList {
  const files = parseLists(fields);
  return { files: files.slice(0, maxFiles), truncated: !whole || files.length > maxFiles };
}

/** First come all raw entries, then all counts, in the same order. */
function parseLists(fields: readonly Buffer[]): ChangedFile[] {
  const files: ChangedFile[] = [];
  let at = 0;
  while (at < fields.length && fields[at]![0] === 0x3a) {
    const [oldMode = '', newMode = '', oldOid = '', newOid = '', letter = ''] = fields[at]!.toString('latin1')
      .slice(1)
      .split(' ');
    const status = statuses[letter[0] ?? ''] ?? 'modified';
    const isPair = status === 'renamed' || status === 'copied';
    const oldPath = fields[at + 1];
    const newPath = isPair ? fields[at + 2] : oldPath;
    if (oldPath === undefined || newPath === undefined) break;
    const similarity = isPair ? Number(letter.slice(1)) : null;
    files.push({ status, oldPath, newPath, oldMode, newMode, oldOid, newOid, similarity, added: null, removed: null });
    at += isPair ? 3 : 2;
  }
  const byPath = new Map(files.map((file) => [file.newPath.toString('latin1'), file]));
  while (at < fields.length) {
    const [, added = '-', removed = '-', name = ''] =
      /^(-|\d+)\t(-|\d+)\t(.*)$/s.exec(fields[at]!.toString('latin1')) ?? [];
    const isPair = name === '';
    const file = byPath.get(isPair ? (fields[at + 2]?.toString('latin1') ?? '') : name);
    if (file && added !== '-') {
      file.added = Number(added);
      file.removed = Number(removed);
    }
    at += isPair ? 3 : 1;
  }
  return files;
}
