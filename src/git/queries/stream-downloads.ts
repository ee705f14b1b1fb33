import { PassThrough } from 'node:stream';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { internal, invalid } from '../../kernel/index.ts';
import { checked } from '../objects/browse.ts';
import type { BrowseDeps } from '../objects/browse.ts';
import type { GitExit } from '../processes/git-runner.ts';
import type { Semaphore } from '../../kernel/index.ts';
import { diffArguments } from './list-diff.ts';
import type { DiffRange } from './list-diff.ts';
import { openArchiveFolder } from './archive-folder.ts';
import { openSubstitution } from './export-subst.ts';

export interface StreamDeps extends BrowseDeps {
  /** Archives use slots of clones, not of pages. */
  slots: Semaphore;
}

interface StreamOptions {
  slots: Semaphore;
  timeLimitMs: number;
  client?: string | undefined;
  /** Another folder for git, instead of the repository's own. */
  gitDir?: string | undefined;
}

/**
 * Time in milliseconds to wait for the beginning before the stream is returned; a command that exceeds its memory limit
 * is usually killed within it.
 */
const beginningMs = 20_000;
/**
 * Size of the beginning in bytes: git writes an archive's folder before it reads the files, so a smaller size proves
 * nothing.
 */
const beginningBytes = 4_096;

/**
 * The output of a command as a stream with backpressure. The stream fails if git fails, so that a truncated output is
 * not taken for complete; destroying the stream kills git. If a command exceeds its memory limit before the beginning,
 * the function throws instead. Throws `git_busy`, `too_large_to_stream`.
 */
async function streamGit(
  { runner, limits }: BrowseDeps,
  path: string,
  argv: readonly string[],
  { slots, timeLimitMs, client, gitDir = path }: StreamOptions,
): Promise<Readable> {
  const leave = await slots.acquire({ repository: path, client });
  try {
    const git = runner.start({
      argv: [`--git-dir=${gitDir}`, ...argv],
      timeLimitMs,
      memoryLimitBytes: limits.readMemoryBytes,
      yields: true,
    });
    const output = new PassThrough();
    let bytes = 0;
    const begun = new Promise<'begun'>((resolve) => {
      git.stdout!.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes >= beginningBytes) resolve('begun');
      });
    });
    git.stdout!.pipe(output, { end: false });
    const early = await Promise.race([begun, git.exited, sleep(beginningMs, 'late' as const, { ref: false })]);
    if (typeof early === 'object' && early.stoppedBy === 'memory_limit') {
      throw invalid('too_large_to_stream', 'This is too large to send as one file. Clone the repository instead.');
    }
    const isWhole = ({ code, stoppedBy }: GitExit) => code === 0 && stoppedBy === null;
    const brokenOff = (exit: GitExit) =>
      internal('git stopped in the middle of an answer', { cause: { argv, ...exit, errorText: git.stderrText() } });
    if (typeof early === 'object' && !isWhole(early)) throw brokenOff(early);
    output.once('close', () => git.stop('aborted'));
    void git.exited.then((exit) => {
      leave();
      if (isWhole(exit)) output.end();
      else output.destroy(brokenOff(exit));
    });
    return output;
  } catch (error) {
    leave();
    throw error;
  }
}

const archiveLimitMs = 30 * 60_000;
const patchLimitMs = 60_000;

export type ArchiveFormat = 'tar.gz' | 'zip';

export interface ArchiveRequest {
  /** The commit. */
  oid: string;
  format: ArchiveFormat;
  /** The folder inside the archive, plain ASCII without a slash. */
  prefix: string;
  /** Identifies the client for the slots of clones. */
  client?: string;
}

/** All files of a commit, and whether they depend on the commit alone. */
export async function archive(
  deps: StreamDeps,
  path: string,
  { oid, format, prefix, client }: Omit<ArchiveRequest, 'format'> & { format: ArchiveFormat | 'tar' },
  readRefs: () => Promise<Iterable<readonly [ref: string, oid: string]> & { size: number }>,
): Promise<{ stream: Readable; isLasting: boolean }> {
  const argv = ['archive', `--format=${format}`, `--prefix=${prefix}/`, checked(oid)];
  const substitution = await openSubstitution(deps, path, oid, readRefs);
  const options = { slots: deps.slots, timeLimitMs: archiveLimitMs, client, gitDir: substitution.gitDir ?? path };
  try {
    const stream = await streamGit(deps, path, argv, options);
    stream.once('close', () => void substitution.dispose().catch(() => {}));
    return { stream, isLasting: substitution.isLasting };
  } catch (error) {
    await substitution.dispose();
    throw error;
  }
}

export interface SourceRequest {
  /** The commit. */
  oid: string;
  /** Path below the root, without leading or trailing slashes; empty for all files. */
  folder: string;
  client?: string;
}

/**
 * The files of a folder of a commit as a tar with full paths, as `go mod download` reads them from git: ignores
 * attributes that omit files from archives or expand text in them, but applies those about line ends.
 */
export async function sourceTar(
  deps: StreamDeps,
  path: string,
  { oid, folder, client }: SourceRequest,
): Promise<Readable> {
  const attributes = Buffer.from('* -export-subst -export-ignore\n');
  const { gitDir, dispose } = await openArchiveFolder(path, { refs: '', attributes });
  const lineEnds = ['-c', 'core.autocrlf=input', '-c', 'core.eol=lf'];
  const argv = [...lineEnds, 'archive', '--format=tar', checked(oid), ...(folder === '' ? [] : ['--', folder])];
  try {
    const stream = await streamGit(deps, path, argv, {
      slots: deps.slots,
      timeLimitMs: archiveLimitMs,
      client,
      gitDir,
    });
    stream.once('close', () => void dispose().catch(() => {}));
    return stream;
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** A commit as a mail for `git am`. */
export async function mailPatch(deps: StreamDeps, path: string, oid: string): Promise<Readable> {
  const argv = ['format-patch', '--stdout', '--no-signature', '--binary', '-1', checked(oid)];
  return streamGit(deps, path, argv, { slots: deps.shortSlots, timeLimitMs: patchLimitMs });
}

/** The commits between two commits as mails for `git am`, oldest first, without merge commits. */
export async function mailPatches(
  deps: StreamDeps,
  path: string,
  { from, to }: { from: string; to: string },
): Promise<Readable> {
  const argv = ['format-patch', '--stdout', '--no-signature', '--binary', `${checked(from)}..${checked(to)}`];
  return streamGit(deps, path, argv, { slots: deps.shortSlots, timeLimitMs: patchLimitMs });
}

/** Differences in the format of `git apply`. */
export async function plainDiff(deps: StreamDeps, path: string, range: DiffRange): Promise<Readable> {
  // As in `git diff`, ids are full only where a binary patch needs them. The histogram algorithm of pages takes minutes
  // for a long file with thousands of changes, the default one less than a second; a page stops it after seconds.
  const argv = diffArguments(range, '--patch', '--binary', '--no-full-index', '--diff-algorithm=default');
  return streamGit(deps, path, argv, { slots: deps.shortSlots, timeLimitMs: patchLimitMs });
}

/** A file of any size. */
export async function streamBlob(deps: StreamDeps, path: string, oid: string): Promise<Readable> {
  return streamGit(deps, path, ['cat-file', 'blob', checked(oid)], { slots: deps.slots, timeLimitMs: archiveLimitMs });
}
