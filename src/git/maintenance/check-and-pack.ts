import { internal } from '../../kernel/index.ts';
import type { GitRunner } from '../processes/git-runner.ts';
import { checkRepositoryFiles } from './check-repository-files.ts';
import { sharesPacks } from './find-needs.ts';
import { geometricRepack, packRefs } from './maintenance.ts';

const longMs = 3_600_000;
const maxOutputBytes = 16 * 1024 * 1024;

/**
 * Checks that packs and loose objects are intact, and that every object reachable from the refs exists.
 * @param full also reads the content of every object, which takes much longer
 * @returns git's messages, one sentence each; none if no problem was found
 */
export async function checkRepository(
  runner: GitRunner,
  path: string,
  { full = false }: { full?: boolean } = {},
): Promise<string[]> {
  const damaged = await checkRepositoryFiles(path);
  if (damaged.length > 0) return damaged.slice(0, 20);
  const depth = full ? ['--full', '--strict'] : ['--connectivity-only'];
  const argv = [`--git-dir=${path}`, 'fsck', ...depth, '--no-dangling', '--no-progress'];
  const { code, output, errorText } = await runner.run({ argv, timeLimitMs: longMs, yields: true }, maxOutputBytes);
  const messages = `${errorText}\n${output.toString('utf8')}`
    .split('\n')
    .filter((line) => line !== '' && !/^notice: /.test(line));
  // git exits with 0 if there are only warnings; old projects have permanent ones.
  if (code === 0) return [];
  return messages.length > 0 ? messages.slice(0, 20) : [`git fsck ended with ${code}`];
}

/**
 * Repacks a repository completely. Unreachable objects stay for thirty days, so that a concurrent push or reader never
 * misses one, and overwritten commits can be restored. A repository that shares packs with its forks or its source is
 * packed geometrically instead: a complete repack would write all shared objects again.
 */
export async function packRepository(runner: GitRunner, path: string, signal: AbortSignal): Promise<void> {
  const commands = (await sharesPacks(path)) ? [packRefs, geometricRepack] : [['gc', '--quiet', '--prune=30.days.ago']];
  for (const command of commands) {
    const argv = [`--git-dir=${path}`, ...command];
    const { code, errorText } = await runner.run({ argv, signal, timeLimitMs: longMs, yields: true }, maxOutputBytes);
    signal.throwIfAborted();
    if (code !== 0) throw internal(`git ${command[0]} failed`, { cause: { code, errorText } });
  }
}
