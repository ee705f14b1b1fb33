import { mkdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { conflict } from '../kernel/index.ts';
import type { BackupDeps } from './deps.ts';

const beatMs = 5_000;
/** A lock file older than this was left by a killed process. */
const deadAfterMs = 60_000;

const markAt = ({ config }: BackupDeps): string => path.join(config.dataDir, 'run', 'backup-under-way');

/**
 * Whether a backup is running, in this process or another. Until it ends nothing is permanently removed, neither from
 * the trash nor by packing.
 */
export async function isBackupRunning(deps: BackupDeps): Promise<boolean> {
  const mark = await stat(markAt(deps)).catch(() => null);
  return mark !== null && deps.clock.now() - mark.mtimeMs < deadAfterMs;
}

/** Runs `work` while holding the backup lock of the data folder. Throws `backup_under_way`. */
export async function withBackupLock<T>(deps: BackupDeps, work: () => Promise<T>): Promise<T> {
  const mark = markAt(deps);
  if (await isBackupRunning(deps)) throw conflict('backup_under_way', 'A backup is already in progress.');
  await mkdir(path.dirname(mark), { recursive: true, mode: 0o700 });
  await rm(mark, { force: true });
  const refused = await writeFile(mark, '', { flag: 'wx', mode: 0o600 }).then(
    () => false,
    () => true,
  );
  if (refused) throw conflict('backup_under_way', 'A backup is already in progress.');
  const touch = async (): Promise<void> => utimes(mark, deps.clock.now() / 1000, deps.clock.now() / 1000);
  await touch();
  const beat = setInterval(() => void touch().catch(() => {}), beatMs);
  try {
    return await work();
  } finally {
    clearInterval(beat);
    await rm(mark, { force: true });
  }
}
