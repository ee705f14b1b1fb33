import type { Modules } from '../../app/index.ts';
import { callServer } from '../call-server.ts';
import type { Cli } from '../cli.ts';

/**
 * The modules for a command that starts imports. With a running server, imports are left to it: two processes that
 * write to one SQLite file for minutes would wait for each other's locks.
 */
export async function openForImports(cli: Cli): Promise<{ modules: Modules; isServed: boolean }> {
  const modules = await cli.openModules();
  const isServed = (await callServer(modules.config.dataDir, 'imports.run')) !== null;
  if (isServed) modules.imports.leaveToServer();
  return { modules, isServed };
}

/** Runs due imports: here, until they end, or in the server, in the background. */
export async function runImports({ imports, config }: Modules, isServed: boolean): Promise<void> {
  if (isServed && (await callServer(config.dataDir, 'imports.run')) !== null) return;
  await imports.runDue();
}
