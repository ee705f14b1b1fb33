// largeClient(t) → a work tree whose push has many refs with long names and a pack of more than a mebibyte, so that
// neither the report of a refusal nor the pack fits into a pipe. pushWithin(args, {cwd, env}) → output of stock git;
// kills it, and says so, when it hangs.
import { randomBytes } from 'node:crypto';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { clientEnvironment, gitSync } from './git-fixture.ts';
import type { ClientResponse } from './git-fixture.ts';

/**
 * Each has more than 200 bytes of report, together three times the capacity of a pipe; there are two on the path. The
 * time of git's client over HTTP grows with the square of this.
 */
export const branchCount = 1_000;
const packBytes = 1_500_000;
/** More than the smallest limit that the settings allow. */
const fileCount = 1_100;

export const branchName = (n: number): string => `refs/heads/${'a-long-name-'.repeat(15)}${n}`;

/** Branches only; all of them point to `tip`. */
export function createLargePush(t: Owner): { work: string; tip: string } {
  const work = temporaryFolder(t);
  gitSync(['init', '--quiet', '--initial-branch=main'], { cwd: work });
  writeFileSync(path.join(work, 'large'), randomBytes(packBytes));
  for (let n = 0; n < fileCount; n += 1) writeFileSync(path.join(work, `small-${n}`), `${n}\n`);
  gitSync(['add', '.'], { cwd: work });
  gitSync(['commit', '--quiet', '--message=large'], { cwd: work });
  const tip = gitSync(['rev-parse', 'HEAD'], { cwd: work });
  addRefs(
    path.join(work, '.git'),
    tip,
    Array.from({ length: branchCount }, (_, n) => branchName(n)),
  );
  return { work, tip };
}

/** Adds refs to packed-refs, all of one commit: loose files would take seconds. */
export function addRefs(repository: string, tip: string, refs: readonly string[]): void {
  const file = path.join(repository, 'packed-refs');
  const header = '# pack-refs with: peeled fully-peeled sorted ';
  const [, ...before] = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [header];
  // Sorted by name, as git expects.
  const lines = [...before, ...refs.map((ref) => `${tip} ${ref}`)].sort((a, b) => (a.slice(41) < b.slice(41) ? -1 : 1));
  writeFileSync(file, `${[header, ...lines].join('\n')}\n`);
}

/** Far more than any of these pushes takes on a slow machine. */
const longestMs = 120_000;

/** @returns git's output; `code` is null when it had to be killed */
export function pushWithin(
  args: readonly string[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Promise<ClientResponse> {
  return new Promise((resolve, reject) => {
    // A process group of its own: git-remote-http and ssh would outlive git.
    const child = spawn('git', args, { cwd, env: { ...clientEnvironment, ...env }, detached: true });
    const timer = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), longestMs);
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
    child.stdin.end();
    child.on('error', reject).on('close', (code) => {
      clearTimeout(timer);
      resolve({ code, ...output });
    });
  });
}
