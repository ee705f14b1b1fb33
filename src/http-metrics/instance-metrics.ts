import { stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { getHeapStatistics } from 'node:v8';
import type { DatabaseFacts } from '../doctor/index.ts';
import type { SlotLoad } from '../git/index.ts';
import type { ListedTask, WebDeps } from '../web/index.ts';
import { histogramSamples } from '../http/index.ts';
import type { MetricFamily, Sample } from '../http/index.ts';

type MetricsDeps = Pick<
  WebDeps,
  | 'config'
  | 'db'
  | 'git'
  | 'lfs'
  | 'backups'
  | 'ci'
  | 'clock'
  | 'scheduledTasks'
  | 'counts'
  | 'mirrors'
  | 'nodes'
  | 'databaseFacts'
  | 'recovery'
>;

const runnerStatuses = ['idle', 'active', 'offline', 'unspecified'] as const;

const taskStates = ['ok', 'failing', 'new'] as const;
const stateOf = (last: ListedTask['last']): (typeof taskStates)[number] =>
  last === null ? 'new' : last.failures > 0 ? 'failing' : 'ok';

type Gauge = (name: string, help: string, samples: readonly Sample[]) => MetricFamily;

/** Of PostgreSQL. */
function databaseGauges({ bytes, server }: DatabaseFacts, gauge: Gauge): MetricFamily[] {
  if (server === null) return [];
  const { used, most } = server.connections;
  return [
    gauge('database_bytes', 'Size of the database.', [{ value: bytes }]),
    gauge('database_connections', 'Connections of PostgreSQL, of all its clients.', [
      { labels: { state: 'used' }, value: used },
      { labels: { state: 'free' }, value: Math.max(0, most - used) },
    ]),
    gauge('database_oldest_transaction_seconds', 'Age of the oldest transaction in the database.', [
      { value: server.oldestTransactionMs / 1000 },
    ]),
  ];
}

/** Gauges of the instance at this moment: queues, disk, backups, scheduled tasks. */
export async function collectInstanceMetrics(deps: MetricsDeps): Promise<MetricFamily[]> {
  const { config, git, clock, db } = deps;
  const file = path.join(config.dataDir, 'hearth.db');
  const sizeOf = async (name: string): Promise<number> => (await stat(name).catch(() => null))?.size ?? 0;
  const [database, wal, disk, counts, { newest, lastRestoreTest }, tasks, mirrors, runners, nodes, facts, recovery] =
    await Promise.all([
      sizeOf(file),
      sizeOf(`${file}-wal`),
      statfs(config.dataDir),
      deps.counts(),
      deps.backups.state(),
      deps.scheduledTasks(),
      deps.mirrors.listFailing({ limit: 1 }),
      deps.ci.runners.list(null),
      deps.nodes.list(),
      deps.databaseFacts(),
      deps.recovery?.state(),
    ]);
  const load = git.load();
  const transfers = deps.lfs.counters();
  const ageOf = (at: number | null): Sample[] =>
    at === null ? [] : [{ value: Math.max(0, (clock.now() - at) / 1000) }];
  const gauge = (name: string, help: string, samples: readonly Sample[]): MetricFamily => ({
    name,
    type: 'gauge',
    help,
    samples,
  });
  const one = (value: number): Sample[] => [{ value }];
  const classes = ['reads', 'writes', 'short'] as const;
  const byClass = (what: keyof SlotLoad): Sample[] =>
    classes.map((slot) => ({ labels: { class: slot }, value: load[slot][what] }));
  const refused = classes.flatMap((slot) => [
    { labels: { class: slot, reason: 'full' }, value: load[slot].refusedFull },
    { labels: { class: slot, reason: 'wait' }, value: load[slot].refusedLate },
  ]);
  const counter = (name: string, help: string, samples: readonly Sample[]): MetricFamily => ({
    name,
    type: 'counter',
    help,
    samples,
  });
  return [
    gauge('git_processes', 'Git processes alive.', one(load.processes)),
    gauge('git_running', 'Git requests at work.', byClass('running')),
    gauge('git_waiting', 'Git requests that wait for a place.', byClass('waiting')),
    counter('git_admitted_total', 'Git requests that got a place, over HTTP, SSH and for pages.', byClass('admitted')),
    counter('git_refused_total', 'Git requests that were sent away: the line was full, or the wait too long.', refused),
    counter('git_wait_seconds_total', 'Time that git requests spent in line.', byClass('waitedSeconds')),
    counter('git_work_seconds_total', 'Time that git requests spent at work.', byClass('workedSeconds')),
    gauge('mirrors', 'Mirrors.', [
      { labels: { state: 'failing' }, value: mirrors.failingCount },
      { labels: { state: 'fine' }, value: mirrors.count - mirrors.failingCount },
    ]),
    ...(deps.nodes.isShared
      ? [
          gauge('nodes', 'Servers of this database.', [
            { labels: { state: 'serving' }, value: nodes.filter(({ isLiving }) => isLiving).length },
            {
              labels: { state: 'gone' },
              value: nodes.filter(({ isLiving, hasStopped }) => !isLiving && !hasStopped).length,
            },
          ]),
          gauge(
            'clock_ahead_seconds',
            'How far the clock of this server is ahead of that of the database.',
            nodes.filter(({ isThis }) => isThis).map(({ clockAheadMs }) => ({ value: clockAheadMs / 1000 })),
          ),
        ]
      : []),
    ...(facts.server === null
      ? [
          gauge('sqlite_bytes', 'Size of the database.', one(database)),
          gauge('sqlite_wal_bytes', 'Size of the write-ahead log.', one(wal)),
        ]
      : databaseGauges(facts, gauge)),
    {
      name: 'write_wait_seconds',
      type: 'histogram',
      help: 'How long writes to the database waited for their turn.',
      samples: histogramSamples({}, db.writeWaits),
    },
    gauge('disk_free_bytes', 'Free space where the data is.', one(disk.bavail * disk.bsize)),
    gauge('people', 'Accounts that are not disabled.', one(counts.people)),
    gauge('repositories', 'Repositories outside the trash.', one(counts.repositories)),
    gauge('repository_bytes', 'Size of the repositories.', one(counts.repositoryBytes)),
    gauge('lfs_objects', 'Objects of Git LFS.', one(counts.lfsObjects)),
    gauge('lfs_bytes', 'Size of the objects of Git LFS.', one(counts.lfsBytes)),
    counter('lfs_transfers_total', 'Objects of Git LFS that were moved.', [
      { labels: { direction: 'upload', result: 'ok' }, value: transfers.uploads },
      { labels: { direction: 'upload', result: 'refused' }, value: transfers.refusedUploads },
      { labels: { direction: 'download', result: 'ok' }, value: transfers.downloads },
    ]),
    counter('lfs_transferred_bytes_total', 'Bytes of Git LFS that were moved.', [
      { labels: { direction: 'upload' }, value: transfers.uploadedBytes },
      { labels: { direction: 'download' }, value: transfers.downloadedBytes },
    ]),
    gauge(
      'deliveries',
      'Deliveries to other servers.',
      Object.entries(counts.deliveries).map(([state, value]) => ({ labels: { state }, value })),
    ),
    gauge(
      'pushes_unannounced',
      'Pushes that some listener has not received: waiting, failing, or given up after three failures.',
      Object.entries(counts.unannouncedPushes).map(([state, value]) => ({ labels: { state }, value })),
    ),
    gauge('delivery_oldest_seconds', 'How long the oldest delivery has been waiting.', ageOf(counts.oldestDeliveryAt)),
    gauge(
      'runners',
      'CI runners.',
      runnerStatuses.map((status) => ({
        labels: { status },
        value: runners.filter((runner) => runner.status === status).length,
      })),
    ),
    gauge('backup_age_seconds', 'Age of the newest backup.', ageOf(newest?.madeAt ?? null)),
    gauge(
      'restore_proven_age_seconds',
      'Time since a backup was last proven by restoring it.',
      ageOf(lastRestoreTest === null ? null : Date.parse(lastRestoreTest.at)),
    ),
    ...(recovery === undefined
      ? []
      : [
          gauge(
            'recovery_proven_age_seconds',
            'Time since a recovery from the store was last tried and succeeded.',
            ageOf(recovery.succeededAt),
          ),
        ]),
    gauge(
      'jobs',
      'Jobs that run by the clock: how each did the last time.',
      tasks.flatMap(({ name, last }) =>
        taskStates.map((state) => ({ labels: { kind: name, state }, value: stateOf(last) === state ? 1 : 0 })),
      ),
    ),
    gauge(
      'job_seconds',
      'How long a job took the last time.',
      tasks.flatMap(({ name, last }) =>
        last === null ? [] : [{ labels: { kind: name, state: stateOf(last) }, value: last.lastTookMs / 1000 }],
      ),
    ),
    gauge(
      'job_failures',
      'Failures in a row of a job.',
      tasks.map(({ name, last }) => ({ labels: { kind: name }, value: last?.failures ?? 0 })),
    ),
    gauge('heap_bytes', 'Memory that the JavaScript heap takes.', one(getHeapStatistics().total_physical_size)),
  ];
}
