import { isDomainError } from '../kernel/index.ts';

/** What the running server answers to a question; null when none runs. */
export async function askServer(dataDir: string, program: string, more: object = {}): Promise<string | null> {
  const { runControlCommand } = await import('../control/index.ts');
  let text = '';
  try {
    await runControlCommand(
      dataDir,
      { program, ...more },
      { output: (chunk) => void (text += chunk.toString('utf8')), complain: () => {} },
    );
    return text;
  } catch (error) {
    if (isDomainError(error) && error.reason === 'server_not_running') return null;
    throw error;
  }
}
