import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isProcessAlive } from '../../kernel/index.ts';

/** The state of the running server for commands: `run/server.json` of the data folder. */
interface RuntimeState {
  readonly pid: number;
  /** ISO 8601. */
  readonly startedAt: string;
  /** The bound addresses, once listening; port 0 has become a number. */
  readonly http: { readonly host: string; readonly port: number } | null;
  readonly ssh: { readonly host: string; readonly port: number } | null;
  readonly grpc?: { readonly host: string; readonly port: number } | null;
  /** The web URL shown in the startup banner. */
  readonly webUrl: string | null;
}

const path = (dataDir: string): string => join(dataDir, 'run', 'server.json');

export function writeRuntimeState(dataDir: string, facts: RuntimeState): void {
  mkdirSync(join(dataDir, 'run'), { recursive: true, mode: 0o700 });
  // Replaced atomically, so that a reader never sees a partial file.
  const draft = `${path(dataDir)}.${facts.pid}`;
  writeFileSync(draft, JSON.stringify(facts) + '\n', { mode: 0o600 });
  renameSync(draft, path(dataDir));
}

/** Null if there is no valid file. A killed server leaves its file behind. */
export function readRuntimeState(dataDir: string): RuntimeState | null {
  try {
    return JSON.parse(readFileSync(path(dataDir), 'utf8')) as RuntimeState;
  } catch {
    return null;
  }
}

/** The state of a running server; null if it was killed. */
export function readRunningServer(dataDir: string): RuntimeState | null {
  const facts = readRuntimeState(dataDir);
  if (facts === null) return null;
  return isProcessAlive(facts.pid) ? facts : null;
}

export function removeRuntimeState(dataDir: string): void {
  rmSync(path(dataDir), { force: true });
}
