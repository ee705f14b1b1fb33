import type { ControlParameters } from '../control/index.ts';
import { isDomainError } from '../kernel/index.ts';

/** Calls a control command of the running server and returns its output; null when no server is running. */
export async function callServer(
  dataDir: string,
  command: string,
  parameters: ControlParameters = {},
): Promise<string | null> {
  const { runControlCommand } = await import('../control/index.ts');
  let text = '';
  try {
    await runControlCommand(
      dataDir,
      { command, parameters },
      { output: (chunk) => void (text += chunk.toString('utf8')), writeError: () => {} },
    );
    return text;
  } catch (error) {
    if (isDomainError(error) && error.reason === 'server_not_running') return null;
    throw error;
  }
}
