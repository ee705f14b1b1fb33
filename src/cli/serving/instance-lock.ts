import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { unavailable } from '../../kernel/index.ts';
import { withHint } from '../report-error.ts';
import { readRuntimeState } from './runtime-state.ts';

interface InstanceLock {
  release(): void;
}

/**
 * Makes this process the only one that may serve, or migrate, a data folder. The lock is SQLite's file lock: the system
 * releases it when the process ends, and it also works between containers that share the folder, where process ids mean
 * nothing. Throws `data_dir_in_use` with the other process's id.
 * @param hint remedy; another data folder would be wrong advice for a command about this one
 */
export function takeInstanceLock(
  dataDir: string,
  { hint = 'stop it first, or use a separate data folder for this server: --data-dir' }: { hint?: string } = {},
): InstanceLock {
  const folder = join(dataDir, 'run');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lock = new DatabaseSync(join(folder, 'hearth.lock'), { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch {
    lock.close();
    const holder = readRuntimeState(dataDir);
    const who = holder === null ? 'another process' : `process ${holder.pid}`;
    throw withHint(unavailable('data_dir_in_use', `A Hearth server is already running in ${dataDir} (${who}).`), hint);
  }
  return { release: () => lock.close() };
}
