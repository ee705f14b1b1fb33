import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { notFound } from '../../kernel/index.ts';
import type { Run } from '../action.ts';
import { refusePostgres } from '../refuse-postgres.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import { counted } from '../terminal/output.ts';
import { absoluteTime } from '../terminal/times.ts';

/** `hearth rollback`: restores the database of the version before an upgrade. */
export function addRollbackCommand(program: Command, run: Run): void {
  withExamples(
    program
      .command('rollback')
      .description('restore the database from before the last migration; the server must be stopped')
      .option('--to <file>', 'copy to restore instead of the one from before the last upgrade')
      .option('--dry-run', 'only list the pushes since then')
      .action(run(rollback)),
    'hearth rollback --dry-run',
    'hearth rollback --yes',
  );
}

/** Limit of listed copies, newest first, so that the prompt stays visible. */
const mostShown = 20;

async function rollback(cli: Cli, { to, dryRun }: { to?: string; dryRun?: true }): Promise<void> {
  const { config } = await cli.loadConfig();
  const [
    { databaseFile },
    { pushesAfter, rollback },
    { dropPrivilegesToOwnerOf, requireDataDir },
    { takeInstanceLock },
    { systemRandom },
    { repositoryPath },
  ] = await Promise.all([
    import('../../app/index.ts'),
    import('../../backup/index.ts'),
    import('../data-dir.ts'),
    import('../serving/instance-lock.ts'),
    import('../../kernel/index.ts'),
    import('../../git/index.ts'),
  ]);
  refusePostgres(config, 'Restore the server to a point in time (docs/postgresql.md), then start the older program.');
  const current = databaseFile(config);
  requireDataDir(config.dataDir, current, 'the settings');
  dropPrivilegesToOwnerOf(config.dataDir, cli.process);
  const lock = takeInstanceLock(config.dataDir, {
    hint: 'stop it first: systemctl stop hearth, or its terminal; then start the older program',
  });
  try {
    const { snapshot, others } = await chooseCopy(cli, path.join(config.dataDir, 'backups'), to);
    await bringIn(current).catch(() => {});
    const late = (await pushesAfter(snapshot, current).catch(() => [])).map(({ repository, at }) => ({
      repository,
      at: absoluteTime(at),
    }));
    const came = `${counted(late.length, 'push', 'pushes')} came after it`;
    for (const { repository, at } of late.slice(-mostShown))
      cli.output.message(`  pushed afterwards: ${repository}  ${at}`);
    if (late.length > mostShown)
      cli.output.message(`  and ${late.length - mostShown} before these; use --json to list all`);
    if (dryRun)
      return cli.output.result(`Would restore ${snapshot}; ${came} and would be kept.`, {
        snapshot,
        others,
        pushes: late,
      });
    await cli.confirm(
      `Restore ${path.basename(snapshot)}? ${came} and are kept. Users, organisations, settings and CI runs return to their earlier state.`,
    );
    const kept = path.join(
      config.dataDir,
      'backups',
      `rolled-back-${absoluteTime(cli.clock.now()).replaceAll(':', '-')}.db`,
    );
    await mkdir(path.dirname(kept), { recursive: true, mode: 0o700 });
    const logger = await cli.logger();
    const { settledByRefs, isNewerReadable, left } = await rollback({
      config,
      snapshot,
      keep: kept,
      random: systemRandom,
      now: cli.clock.now(),
      logger,
    });
    cli.output.result(
      `Restored ${snapshot} and kept ${counted(late.length, 'push', 'pushes')} made after it. The newer database is saved as ${kept}. Now start the older program.`,
      {
        snapshot,
        others,
        kept,
        pushes: late,
        settledByRefs,
        isNewerReadable,
        left: left.map(({ repository }) => repository),
      },
    );
    if (!isNewerReadable)
      cli.output.message('The newer database cannot be read, so later pushes are read from the repositories.');
    if (settledByRefs > 0)
      cli.output.message(
        `${counted(settledByRefs, 'repository', 'repositories')} had changed without a journal entry. The Activity page shows this as "by restoring".`,
      );
    for (const { id, ownerId, repository } of left) {
      cli.output.message(
        `  not included, because its owner is newer: ${repository}; once the owner exists: hearth repo adopt ${repositoryPath(config.storage.root, ownerId, id)} ${repository}`,
      );
    }
  } finally {
    lock.release();
  }
}

/** The copy from before the last upgrade, and the others, of which only the newest are printed. */
async function chooseCopy(cli: Cli, folder: string, to: string | undefined): Promise<ChosenCopy> {
  const { listUpgradeCopies } = await import('../../backup/index.ts');
  const copies = await listUpgradeCopies(folder);
  const snapshot = to === undefined ? copies[0]?.file : path.resolve(cli.process.cwd(), to);
  if (snapshot === undefined) throw notFound('no_snapshot', `No copy from before a migration found in ${folder}.`);
  if ((await stat(snapshot).catch(() => null)) === null)
    throw notFound('no_snapshot', `The file ${snapshot} does not exist.`);
  const others = copies.filter(({ file }) => file !== snapshot);
  for (const { file, at, isHalf } of others.slice(0, mostShown)) {
    const note = isHalf ? ', in the middle of an interrupted upgrade' : '';
    cli.output.message(`  not used: ${file}  ${absoluteTime(at)}${note}`);
  }
  return {
    snapshot,
    others: others.map(({ file, at, isHalf }) => ({ file, at: absoluteTime(at), isHalf })),
  };
}

interface ChosenCopy {
  snapshot: string;
  others: { file: string; at: string; isHalf: boolean }[];
}

/** Checkpoints the write-ahead log, so that the file is complete. */
async function bringIn(current: string): Promise<void> {
  const { askDatabaseFile } = await import('../../db/index.ts');
  await askDatabaseFile(current, [], { setUp: ['PRAGMA wal_checkpoint(TRUNCATE)'] });
}
