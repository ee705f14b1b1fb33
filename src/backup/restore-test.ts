import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { copyFiles } from './restore-files.ts';
import { manifestName, restoreTestFileName, readManifest } from './manifest.ts';
import type { RestoreTest } from './list-backups.ts';
import type { BackupDeps, OnProgress } from './deps.ts';
import { verifyBackup } from './verify-backup.ts';

/**
 * Tests a backup by restoring it to a temporary folder: each file is compared with its hash while copying, then the
 * copy's database, rows, refs and objects are checked. The result is stored with the backup; the copy is removed.
 * Throws `no_backup`.
 */
export async function runRestoreTest(
  deps: BackupDeps,
  folder: string,
  onProgress: OnProgress = () => {},
): Promise<RestoreTest> {
  const manifest = await readManifest(folder);
  const copy = path.join(deps.config.dataDir, 'tmp', `drill-${deps.random.uuid()}`);
  await mkdir(copy, { recursive: true, mode: 0o700 });
  try {
    const problems = await copyFiles(folder, manifest, copy, onProgress, true);
    await writeFile(path.join(copy, manifestName), JSON.stringify(manifest));
    const parts = await verifyBackup(deps, copy, { onProgress, hashes: false });
    for (const { problems: more } of parts) problems.push(...more.filter((problem) => !problems.includes(problem)));
    const broken = new Set(
      manifest.repositories
        .map(({ folder: relativePath }) => relativePath)
        .filter((relativePath) => problems.some((text) => text.startsWith(relativePath))),
    );
    const total = manifest.repositories.length;
    const result: RestoreTest = {
      at: new Date(deps.clock.now()).toISOString(),
      proven: total - broken.size,
      total,
      problems,
    };
    await keep(folder, result);
    if (problems.length === 0) deps.logger.info('backup.proven', { folder, repositories: total });
    else deps.logger.error('backup.not_proven', { folder, problems });
    return result;
  } finally {
    await rm(copy, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function keep(folder: string, result: RestoreTest): Promise<void> {
  const draft = path.join(folder, `.${restoreTestFileName}`);
  await writeFile(draft, `${JSON.stringify(result)}\n`, { mode: 0o600, flush: true });
  await rename(draft, path.join(folder, restoreTestFileName));
}
