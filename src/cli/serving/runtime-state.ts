import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the running server tells commands beside it: `run/server.json` of the data folder. */
export interface RuntimeState {
  readonly pid: number;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Where the doors really are, once they are open; port 0 has become a number. */
  readonly http: { readonly host: string; readonly port: number } | null;
  readonly ssh: { readonly host: string; readonly port: number } | null;
  readonly grpc?: { readonly host: string; readonly port: number } | null;
  /** The web address that the start block showed. */
  readonly webUrl: string | null;
}

const path = (dataDir: string): string => join(dataDir, 'run', 'server.json');

export function writeRuntimeState(dataDir: string, facts: RuntimeState): void {
  mkdirSync(join(dataDir, 'run'), { recursive: true, mode: 0o700 });
  // A reader sees the old file or the new one, never half of one.
  const draft = `${path(dataDir)}.${facts.pid}`;
  writeFileSync(draft, JSON.stringify(facts) + '\n', { mode: 0o600 });
  renameSync(draft, path(dataDir));
}

/** Null when no server has run here, or what it left cannot be read. A killed server leaves its facts behind. */
export function readRuntimeState(dataDir: string): RuntimeState | null {
  try {
    return JSON.parse(readFileSync(path(dataDir), 'utf8')) as RuntimeState;
  } catch {
    return null;
  }
}

/** The facts of a server that is still there; null after one that was killed. */
export function readRunningServer(dataDir: string): RuntimeState | null {
  const facts = readRuntimeState(dataDir);
  if (facts === null) return null;
  try {
    process.kill(facts.pid, 0);
    return facts;
  } catch (error) {
    // Not allowed to ask means that somebody is there to be asked.
    return error instanceof Error && 'code' in error && error.code === 'EPERM' ? facts : null;
  }
}

export function removeRuntimeState(dataDir: string): void {
  rmSync(path(dataDir), { force: true });
}
