import type { ControlCommand } from '../control/index.ts';
import type { Repositories } from '../repositories/index.ts';

/**
 * Handles `hearth job retry` in the running server: announces a push there, where runners and deliveries wait for what
 * listeners record. Returns `{isAnnounced, error}` as JSON.
 */
export const pushControlCommands = ({
  repositories,
}: {
  repositories: Pick<Repositories, 'pushes'>;
}): Record<string, ControlCommand> => ({
  async 'push.announce'(parameters, { output }) {
    const push = { id: String(parameters['id']), repositoryId: String(parameters['repositoryId']) };
    output.write(JSON.stringify(await repositories.pushes.announceAgain(push)));
    return 0;
  },
});
