// gitClient(folder) → runs the stock git client without this machine's settings, with an SSH key of its own.
import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

interface GitResult {
  code: number;
  stdout: string;
  stderr: string;
}

export function gitClient(folder: string) {
  const key = path.join(folder, 'client-key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'alice@example.org', '-f', key]);
  const environment = {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: 'Alice',
    GIT_AUTHOR_EMAIL: 'alice@example.org',
    GIT_COMMITTER_NAME: 'Alice',
    GIT_COMMITTER_EMAIL: 'alice@example.org',
    GIT_SSH_COMMAND: `ssh -i '${key}' -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR`,
  };
  const run = (cwd: string, ...args: string[]): Promise<GitResult> =>
    new Promise((resolve) => {
      const options = { cwd, env: environment, maxBuffer: 64 * 1024 * 1024 };
      execFile('git', args, options, (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1, stdout, stderr }),
      );
    });
  return {
    publicKeyFile: `${key}.pub`,
    publicKey: readFileSync(`${key}.pub`, 'utf8'),
    run,
    /** Like `run`, for what must succeed: returns the trimmed output. */
    async expect(cwd: string, ...args: string[]): Promise<string> {
      const response = await run(cwd, ...args);
      if (response.code !== 0) throw new Error(`git ${args.join(' ')}: ${response.stderr}`);
      return response.stdout.trim();
    },
  };
}
