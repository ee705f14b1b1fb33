import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { localOrigin } from '../serving/addresses.ts';
import { withExamples } from '../help.ts';
import type { Run } from '../action.ts';

const timeoutMs = 4_000;

/** `hearth health`: health check for containers. */
export function addHealthCommand(program: Command, run: Run): void {
  withExamples(
    program.command('health').description('check the health of the running server').action(run(checkHealth)),
    'hearth health && echo fine',
  );
}

async function checkHealth(cli: Cli): Promise<void> {
  const { config } = await cli.loadConfig();
  const url = `${localOrigin(config)}/healthz`;
  const problem = await problemAt(url);
  if (problem !== null) cli.exitCode = 1;
  cli.output.print(problem === null ? 'ok\n' : `${problem}\n`, { ok: problem === null, url, problem });
}

/** The problem with the server's response; null if there is none. */
async function problemAt(url: string): Promise<string | null> {
  try {
    const response = await fetch(url, {
      signal: AbortSignal.timeout(timeoutMs),
      redirect: 'error',
      headers: { connection: 'close' },
    });
    const text = (await response.text()).trim().slice(0, 200);
    return response.status === 200 ? null : `${url} answers ${response.status}${text === '' ? '' : `: ${text}`}`;
  } catch (error) {
    const cause =
      error instanceof Error && error.cause instanceof Error && 'code' in error.cause
        ? String(error.cause.code)
        : String(error);
    return `no server answers at ${url} (${cause})`;
  }
}
