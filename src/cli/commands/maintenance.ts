import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { conflict, invalid } from '../../kernel/index.ts';
import type { ListedRepository } from '../../repositories/index.ts';
import type { Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { addNoun, withExamples } from '../help.ts';
import { counted, isoOrNull, never, readableSize } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { shownAddresses } from '../serving/addresses.ts';
import { readRunningServer } from '../serving/runtime-state.ts';
import { nameOf } from './find-person.ts';
import { fullName, goesOn } from './repository-output.ts';

/** Commands for maintenance: status, stats, cleanup, trash. */
export function addMaintenanceCommands(program: Command, run: Run): void {
  withExamples(
    program.command('status').description('show the status of the server and of backups').action(run(status)),
    'hearth status',
  );
  withExamples(
    program.command('stats').description('show counts of users, repositories and more').action(run(stats)),
    'hearth stats --json',
  );
  withExamples(
    program.command('cleanup').description('remove expired sessions and old temporary files').action(run(cleanup)),
    'hearth cleanup',
  );
  const trash = addNoun(program, 'trash', 'deleted repositories');
  withExamples(
    trash.command('list').description('list deleted repositories').action(run(listTrash)),
    'hearth trash list',
  );
  withExamples(
    trash
      .command('empty')
      .description('permanently remove old deleted repositories')
      .option('--older <duration>', 'minimum time since deletion (default: the configured time)')
      .option('--dry-run', 'only list what would be removed')
      .action(run(emptyTrash)),
    'hearth trash empty --older 7d --yes',
  );
}

/** Limit up to which items are counted, over all queues together. */
const maxItems = 10_000;

async function status(cli: Cli): Promise<void> {
  const modules = await cli.openModules();
  const { embedded } = await import('../../embedded/index.ts');
  const server = readRunningServer(modules.config.dataDir);
  const { listQueuedItems } = await import('../../doctor/index.ts');
  const [{ newest, lastRestoreTest }, counts, work] = await Promise.all([
    modules.backups.state(),
    modules.counts(),
    listQueuedItems(modules.db, cli.clock.now(), { limit: maxItems }),
  ]);
  const waiting = work.filter(({ state }) => state !== 'failed').length;
  const startedAt = server === null ? null : Date.parse(server.startedAt);
  const testedAt = lastRestoreTest === null ? null : Date.parse(lastRestoreTest.at);
  if (server === null) {
    cli.exitCode = 1;
    cli.output.message('No server is running in this data folder. To start one: hearth serve');
  }
  // The URLs are set once the server listens.
  const isStarting = server !== null && server.http === null;
  const address = (at: { host: string; port: number } | null | undefined): string =>
    isStarting ? 'starting' : at == null ? 'off' : `${at.host}:${at.port}`;
  const sshUrl = server?.http == null ? null : shownAddresses(modules.config, server.http, server.ssh).ssh;
  const ssh =
    sshUrl === null
      ? address(server?.ssh)
      : `${sshUrl}${modules.config.ssh.systemSshd ? "   through this machine's own sshd" : ''}`;
  cli.output.show(
    [
      ['Version', embedded.version],
      ['Server', server === null ? 'not running' : `process ${server.pid}`],
      ['Started', { epochMs: startedAt, otherwise: 'not running' }],
      ['Web', server?.webUrl ?? address(server?.http)],
      ['SSH', ssh],
      ['gRPC', address(server?.grpc)],
      ['Waiting', work.length < maxItems ? counted(waiting, 'job', 'jobs') : `${waiting} jobs or more`],
      ['Failed', work.length - waiting],
      ['Last backup', never(newest?.madeAt ?? null)],
      ['Last restore test', never(testedAt)],
      [
        'Restored intact',
        lastRestoreTest === null ? 'nothing yet' : `${lastRestoreTest.proven} of ${lastRestoreTest.total} repositories`,
      ],
    ],
    {
      version: embedded.version,
      running: server !== null,
      starting: isStarting,
      pid: server?.pid ?? null,
      startedAt: isoOrNull(startedAt),
      webUrl: server?.webUrl ?? null,
      ssh: server?.ssh ?? null,
      sshUrl,
      grpc: server?.grpc ?? null,
      deliveriesWaiting: counts.deliveries.PENDING,
      jobsWaiting: waiting,
      jobsFailed: work.length - waiting,
      lastBackupAt: isoOrNull(newest?.madeAt ?? null),
      lastProvenRestoreAt: isoOrNull(testedAt),
      proven: lastRestoreTest === null ? null : { repositories: lastRestoreTest.proven, of: lastRestoreTest.total },
    },
  );
}

async function stats(cli: Cli): Promise<void> {
  const counts = await (await cli.openModules()).counts();
  cli.output.show(
    [
      ['People', counts.people],
      ['Organisations', counts.organisations],
      ['Repositories', counts.repositories],
      ['Their size', { bytes: counts.repositoryBytes }],
      ['Git LFS objects', counts.lfsObjects],
      ['Their size', { bytes: counts.lfsBytes }],
      ['In the trash', counts.inTrash],
      ['Pushes in 24 hours', counts.pushesToday],
      ['Deliveries waiting', counts.deliveries.PENDING],
      ['Deliveries failed', counts.deliveries.FAILED],
      ['Runners', counts.runners],
    ],
    { ...counts, oldestDeliveryAt: isoOrNull(counts.oldestDeliveryAt) },
  );
}

const oldMs = 86_400_000;

async function cleanup(cli: Cli): Promise<void> {
  const { accounts, config, clock } = await cli.openModules();
  const sessions = await accounts.removeExpired();
  const folder = path.join(config.dataDir, 'tmp');
  let files = 0;
  for (const name of await readdir(folder).catch(() => [])) {
    const at = path.join(folder, name);
    if (clock.now() - (await stat(at)).mtimeMs < oldMs) continue;
    await rm(at, { recursive: true, force: true });
    files += 1;
  }
  cli.output.result(
    `Removed ${sessions} expired sessions, invites and setup links, and ${files} old temporary ${files === 1 ? 'file' : 'files'}.`,
    { expired: sessions, files },
  );
}

type Trashed = ListedRepository & { by: string; goesOn: string };

const trashColumns: Column<Trashed>[] = [
  { title: 'OWNER/NAME', cell: fullName, whole: true },
  { title: 'DELETED', cell: (row) => never(row.deletedAt) },
  { title: 'BY', cell: (row) => row.by },
  { title: 'SIZE', cell: (row) => ({ bytes: row.sizeBytes }), align: 'right' },
  { title: 'GOES ON', cell: (row) => row.goesOn },
  { title: 'ID', cell: (row) => ({ id: row.id }) },
];

const toJson = (row: ListedRepository): object => ({
  id: row.id,
  owner: row.owner.handle,
  name: row.name,
  sizeBytes: row.sizeBytes,
  deletedAt: isoOrNull(row.deletedAt),
});

async function listTrash(cli: Cli): Promise<void> {
  const { accounts, config, repositories } = await cli.openModules();
  const rows = await repositories.trash.list();
  const people = await accounts.peopleById(rows.flatMap(({ deletedBy }) => deletedBy ?? []));
  const shown = rows.map(
    (row): Trashed => ({
      ...row,
      by: row.deletedBy === null ? 'command line' : nameOf(people.get(row.deletedBy)),
      goesOn: goesOn(row, config.repositories.trashKeepMs),
    }),
  );
  cli.output.list(shown, trashColumns, ['repository', 'repositories'], (row) => ({
    ...toJson(row),
    by: row.by,
    goesOn: row.goesOn,
  }));
}

async function emptyTrash(cli: Cli, { older, dryRun }: { older?: string; dryRun?: true }): Promise<void> {
  const { repositories, backups, config, clock } = await cli.openModules();
  const { readDuration } = await import('../../config/index.ts');
  const retentionMs = older === undefined ? config.repositories.trashKeepMs : readDuration(older);
  if (retentionMs === undefined) throw invalid('usage', `${JSON.stringify(older)} is not a duration such as 7d.`);
  const rows = (await repositories.trash.list()).filter(
    ({ deletedAt }) => (deletedAt ?? 0) < clock.now() - retentionMs,
  );
  const bytes = rows.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const result = { repositories: rows.map(toJson), bytes };
  if (dryRun)
    return cli.output.result(
      `Would permanently remove ${counted(rows.length, 'repository', 'repositories')}, ${readableSize(bytes)}.`,
      result,
    );
  if (rows.length > 0)
    await cli.confirm(
      `Permanently remove ${counted(rows.length, 'repository', 'repositories')}? This cannot be undone.`,
    );
  if (await backups.isRunning())
    throw conflict('backup_under_way', 'A backup is in progress. Try again when it has finished.');
  await repositories.trash.empty(retentionMs);
  cli.output.result(
    `Permanently removed ${counted(rows.length, 'repository', 'repositories')}, ${readableSize(bytes)}.`,
    result,
  );
}
