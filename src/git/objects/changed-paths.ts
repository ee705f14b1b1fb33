import { internal } from '../../kernel/index.ts';
import { checked } from './browse.ts';
import type { BrowseDeps } from './browse.ts';

/**
 * Names of the files that differ between two commits, as text; a moved file counts under both names. Null if there are
 * more than `limit`. Throws `git_busy`, `invalid_object_id`.
 */
export async function changedPaths(
  { runner, shortSlots, limits }: Pick<BrowseDeps, 'runner' | 'shortSlots' | 'limits'>,
  path: string,
  from: string,
  to: string,
  { limit }: { limit: number },
): Promise<string[] | null> {
  const leave = await shortSlots.acquire({ repository: path });
  try {
    const argv = [
      `--git-dir=${path}`,
      'diff-tree',
      '-r',
      '-z',
      '--name-only',
      '--no-renames',
      '--no-ext-diff',
      '--no-textconv',
      checked(from),
      checked(to),
      '--',
    ];
    const { code, output, errorText } = await runner.run(
      { argv, timeLimitMs: limits.shortMs, memoryLimitBytes: limits.readMemoryBytes },
      limits.shortOutputBytes,
    );
    if (code !== 0) throw internal('git could not compare commits', { cause: { code, errorText } });
    const names = output
      .toString('utf8')
      .split('\0')
      .filter((name) => name !== '');
    return names.length > limit ? null : names;
  } finally {
    leave();
  }
}
