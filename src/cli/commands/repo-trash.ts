import type { Command } from 'commander';
import { localAdministrator } from '../../access/index.ts';
import { notFound } from '../../kernel/index.ts';
import type { ListedRepository } from '../../repositories/index.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import type { Run } from '../action.ts';
import { findRepository } from './find-repository.ts';
import { fullName, goesOn, repositoryToJson } from './repository-output.ts';

/** `hearth repo delete|restore`: moves repositories to the trash and back. */
export function addRepoTrashCommands(repo: Command, run: Run): void {
  withExamples(
    repo
      .command('delete')
      .alias('remove')
      .description('delete a repository; it can be restored for a while')
      .argument('<owner/name>', 'repository')
      .option('--dry-run', 'only show what would be deleted')
      .action(run(deleteRepository)),
    'hearth repo delete alice/garden',
  );
  withExamples(
    repo
      .command('restore')
      .description('restore a deleted repository')
      .argument('<owner/name>', 'repository or repository id')
      .option('--as <name>', 'new name, if the old name is in use')
      .option('--dry-run', 'only show what would be restored')
      .action(run(restoreRepository)),
    'hearth repo list --deleted',
    'hearth repo restore alice/garden',
  );
}

async function deleteRepository(cli: Cli, { dryRun }: { dryRun?: true }, text: string): Promise<void> {
  const modules = await cli.openModules();
  const { repository, canonical } = await findRepository(modules, text);
  const name = `${canonical.owner}/${canonical.name}`;
  if (dryRun) return cli.output.result(`Would delete ${name}.`, repositoryToJson(repository, canonical.owner));
  await cli.confirm(`Delete ${name}?`);
  const deleted = await modules.repositories.trash.move(localAdministrator, canonical.owner, canonical.name);
  const until = goesOn(deleted, modules.config.repositories.trashKeepMs);
  cli.output.result(
    `Deleted ${name}. To restore it before ${until}: hearth repo restore ${name}`,
    repositoryToJson(deleted, canonical.owner),
  );
}

async function restoreRepository(
  cli: Cli,
  { as, dryRun }: { as?: string; dryRun?: true },
  text: string,
): Promise<void> {
  const modules = await cli.openModules();
  const row = inTrash(await modules.repositories.trash.list(), text);
  const name = `${row.owner.handle}/${as ?? row.name}`;
  if (dryRun) return cli.output.result(`Would restore ${name}.`, repositoryToJson(row, row.owner.handle));
  const restored = await modules.repositories.trash.restore(localAdministrator, row.id, as);
  cli.output.result(`Restored ${name}.`, repositoryToJson(restored, row.owner.handle));
}

/** By id or name; if several share the name, the one deleted last. */
function inTrash(rows: readonly ListedRepository[], text: string): ListedRepository {
  const wanted = text.replace(/\.git$/, '').toLowerCase();
  const found = rows.find((row) => row.id === text || fullName(row).toLowerCase() === wanted);
  if (found === undefined) throw notFound('not_in_trash', `The deleted repository ${text} cannot be restored.`);
  return found;
}
