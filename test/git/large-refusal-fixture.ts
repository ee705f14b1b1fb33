// largeClient(t) → a work tree whose push has many refs with long names and a pack of more than a mebibyte, so
// that neither the report of a refusal nor the pack fits into a pipe.
// pushWithin(args, {cwd, env}) → what stock git said; ends it, and says so, when it hangs.
import { randomBytes } from 'node:crypto';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { clientEnvironment, gitSync } from './git-fixture.ts';
import type { ClientAnswer } from './git-fixture.ts';

/** With 170 bytes of report each, four times what a pipe holds. */
export const branchCount = 1_500;
const packBytes = 1_500_000;

export const branchName = (n: number): string => `refs/heads/${'a-long-name-'.repeat(8)}${n}`;

/** Branches, and nothing else; `tip` is the commit of all of them. */
export function largeClient(t: Owner): { work: string; tip: string } {
  const work = temporaryFolder(t);
  gitSync(['init', '--quiet', '--initial-branch=main'], { cwd: work });
  writeFileSync(path.join(work, 'large'), randomBytes(packBytes));
  gitSync(['add', '.'], { cwd: work });
  gitSync(['commit', '--quiet', '--message=large'], { cwd: work });
  const tip = gitSync(['rev-parse', 'HEAD'], { cwd: work });
  const refs = Array.from({ length: branchCount }, (_, n) => `create ${branchName(n)} ${tip}\n`);
  gitSync(['update-ref', '--stdin'], { cwd: work, input: refs.join('') });
  gitSync(['pack-refs', '--all'], { cwd: work });
  return { work, tip };
}

/** Far more than any of these pushes takes on a slow machine. */
const longestMs = 120_000;

/** @returns the answer of git; `code` is null when it had to be ended */
export function pushWithin(
  args: readonly string[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Promise<ClientAnswer> {
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
