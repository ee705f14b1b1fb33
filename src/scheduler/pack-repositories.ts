import type { Backups } from '../backup/index.ts';
import type { ControlCommand } from '../control/index.ts';
import type { Git } from '../git/index.ts';
import { isDomainError } from '../kernel/index.ts';
import type { Clock } from '../kernel/index.ts';
import type { Repositories } from '../repositories/index.ts';

interface Needs {
  git: Pick<Git, 'maintenance' | 'storage'>;
  repositories: Pick<Repositories, 'listAll'>;
  backups: Pick<Backups, 'isRunning'>;
  clock: Clock;
}

/**
 * Repacks repositories that need it, within a time limit; ends early when a backup begins, because packing would remove
 * files that it copies. Unreachable objects are kept for a month, so that a wrong push can be undone.
 */
export async function packRepositories({ git, repositories, backups, clock }: Needs, hours: number): Promise<number> {
  const until = clock.now() + hours * 3_600_000;
  const rows = await repositories.listAll();
  const folders = rows.map(({ owner, id }) => git.storage.pathOf(owner.id, id));
  return git.maintenance.packAll(folders, async () => clock.now() < until && !(await backups.isRunning()));
}

/**
 * Handles `hearth repo storage` in the running server, which has pushes wait meanwhile: writes `{bytes}` as JSON, null
 * where nothing moved; exit code 4 for a repository that is busy, or while a backup is made.
 */
export const storageControlCommands = ({
  backups,
  git,
}: Pick<Needs, 'backups' | 'git'>): Record<string, ControlCommand> => ({
  async 'repo.storage'({ ownerId, repositoryId, place }, { output }) {
    if (await backups.isRunning()) return 4;
    const path = git.storage.pathOf(String(ownerId), String(repositoryId));
    try {
      output.write(JSON.stringify({ bytes: await git.storage.moveTo(path, place === 'store' ? 'store' : 'local') }));
      return 0;
    } catch (error) {
      if (isDomainError(error) && error.reason === 'repository_busy') return 4;
      throw error;
    }
  },
});

/**
 * Handles `hearth repo gc` in the running server, which knows about pushes in progress: exit code 4 for a repository
 * with one.
 */
export const packingControlCommands = ({
  backups,
  git,
}: Pick<Needs, 'backups' | 'git'>): Record<string, ControlCommand> => ({
  async 'repo.gc'(parameters) {
    if (await backups.isRunning()) return 4;
    return (await git.maintenance.pack(
      git.storage.pathOf(String(parameters['ownerId']), String(parameters['repositoryId'])),
    ))
      ? 0
      : 4;
  },
});
