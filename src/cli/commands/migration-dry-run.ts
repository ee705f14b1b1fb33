import { cp, mkdir, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../config/index.ts';
import { nullIfAbsent } from '../../files/index.ts';
import { refusePostgres } from '../refuse-postgres.ts';
import type { Cli } from '../cli.ts';
import { counted } from '../terminal/output.ts';

/** Other files below the data folder that a start reads, besides the database and the repositories. */
const readAtStart = (config: Config): [from: string, name: string][] => [
  [path.join(config.dataDir, 'run', 'git'), path.join('run', 'git')],
  [config.instanceKeyFile, path.join('ci', 'secret.key')],
];

/**
 * `hearth migrate --rehearse`: starts the server on a copy, up to the point where it would listen and resume
 * interrupted work, and reports how long the migrations take and how much disk space they need. The server may be
 * running. Refuses whatever a start refuses.
 */
export async function dryRunMigrations(cli: Cli): Promise<void> {
  const { config } = await cli.loadConfig();
  refusePostgres(
    config,
    'Test on a copy: use pg_dump to create another database, and run hearth migrate with its address.',
  );
  const [
    { createApp, databaseFile, openDatabase },
    { copyDatabase, checkDatabaseFile },
    { dropPrivilegesToOwnerOf, requireDataDir },
    { systemRandom },
  ] = await Promise.all([
    import('../../app/index.ts'),
    import('../../db/index.ts'),
    import('../data-dir.ts'),
    import('../../kernel/index.ts'),
  ]);
  dropPrivilegesToOwnerOf(config.dataDir, cli.process);
  requireDataDir(config.dataDir, databaseFile(config), 'the settings');
  const stage = path.join(config.dataDir, 'tmp', `rehearsal-${systemRandom.uuid()}`);
  await mkdir(stage, { recursive: true, mode: 0o700 });
  try {
    const copied = { ...config, dataDir: stage, instanceKeyFile: path.join(stage, 'ci', 'secret.key') };
    await copyDatabase(databaseFile(config), databaseFile(copied));
    for (const [from, name] of readAtStart(config))
      await cp(from, path.join(stage, name), { recursive: true }).catch(nullIfAbsent);
    const logger = await cli.logger();
    const db = await openDatabase(copied, { logger }, 'never');
    const startedAt = performance.now();
    const steps = await db.migrate().finally(() => db.close());
    const tookMs = Math.round(performance.now() - startedAt);
    const health = await checkDatabaseFile(databaseFile(copied));
    const bytes = await bytesBelow(stage);
    const app = await createApp(copied, { logger, clock: cli.clock });
    await app.stop({ graceMs: 0 });
    const problems = [
      ...health.damage,
      ...Object.entries(health.orphans).map(
        ([table, count]) => `${count} rows in ${table} would refer to missing rows`,
      ),
    ];
    if (problems.length > 0) cli.exitCode = 7;
    for (const problem of problems) cli.output.message(problem);
    const done =
      steps.length === 0
        ? 'Nothing to migrate'
        : `Migrated a copy to V${steps.at(-1)!.version} in ${counted(steps.length, 'step', 'steps')}`;
    cli.output.result(
      `${done}; the program starts with it: ${(tookMs / 1000).toFixed(1)} s, ${Math.ceil(bytes / 1e6)} MB of disk, ${counted(problems.length, 'problem', 'problems')}.`,
      {
        steps: steps.map(({ version, name }) => ({ version, name })),
        tookMs,
        diskBytes: bytes,
        problems,
      },
    );
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

async function bytesBelow(folder: string): Promise<number> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(async ({ parentPath, name }) => (await stat(path.join(parentPath, name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
