import { copyFile, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import type { Config } from '../../config/index.ts';
import { notFound } from '../../kernel/index.ts';
import type { Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import { absoluteTime } from '../terminal/times.ts';

/** `hearth rollback`: the way back to the program from before an upgrade. */
export function addRollbackCommand(program: Command, run: Run): void {
  withExamples(
    program.command('rollback').description('put back the copy of the database from before the last migration; the server must be stopped')
      .option('--to <file>', 'another copy than the newest')
      .option('--dry-run', 'only say what would be lost')
      .action(run(rollback)),
    'hearth rollback --dry-run',
    'hearth rollback --yes',
  );
}

interface LatePush {
  repository: string;
  at: string;
}

async function rollback(cli: Cli, { to, dryRun }: { to?: string; dryRun?: true }): Promise<void> {
  const { config } = await cli.loadConfig();
  const [{ databaseFile }, { becomeOwnerOf, requireDataDir }, { takeInstanceLock }] = await Promise.all([
    import('../../app.ts'), import('../data-dir.ts'), import('../serving/instance-lock.ts'),
  ]);
  const current = databaseFile(config);
  requireDataDir(config.dataDir, current, 'the settings');
  becomeOwnerOf(config.dataDir, cli.process);
  const lock = takeInstanceLock(config.dataDir);
  try {
    const snapshot = to === undefined ? await newestSnapshot(config) : path.resolve(cli.process.cwd(), to);
    const late = await pushesAfter(current, snapshot);
    const counted = late.length === 1 ? '1 push' : `${late.length} pushes`;
    const kept = path.join(config.dataDir, 'backups', `rolled-back-${absoluteTime(cli.clock.now()).replaceAll(':', '-')}.db`);
    for (const { repository, at } of late) cli.output.message(`  pushed afterwards: ${repository}  ${at}`);
    if (dryRun) return cli.output.result(`Would put ${snapshot} back; ${counted} came after it.`, { snapshot, pushes: late });
    await cli.confirm(`Put ${path.basename(snapshot)} back? ${counted} came after it; what was pushed stays in git, its entries do not.`);
    // Beside it first, so that a crash leaves one of the two whole in its place.
    await copyFile(snapshot, `${current}.new`);
    await rename(current, kept);
    for (const ending of ['-wal', '-shm']) await rm(`${current}${ending}`, { force: true });
    await rename(`${current}.new`, current);
    cli.output.result(`Put ${snapshot} back. The newer database is kept as ${kept}. Now start the older program.`, { snapshot, kept, pushes: late });
  } finally {
    lock.release();
  }
}

async function newestSnapshot({ dataDir }: Config): Promise<string> {
  const folder = path.join(dataDir, 'backups');
  const names = (await readdir(folder).catch(() => [])).filter((name) => /^V\d+-before-V\d+\.db$/.test(name));
  const dated = await Promise.all(names.map(async (name) => ({ name, at: (await stat(path.join(folder, name))).mtimeMs })));
  const newest = dated.sort((a, b) => b.at - a.at)[0];
  if (newest === undefined) throw notFound('no_snapshot', `There is no copy from before a migration in ${folder}.`);
  return path.join(folder, newest.name);
}

/** Reads the newer database whole, which also brings its write-ahead log into the file. */
async function pushesAfter(current: string, snapshot: string): Promise<LatePush[]> {
  const { askDatabaseFile } = await import('../../db/index.ts');
  const plain = (sql: string, parameters: unknown[] = []) => ({ sql, parameters });
  const [tables = []] = await askDatabaseFile(snapshot, [plain("SELECT name FROM sqlite_master WHERE name = 'pushes'")]);
  const [last = []] = tables.length === 0 ? [] : await askDatabaseFile(snapshot, [plain('SELECT max(created_at) AS at FROM pushes')]);
  const [rows = []] = await askDatabaseFile(
    current,
    [plain(`SELECT coalesce(u.username, o.name) || '/' || r.name AS name, p.created_at FROM pushes p JOIN repositories r ON r.id = p.repository_id
        LEFT JOIN users u ON u.id = r.owner_user_id LEFT JOIN organisations o ON o.id = r.owner_org_id
      WHERE p.created_at > ? AND p.settled_at IS NOT NULL ORDER BY p.created_at`, [Number(last[0]?.['at'] ?? 0)])],
    { setUp: ['PRAGMA wal_checkpoint(TRUNCATE)'] },
  );
  return rows.map(({ name, created_at: at }) => ({ repository: String(name), at: absoluteTime(Number(at)) }));
}
