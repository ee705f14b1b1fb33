import type { ChangedFile } from '../../git/index.ts';
import { invalid, nullIfNotFound } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { limits } from '../limits.ts';
import { pathBytes, pathText } from '../encode-path.ts';
import type { ThreadRow, ThreadSide } from '../schema/review-schema.ts';
import { roundCommitSchema } from '../schema/round-schema.ts';
import type { RoundRow } from '../schema/round-schema.ts';

/** Position of a new comment, as submitted by a form. */
export interface ThreadAnchor {
  /** A commit of the round; its head if omitted. */
  commitOid?: string | null | undefined;
  /** Encoded by `pathText`; null for the round as a whole. */
  path: string | null;
  side?: ThreadSide | null | undefined;
  /** From 1; null for the file as a whole. */
  firstLine?: number | null | undefined;
  lastLine?: number | null | undefined;
}

export type ThreadLocation = Pick<ThreadRow, 'commitOid' | 'path' | 'side' | 'firstLine' | 'lastLine' | 'quoted'>;

/**
 * Finds the position of a new thread and the lines that it quotes, in any line of a changed file, also far from
 * changes. Throws `commit_not_in_round`, `file_not_changed`, `invalid_lines`, `too_many_lines`, `no_lines_in_file` for
 * files without displayable lines: binary and very large files, submodules.
 * @param path folder of the repository
 */
export async function locateThread(
  deps: Pick<PullDeps, 'db' | 'git'>,
  path: string,
  round: RoundRow,
  wanted: ThreadAnchor,
): Promise<ThreadLocation> {
  const commitOid = await commitOf(deps, round, wanted.commitOid ?? null);
  if (wanted.path === null) return { commitOid, path: null, side: null, firstLine: null, lastLine: null, quoted: '' };
  const range = await shownRange(deps, path, round, commitOid);
  const side = wanted.side ?? 'NEW';
  const file = await changedFile(deps, path, range, side, wanted.path);
  const place = { commitOid, path: file.path, side };
  const { firstLine = null, lastLine = firstLine } = wanted;
  if (firstLine === null || lastLine === null) return { ...place, firstLine: null, lastLine: null, quoted: '' };
  if (!Number.isSafeInteger(firstLine) || !Number.isSafeInteger(lastLine) || firstLine < 1 || lastLine < firstLine)
    throw noSuchLines();
  if (lastLine - firstLine >= limits.linesPerThread)
    throw invalid('too_many_lines', `A comment can cover at most ${limits.linesPerThread} lines.`, { field: 'lines' });
  const lines = await linesOf(deps, path, file);
  if (lines === null)
    throw invalid('no_lines_in_file', 'This file’s lines are not shown. Comment on the whole file instead.', {
      field: 'lines',
    });
  if (lastLine > lines.length) throw noSuchLines();
  return { ...place, firstLine, lastLine, quoted: quote(lines.slice(firstLine - 1, lastLine)) };
}

const noSuchLines = () => invalid('invalid_lines', 'The file does not have these lines.', { field: 'lines' });

async function commitOf({ db }: Pick<PullDeps, 'db'>, round: RoundRow, wanted: string | null): Promise<string> {
  if (wanted === null || wanted === '' || wanted === round.headOid) return round.headOid;
  const { issueId, round: number } = round;
  if (!(await db.read.existsBy(roundCommitSchema, { issueId, round: number, oid: wanted })))
    throw invalid('commit_not_in_round', 'This commit is not part of the round.', { field: 'commit' });
  return wanted;
}

/** The two commits compared for a commit of a round; the head stands for the whole round. */
export async function shownRange(
  { git }: Pick<PullDeps, 'git'>,
  path: string,
  round: Pick<RoundRow, 'headOid' | 'baseOid'>,
  commitOid: string,
): Promise<{ from: string | null; to: string }> {
  if (commitOid === round.headOid) return { from: round.baseOid, to: commitOid };
  return { from: (await git.objects.commit(path, commitOid)).parents[0] ?? null, to: commitOid };
}

interface FileOnSide {
  path: string;
  mode: string;
  oid: string;
}

/** A file by its path on a side; the new path of a renamed file also works on the old side. */
async function changedFile(
  { git }: Pick<PullDeps, 'git'>,
  path: string,
  range: { from: string | null; to: string },
  side: ThreadSide,
  wanted: string,
): Promise<FileOnSide> {
  const bytes = pathBytes(wanted);
  const { files, truncated } = await git.queries.listDiff(path, range);
  const onOld = ({ status }: ChangedFile) => status !== 'added';
  const onNew = ({ status }: ChangedFile) => status !== 'deleted';
  if (side === 'NEW') {
    const file = files.find((each) => onNew(each) && each.newPath.equals(bytes));
    if (file !== undefined) return { path: pathText(file.newPath), mode: file.newMode, oid: file.newOid };
  } else {
    const old = files.filter(onOld);
    const file = old.find(({ oldPath }) => oldPath.equals(bytes)) ?? old.find(({ newPath }) => newPath.equals(bytes));
    if (file !== undefined) return { path: pathText(file.oldPath), mode: file.oldMode, oid: file.oldOid };
  }
  const commit = side === 'NEW' ? range.to : range.from;
  if (truncated && commit !== null) {
    const entry = await git.objects.entryAt(path, commit, bytes).catch(nullIfNotFound);
    if (entry !== null && entry.type !== 'tree') return { path: pathText(bytes), mode: entry.mode, oid: entry.oid };
  }
  throw invalid('file_not_changed', 'This file is not changed here.', { field: 'path' });
}

/** Null for files that are not shown as lines. */
async function linesOf(
  { git }: Pick<PullDeps, 'git'>,
  path: string,
  { mode, oid }: FileOnSide,
): Promise<Buffer[] | null> {
  if (mode === '160000') return null;
  const { content } = await git.objects.blob(path, oid, { maxBytes: limits.commentedFileBytes });
  return content === null ? null : splitLines(content);
}

/** Number of bytes that git examines to detect binary files (gitattributes(5), `diff`). */
const binaryBytes = 8_000;

/** The lines of a file without line feeds, as git counts them; null for a binary file. */
function splitLines(content: Buffer): Buffer[] | null {
  if (content.subarray(0, binaryBytes).includes(0)) return null;
  const lines: Buffer[] = [];
  for (let at = 0; at < content.length; ) {
    const end = content.indexOf(0x0a, at);
    lines.push(content.subarray(at, end === -1 ? content.length : end));
    at = end === -1 ? content.length : end + 1;
  }
  return lines;
}

/** Lines as text, whole ones up to the limit; truncates a longer first line. */
function quote(lines: readonly Buffer[]): string {
  const kept: string[] = [];
  let bytes = 0;
  for (const line of lines) {
    const text = line.subarray(0, limits.quotedBytes).toString('utf8').replaceAll('\0', '\ufffd').replace(/\r$/, '');
    bytes += text.length + 1;
    if (kept.length > 0 && bytes > limits.quotedBytes) break;
    kept.push(text);
  }
  return kept.join('\n');
}
