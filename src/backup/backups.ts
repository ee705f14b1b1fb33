import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createBackup } from './create-backup.ts';
import type { CreatedBackup, CreateOptions } from './create-backup.ts';
import { runRestoreTest } from './restore-test.ts';
import { findBackup, listBackups, newestOf } from './list-backups.ts';
import type { ListedBackup, RestoreTest, Verification } from './list-backups.ts';
import { verifiedName } from './manifest.ts';
import { pruneBackups, usualRule } from './prune-backups.ts';
import type { KeepRule } from './prune-backups.ts';
import type { BackupDeps, OnProgress } from './deps.ts';
import { isBackupRunning } from './backup-lock.ts';
import { verifyBackup } from './verify-backup.ts';
import type { VerificationResult } from './verification-result.ts';

/** The state of backups, for the status page and metrics. */
export interface BackupState {
  newest: ListedBackup | null;
  /** The newest restore test that found no damage. */
  lastRestoreTest: RestoreTest | null;
}

/** Backups of the whole instance, and restore tests of them. */
export interface Backups {
  create(options?: CreateOptions): Promise<CreatedBackup>;
  list(): Promise<ListedBackup[]>;
  state(): Promise<BackupState>;
  /** Verifies a backup by name; without `all`, a sample of fifty repositories. Throws `no_backup`. */
  verify(name: string, options?: { all?: boolean; onProgress?: OnProgress }): Promise<VerificationResult[]>;
  /** Runs a restore test of one backup, or the newest. Throws `no_backup`. */
  drill(name?: string, onProgress?: OnProgress): Promise<RestoreTest>;
  prune(rule: KeepRule, options?: { dryRun?: boolean }): Promise<{ removed: ListedBackup[]; kept: ListedBackup[] }>;
  /** While a backup runs, nothing may be permanently removed. */
  isRunning(): Promise<boolean>;
  /** The scheduled task: a backup, its restore test, and pruning. */
  nightly(): Promise<void>;
}

const sampled = 50;

export function createBackups(deps: BackupDeps): Backups {
  const { folder } = deps.config.backup;
  const backups: Backups = {
    create: (options) => createBackup(deps, options),
    list: () => listBackups(folder),
    async state() {
      const all = await listBackups(folder);
      const restoreTests = all.flatMap(({ proof }) => (proof !== null && proof.problems.length === 0 ? [proof] : []));
      return {
        newest: all[0] ?? null,
        lastRestoreTest: restoreTests.toSorted((a, b) => b.at.localeCompare(a.at))[0] ?? null,
      };
    },
    async verify(name, { all = false, onProgress = () => {} } = {}) {
      const at = await findBackup(folder, name);
      const parts = await verifyBackup(deps, at, { onProgress, ...(all ? {} : { sample: sampled }) });
      const verification: Verification = {
        at: new Date(deps.clock.now()).toISOString(),
        isWhole: all,
        problems: parts.flatMap(({ problems }) => problems),
      };
      // A backup on a read-only disk can still be verified.
      await writeFile(path.join(at, verifiedName), `${JSON.stringify(verification)}\n`, { mode: 0o600 }).catch(
        (error: unknown) => deps.logger.info('backup.not_noted', { error }),
      );
      return parts;
    },
    async drill(name, onProgress) {
      return runRestoreTest(
        deps,
        name === undefined ? await newestOf(folder) : await findBackup(folder, name),
        onProgress,
      );
    },
    prune: (rule, options) => pruneBackups(folder, rule, options),
    isRunning: () => isBackupRunning(deps),
    async nightly() {
      await backups.create();
      await backups.drill();
      await backups.prune(usualRule);
    },
  };
  return backups;
}
