import { isDomainError } from '../kernel/index.ts';

/** The running server's reply to a control command; null when no server is running. */
export async function askServer(dataDir: string, program: string, more: object = {}): Promise<string | null> {
  const { runControlCommand } = await import('../control/index.ts');
  let text = '';
  try {
    await runControlCommand(
      dataDir,
      { program, ...more },
      { output: (chunk) => void (text += chunk.toString('utf8')), writeError: () => {} },
    );
    return text;
  } catch (error) {
    if (isDomainError(error) && error.reason === 'server_not_running') return null;
    throw error;
  }
}
