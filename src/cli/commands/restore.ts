import { createReadStream, statSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import type { RestorePlan } from '../../backup/index.ts';
import { conflict, invalid } from '../../kernel/index.ts';
import type { Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { refusePostgres } from '../refuse-postgres.ts';
import { withExamples } from '../help.ts';
import { counted, readableSize } from '../terminal/output.ts';
import { showProgress } from '../terminal/progress.ts';
import { absoluteTime } from '../terminal/times.ts';

/** `hearth restore`: restores a backup as the data folder. */
export function addRestoreCommand(program: Command, run: Run): void {
  withExamples(
    program
      .command('restore')
      .description('restore a backup as the data folder; the server must be stopped')
      .argument('<folder>', 'backup folder, a file created with --tar, or - to read such a file from standard input')
      .option('--confirm', 'move existing data aside')
      .option('--dry-run', 'only show what would be done')
      .action(run(restore)),
    'hearth restore /mnt/disk/2026-11-20T03-30-00Z --data-dir /var/lib/hearth',
    'ssh nas.example.org cat hearth.tar | hearth restore - --data-dir /var/lib/hearth',
  );
}

interface Options {
  confirm?: true;
  dryRun?: true;
}

async function restore(cli: Cli, { confirm, dryRun }: Options, given: string): Promise<void> {
  const { config } = await cli.loadConfig();
  const [
    { newestSchema, openDatabase },
    { planRestore, restoreBackup, unpackBackup },
    { dropPrivilegesToOwnerOf, prepareDataDir },
    { takeInstanceLock },
    { silentLogger, systemRandom },
    { createAudit },
  ] = await Promise.all([
    import('../../app/index.ts'),
    import('../../backup/index.ts'),
    import('../data-dir.ts'),
    import('../serving/instance-lock.ts'),
    import('../../kernel/index.ts'),
    import('../../audit/index.ts'),
  ]);
  refusePostgres(
    config,
    'Restore with SERVICE_DATABASE_URL unset, then copy the database: hearth db copy --to postgres://…',
  );
  const place = given === '-' ? null : path.resolve(cli.process.cwd(), given);
  const found = place === null ? 'stream' : kindOf(place);
  if (found === null) throw invalid('no_backup_folder', `No folder or file found at ${place}.`);
  if (found === 'stream' && cli.process.stdin.isTTY)
    throw invalid(
      'usage',
      'A backup cannot be read from a terminal. Specify a folder, or redirect a backup with | or <.',
    );
  dropPrivilegesToOwnerOf(config.dataDir, cli.process);
  prepareDataDir(config.dataDir, cli.process);
  if (`${place}/`.startsWith(`${config.storage.root}/`))
    throw conflict('backup_in_the_way', 'The backup is inside the folder that its repositories would be restored to.');
  const lock = takeInstanceLock(config.dataDir);
  const stage = path.join(config.dataDir, 'tmp', `restore-${systemRandom.uuid()}`);
  const logger = await cli.logger();
  try {
    let from = place ?? '';
    if (found !== 'folder') {
      await mkdir(stage, { recursive: true, mode: 0o700 });
      const stream = place === null ? cli.process.stdin : createReadStream(place);
      from = await unpackBackup(stream as AsyncIterable<Buffer>, stage);
    }
    const judged = { from, config, schema: newestSchema, replace: confirm === true || dryRun === true };
    const plan = await planRestore(judged);
    if (dryRun) return cli.output.result(`Would restore ${planText(plan, config.dataDir)}`, plan);
    cli.output.message(`Restoring ${planText(plan, config.dataDir)}`);
    const progress = showProgress(cli);
    const restored = await restoreBackup({
      ...judged,
      random: systemRandom,
      now: cli.clock.now(),
      logger,
      onProgress: progress.step,
    }).finally(progress.end);
    const db = await openDatabase(config, { logger }, 'always');
    const audit = createAudit({ db, clock: cli.clock, logger, otherwise: 'local' });
    audit.auditing(silentLogger).info('backup.restored', {
      from: path.basename(from),
      madeAt: restored.madeAt,
      repositories: restored.repositories,
    });
    await audit.flush();
    await db.close();
    const made = absoluteTime(Date.parse(restored.madeAt));
    cli.output.result(
      `Restored ${counted(restored.repositories, 'repository', 'repositories')} as of ${made}. All browser sessions have ended.`,
      restored,
    );
    if (restored.movedAside !== null)
      cli.output.message(`The previous data is in ${restored.movedAside}. Remove it once everything works.`);
    if (restored.newKeys > 0) {
      cli.output.message(
        `The backup has no private keys: ${restored.newKeys} actors have new keys, which peers may reject for some hours.`,
      );
    }
    if (restored.pushedLater > 0)
      cli.output.message(
        `${counted(restored.pushedLater, 'repository', 'repositories')} received pushes while the backup was created. The Activity page shows these as "by restoring".`,
      );
    if (restored.missing.length > 0)
      cli.output.message(
        `${restored.missing.length} repositories had no folder when the backup was created. Run hearth doctor`,
      );
    if (config.federation.enabled)
      cli.output.message(
        'Federation: pushes received after the backup are lost. Deliveries may be repeated, which peers ignore.',
      );
  } finally {
    await rm(stage, { recursive: true, force: true });
    lock.release();
  }
}

function planText({ madeAt, hearth, repositories, bytes, withKeys, movesAside }: RestorePlan, dataDir: string): string {
  const made = absoluteTime(Date.parse(madeAt));
  const aside = movesAside.length === 0 ? '' : ` Moves existing data aside: ${movesAside.join(', ')}.`;
  return `${counted(repositories, 'repository', 'repositories')}, ${readableSize(bytes)}, created ${made} by Hearth ${hearth} ${withKeys ? 'with' : 'without'} private keys, to ${dataDir}.${aside}`;
}

function kindOf(at: string): 'folder' | 'file' | null {
  const found = statSync(at, { throwIfNoEntry: false });
  return found === undefined ? null : found.isDirectory() ? 'folder' : 'file';
}
