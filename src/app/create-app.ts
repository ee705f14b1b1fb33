import type { Config } from '../config/index.ts';
import { readDatabaseFacts, storageFault } from '../doctor/index.ts';
import type { Scheduler } from '../scheduler/index.ts';
import type { AppOptions } from './app-options.ts';
import type { Modules } from './modules.ts';
import { scheduledTasks } from './scheduled-tasks.ts';
import { haltAll, recoverAll, startAll } from './lifecycle.ts';
import { openModules } from './open-modules.ts';
import { subscribeRenderers } from './subscriptions.ts';
import { processFacts } from './process-facts.ts';
import { watchMemory } from './watch-memory.ts';
import type { MemoryWatch } from './watch-memory.ts';

interface ListeningAt {
  host: string;
  port: number;
}

interface Addresses {
  http: ListeningAt;
  /** `null` if SSH is off. With the system's sshd, the port for clients; the fingerprint of its key is unknown. */
  ssh: (ListeningAt & { fingerprint: string | null }) | null;
  grpc: ListeningAt;
}

export interface App {
  readonly modules: Modules;
  /** Opens the ports and starts the scheduler; recovery of pushes and runs continues in the background. */
  start(): Promise<Addresses>;
  /** Stops listening, lets running pushes and clones end within `graceMs`, then closes the modules. */
  stop(options?: { graceMs?: number }): Promise<void>;
}

/** Builds the whole server; it does not listen before `start`. */
export async function createApp(config: Config, options: AppOptions): Promise<App> {
  // The transports need the larger libraries: commands that only open modules never load them.
  const edges = Promise.all([
    import('../http/index.ts'),
    import('../pages/index.ts'),
    import('../ssh/index.ts'),
    import('../http-runner/index.ts'),
    import('../scheduler/index.ts'),
    import('../control/index.ts'),
  ]);
  const modules = await openModules(config, options, 'always');
  const { ci, clock, db, federation, git, logger } = modules;
  const [
    { createProbe },
    { createWebServer, prerenderText, renderForMail },
    { createSshServer, sshdControlCommands },
    { createRpcServer },
    {
      createTaskRuns,
      createScheduler,
      importControlCommands,
      schedulerControlCommands,
      packingControlCommands,
      pushControlCommands,
      storageControlCommands,
    },
    { createControlServer },
  ] = await edges;
  subscribeRenderers(modules, { prerenderText, renderForMail });
  const runs = createTaskRuns({ db, clock });

  let addresses: Addresses | null = null;
  let stopping = false;
  let memory: MemoryWatch | null = null;
  const ssh = config.ssh.enabled && !config.ssh.systemSshd ? createSshServer(modules) : null;
  const rpc = createRpcServer({ config, ci, clock, logger });
  const probe = createProbe(config);
  const web = createWebServer({
    ...modules,
    probe,
    runners: rpc,
    origins: options.origins ?? new Map(),
    scheduledTasks: async () => {
      const known = new Map((await runs.list()).map((run) => [run.name, run]));
      return schedule.tasks.map(({ name, time }) => ({ name, time, last: known.get(name) ?? null }));
    },
    startTask(name) {
      const isKnown = schedule.tasks.some((task) => task.name === name);
      if (isKnown) void schedule.runNow(name);
      return isKnown;
    },
    ssh: () => addresses?.ssh ?? null,
    processFacts,
    databaseFacts: () => readDatabaseFacts(db),
    unready: async () => {
      const [steps, storage, hasGit] = await Promise.all([
        db.schema().catch(() => null),
        storageFault(config),
        git.isUsable(),
      ]);
      return [
        ...(stopping ? ['draining'] : addresses === null ? ['starting'] : []),
        ...(steps === null ? ['database'] : steps.some((step) => step.state === 'pending') ? ['migrations'] : []),
        ...(hasGit ? [] : ['git']),
        ...(storage === null ? [] : [storage]),
      ];
    },
  });
  const schedule: Scheduler = createScheduler({
    logger,
    clock,
    runs,
    leases: modules.leases,
    tasks: scheduledTasks(modules),
  });
  const control = createControlServer({
    dataDir: config.dataDir,
    logger,
    commands: {
      ...options.controlCommands,
      ...(config.ssh.systemSshd ? sshdControlCommands(modules) : {}),
      ...schedulerControlCommands(schedule),
      ...importControlCommands(modules),
      ...pushControlCommands(modules),
      ...packingControlCommands(modules),
      ...storageControlCommands(modules),
      'address.probe': probe.command,
    },
  });

  return {
    modules,
    async start() {
      await recoverAll(modules.parts);
      const [http, sshAt, grpc] = await Promise.all([
        web.listen(),
        ssh === null ? null : ssh.listen(),
        rpc.listen(),
        control.listen(),
      ]);
      const ofTheMachine = config.ssh.systemSshd
        ? { host: '0.0.0.0', port: config.ssh.publicPort ?? 22, fingerprint: null }
        : null;
      addresses = { http, ssh: sshAt ?? ofTheMachine, grpc };
      startAll(modules.parts, logger);
      schedule.start();
      memory = watchMemory({ setting: config.memory.cachesBytes, logger });
      return addresses;
    },
    async stop({ graceMs = 30_000 } = {}) {
      stopping = true;
      memory?.stop();
      haltAll(modules.parts);
      await Promise.all([
        rpc.stop({ graceMs }),
        web.stop({ graceMs }),
        ssh?.stop({ graceMs }),
        control.stop({ graceMs }),
        federation.stop(),
        schedule.stop(),
      ]);
      await modules.close();
    },
  };
}
