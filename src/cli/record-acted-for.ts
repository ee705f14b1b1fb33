import type { Command } from 'commander';
import type { Cli } from './cli.ts';

/** Records in the audit log that a command changed or read something as a user of the server: `--as <user>`. */
export async function recordActedFor(cli: Cli, command: Command): Promise<void> {
  const { as } = command.opts<{ as?: string }>();
  // Other commands use `--as` for the new name of a repository.
  if (as === undefined || !command.options.some(({ flags }) => flags === '--as <user>')) return;
  const { findPerson } = await import('./commands/find-person.ts');
  const modules = await cli.openModules();
  const { id } = await findPerson(modules, as);
  modules.logger.info('person.acted_for', { personId: id, command: namesOf(command).join(' ') });
}

/** `issue comment`, without the name of the program. */
function namesOf(command: Command): string[] {
  return command.parent === null ? [] : [...namesOf(command.parent), command.name()];
}
