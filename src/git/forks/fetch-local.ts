import { internal } from '../../kernel/index.ts';
import { checked } from '../objects/browse.ts';
import type { GitRunner } from '../processes/git-runner.ts';
import { singleProtocolEnvironment } from '../remotes/remote.ts';
import { isBranchName } from '../refs/ref-name.ts';

/** Namespace of commits fetched from another local repository, until a ref of the repository points to them. */
const syncRefPrefix = 'refs/hearth/sync/';

/**
 * Fetches a branch of another repository on this machine under a hidden name. Copies only missing objects. Throws
 * `internal` if git fails.
 * @param refName last part of the hidden name; must differ between concurrent fetches
 * @returns the commit that the branch named
 */
export async function fetchLocal(
  runner: GitRunner,
  repository: string,
  source: string,
  branch: string,
  refName: string,
  timeLimitMs: number,
): Promise<string> {
  if (!isBranchName(branch) || !/^[\w-]+$/.test(refName)) throw internal('not the name of a branch');
  const ref = `${syncRefPrefix}${refName}`;
  const argv = [
    `--git-dir=${repository}`,
    'fetch',
    '--quiet',
    '--no-tags',
    '--no-write-fetch-head',
    '--no-recurse-submodules',
    '--no-auto-maintenance',
    source,
    `+refs/heads/${branch}:${ref}`,
  ];
  const environment = singleProtocolEnvironment('file');
  const { code, errorText } = await runner.run({ argv, timeLimitMs, yields: true, environment }, 64 * 1024);
  if (code !== 0) throw internal('git could not fetch from another repository', { cause: { code, errorText } });
  const parse = [`--git-dir=${repository}`, 'rev-parse', '--verify', '--quiet', ref];
  const { output } = await runner.run({ argv: parse, timeLimitMs: 30_000 }, 4_096);
  return checked(output.toString().trim());
}
