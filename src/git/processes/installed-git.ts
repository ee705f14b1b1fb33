import { tmpdir } from 'node:os';
import { silentLogger } from '../../kernel/index.ts';
import { createGitRunner } from './git-runner.ts';
import { findProgram, readVersion } from './version.ts';

/**
 * Finds the git that would be used, without a data folder and without writing anything: for `hearth version`. Throws
 * `git_missing`, `git_too_old`.
 */
export async function installedGit(program: string, searchPath: string): Promise<{ path: string; version: string }> {
  const path = findProgram(program, searchPath);
  const environment = {
    PATH: '/usr/bin:/bin',
    LC_ALL: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
  const runner = createGitRunner(path, { environment, home: tmpdir(), file: '/dev/null' }, silentLogger);
  const { output } = await runner.run({ argv: ['version'], timeLimitMs: 10_000 }, 4_096);
  return { path, version: readVersion(output.toString(), path).text };
}
