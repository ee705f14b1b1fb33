import type { ControlCommand } from '../control/index.ts';
import type { Imports } from '../imports/index.ts';

/**
 * Handles `hearth import` in the running server: runs due imports there, in the background. Two processes that write to
 * one SQLite file for minutes would wait for each other's locks.
 */
export const importControlCommands = ({
  imports,
}: {
  imports: Pick<Imports, 'wake'>;
}): Record<string, ControlCommand> => ({
  'imports.run'(_parameters, { output }) {
    imports.wake();
    output.write('{}');
    return Promise.resolve(0);
  },
});
