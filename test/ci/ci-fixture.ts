// openCi(t, {env?, folder?, clock?}) → the modules with CI on real SQLite, real git and real files, a fixed clock,
// alice with the repository alice/work, and a runner that the test drives. push(files, {branch?, message?, …}) →
// commits files, pushes them, and notifies CI. addRunner(labels) → register, fetch, report, log, finish: what a runner
// does, through the module's public interface.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { localAdministrator } from '../../src/access/index.ts';
import type { PersonViewer } from '../../src/access/index.ts';
import { databaseFile, openModules } from '../../src/app/index.ts';
import type { RunnerRow, TaskContent, TaskReport } from '../../src/ci/index.ts';
import { instanceScope } from '../../src/ci/index.ts';
import { loadConfig } from '../../src/config/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import type { LogFields, Logger } from '../../src/kernel/index.ts';
import type { Found } from '../../src/repositories/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import type { FixedClock } from '../fixtures/fixed-clock.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { copyTestDatabase } from '../fixtures/test-database.ts';

const zero = '0'.repeat(40);

export type CiFixture = Awaited<ReturnType<typeof openCi>>;

export async function openCi(
  t: Owner,
  {
    env = {},
    folder = temporaryFolder(t),
    clock = fixedClock(),
  }: { env?: Record<string, string>; folder?: string; clock?: FixedClock } = {},
) {
  const { config } = loadConfig({
    env: { SERVICE_DATA_DIR: path.join(folder, 'data'), SERVICE_BASE_URL: 'https://git.example.org', ...env },
    cwd: folder,
    readFile: () => '',
  });
  const log: ({ event: string } & LogFields)[] = [];
  const note = (event: string, fields: LogFields = {}) => void log.push({ event, ...fields });
  const logger: Logger = { ...silentLogger, info: note, warn: note, error: note, child: () => logger };
  if (!existsSync(databaseFile(config))) {
    mkdirSync(config.dataDir, { recursive: true });
    await copyTestDatabase(databaseFile(config));
  }
  const modules = await openModules(config, { logger, clock });
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= modules.close());
  t.teardown(close);
  const { ci, repositories, accounts, db } = modules;
  await ci.recover();
  await ci.advanceRuns();

  const known = await accounts.personByUsername('alice').catch(() => null);
  const alice = known ?? (await accounts.addPerson({ username: 'alice' }));
  const viewer: PersonViewer = {
    kind: 'person',
    id: alice.id,
    username: 'alice',
    isAdministrator: false,
    via: 'session',
    scope: 'admin',
    repositoryIds: null,
  };
  if (known === null) await repositories.create(viewer, { name: 'work', visibility: 'PRIVATE' });
  const found: Found = await repositories.find(viewer, 'alice', 'work');
  const work = path.join(folder, 'work');
  if (known === null) {
    mkdirSync(work);
    await runGit(['init', '--quiet', '-b', 'main'], { cwd: work });
  }

  /** Commits and pushes; a file that is null is removed. Returns the commit. */
  async function push(
    files: Record<string, string | null>,
    {
      branch = 'main',
      message = 'Change',
      tag,
      options = [],
      to = found,
      by = alice.id,
      deployKey = null,
    }: {
      branch?: string;
      message?: string;
      tag?: string;
      options?: string[];
      to?: Found;
      by?: string | null;
      /** Title of the key that pushes; `by` is null then. */
      deployKey?: string | null;
    } = {},
  ): Promise<string> {
    for (const [name, content] of Object.entries(files)) {
      const file = path.join(work, name);
      mkdirSync(path.dirname(file), { recursive: true });
      if (content === null) rmSync(file);
      else writeFileSync(file, content);
    }
    const git = async (...args: string[]) => (await runGit(args, { cwd: work })).trim();
    await git('add', '--all');
    await git('commit', '--quiet', '--allow-empty', '-m', message);
    if (tag !== undefined) await git('tag', tag);
    const ref = tag === undefined ? `refs/heads/${branch}` : `refs/tags/${tag}`;
    const before = await runGit(['rev-parse', '--quiet', '--verify', ref], { cwd: to.path }).then(
      (text) => text.trim(),
      () => zero,
    );
    await git('push', '--quiet', '--force', to.path, `HEAD:${ref}`);
    const sha = await git('rev-parse', 'HEAD');
    const arrived = {
      id: modules.db === db ? `push ${sha}` : '',
      repository: to.repository,
      pusherId: by,
      via: 'http' as const,
      credential: null,
      options,
      updates: [{ ref, oldId: before, newId: sha }],
      deployKey,
      arrivedAt: clock.now(),
    };
    const prepared = await ci.onPush.prepare!(arrived);
    if (prepared === null) return sha;
    await db.write((tx) => ci.onPush.record!(tx, arrived, prepared));
    ci.onPush.recorded!(arrived, prepared);
    return sha;
  }

  /** The state of a run: its status, and each job's. */
  async function state(number: number, attempt?: number) {
    const { run, jobs } = await ci.runs.find(found, number, attempt);
    return {
      run: run.status,
      jobs: Object.fromEntries(jobs.map((job) => [job.name, job.status])),
      reason: run.reason,
      rows: jobs,
    };
  }

  async function addRunner(
    labels: string[],
    more: {
      ephemeral?: boolean;
      capabilities?: string[];
      scope?: Parameters<typeof ci.runners.resetRegistrationToken>[0];
    } = {},
  ) {
    const registration = await ci.runners.resetRegistrationToken(more.scope ?? instanceScope, null);
    const { runner, token } = await ci.runners.register(registration, {
      name: 'builder',
      version: 'v1',
      labels,
      ephemeral: more.ephemeral ?? false,
      capabilities: more.capabilities ?? [],
    });
    return driveRunner(modules, { uuid: runner.uuid, token });
  }

  return {
    modules,
    ci,
    db,
    clock,
    log,
    folder,
    alice,
    viewer,
    found,
    push,
    state,
    addRunner,
    close,
    local: localAdministrator,
  };
}

/** A runner that the test drives step by step. */
export async function driveRunner(
  { ci, clock }: Pick<Awaited<ReturnType<typeof openModules>>, 'ci' | 'clock'>,
  credentials: { uuid: string; token: string },
) {
  const row = (): Promise<RunnerRow> => ci.runners.authenticate(credentials, { isActive: false });
  const { id } = await row();
  const report = async (taskId: number, changes: Partial<TaskReport> = {}) =>
    ci.tasks.report(await row(), {
      taskId,
      result: null,
      startedAt: clock.now(),
      stoppedAt: null,
      steps: [],
      outputs: new Map(),
      ...changes,
    });
  const log = async (taskId: number, index: number, lines: string[], noMore = false) => {
    const rows = ci.logs.newRows();
    for (const line of lines) rows.add({ seconds: BigInt(Math.floor(clock.now() / 1000)), nanos: 0 }, line);
    try {
      return await ci.logs.receive(await row(), { taskId, index, rows, noMore });
    } finally {
      await rows.discard();
    }
  };
  return {
    id,
    credentials,
    row,
    report,
    log,
    /** How many rows the log has: the acknowledgement of a call behind a gap. */
    stored: (taskId: number) => log(taskId, Number.MAX_SAFE_INTEGER, []),
    /** Polls the queue once, or as long as the deadline allows. */
    fetch: async (
      deadlineMs = 0,
      options: { requestKey?: string; signal?: AbortSignal; jobId?: number } = {},
    ): Promise<TaskContent | null> =>
      ci.tasks.fetch(await row(), {
        deadlineMs,
        requestKey: options.requestKey ?? null,
        origin: null,
        jobId: options.jobId ?? null,
        signal: options.signal ?? new AbortController().signal,
      }),
    /** Everything from the first report to the last. */
    finish: async (
      taskId: number,
      result: 'success' | 'failure' | 'cancelled' = 'success',
      outputs: Record<string, string> = {},
    ) => {
      await log(taskId, 0, ['done'], true);
      return report(taskId, { result, stoppedAt: clock.now(), outputs: new Map(Object.entries(outputs)) });
    },
  };
}

/** Waits for after-commit effects. */
export const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

export async function reasonOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'nothing',
    (error: { reason?: string; message: string }) => error.reason ?? error.message,
  );
}

/** A file for `.hearth/workflows`. */
export const workflow = (text: string, name = 'ci.yml'): Record<string, string> => ({
  [`.hearth/workflows/${name}`]: text,
});
