import type { Backups } from '../backup/index.ts';
import type { ControlCommand } from '../control/index.ts';
import type { Git } from '../git/index.ts';
import type { Clock } from '../kernel/index.ts';
import type { Repositories } from '../repositories/index.ts';

interface Needs {
  git: Pick<Git, 'pack' | 'packAll' | 'repositoryPath'>;
  repositories: Pick<Repositories, 'listAll'>;
  backups: Pick<Backups, 'isRunning'>;
  clock: Clock;
}

/**
 * Packs anew what needs it, for so many hours; ends early when a backup begins, because packing would pull
 * files from under it. What nothing leads to stays a month, for whoever pushed wrongly.
 */
export async function packRepositories({ git, repositories, backups, clock }: Needs, hours: number): Promise<number> {
  const until = clock.now() + hours * 3_600_000;
  const rows = await repositories.listAll();
  const folders = rows.map(({ owner, id }) => git.repositoryPath(owner.id, id));
  return git.packAll(folders, async () => clock.now() < until && !(await backups.isRunning()));
}

/** What `hearth repo gc` asks of the running server, which knows who pushes: 4 for a repository that somebody pushes to. */
export const packingControlCommands = ({
  backups,
  git,
}: Pick<Needs, 'backups' | 'git'>): Record<string, ControlCommand> => ({
  async 'repo.gc'(ask) {
    if (await backups.isRunning()) return 4;
    return (await git.pack(git.repositoryPath(String(ask['ownerId']), String(ask['repositoryId'])))) ? 0 : 4;
  },
});
