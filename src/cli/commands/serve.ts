import type { Command } from 'commander';
import type { App } from '../../app/index.ts';
import type { Config } from '../../config/index.ts';
import { waitAtMost } from '../../kernel/index.ts';
import type { Logger } from '../../kernel/index.ts';
import { shownAddresses, urlHost } from '../serving/addresses.ts';
import { explainListenError } from '../serving/listen-errors.ts';
import type { Cli } from '../cli.ts';
import type { CliSignal } from '../cli-process.ts';
import { exitCodeOfServe } from '../exit-codes.ts';
import { withExamples } from '../help.ts';
import type { Run } from '../action.ts';
import { formatStartupBanner } from '../serving/startup-banner.ts';
import { setupUrl } from './setup-url.ts';

interface Options {
  listen?: string;
  sshListen?: string;
  /** False with --no-ssh. */
  ssh: boolean;
}

/** Grace period of running pushes and clones after the first signal, and after a fatal error. */
const graceMs = 30_000;
const fatalGraceMs = 4_000;

/** `hearth serve`: the server. */
export function addServeCommand(program: Command, run: Run): void {
  withExamples(
    program
      .command('serve')
      .description('start the server')
      .option('--listen <host:port>', 'address for web pages and git over HTTP')
      .option('--ssh-listen <host:port>', 'address for git over SSH')
      .option('--no-ssh', 'do not serve git over SSH')
      .action(run(serve)),
    'hearth serve',
    'hearth serve --listen 127.0.0.1:8080 --data-dir /srv/hearth',
  );
}

async function serve(cli: Cli, { listen, sshListen, ssh }: Options): Promise<void> {
  cli.exitCodeOf = exitCodeOfServe;
  // Node names its first thread MainThread, which is useless in lists of processes or sockets.
  cli.process.title = 'hearth serve';
  const ended = endOfService(cli);
  const load = (): ReturnType<Cli['loadConfig']> =>
    cli.loadConfig({
      ...(listen === undefined ? {} : { 'http.listen': listen }),
      ...(sshListen === undefined ? {} : { 'ssh.listen': sshListen }),
      ...(ssh ? {} : { 'ssh.enabled': 'false' }),
    });
  const loaded = await load();
  const { origins, warnings } = loaded;
  const [
    { createLiveConfig },
    { createLogger },
    { createLogTail },
    { createReload, controlCommands },
    { dropPrivilegesToOwnerOf, prepareDataDir },
    { takeInstanceLock },
    serverFile,
  ] = await Promise.all([
    import('../../config/index.ts'),
    import('../serving/logger.ts'),
    import('../serving/log-tail.ts'),
    import('../serving/control-commands.ts'),
    import('../data-dir.ts'),
    import('../serving/instance-lock.ts'),
    import('../serving/runtime-state.ts'),
  ]);
  const live = createLiveConfig(loaded);
  const { config } = live;
  const tail = createLogTail();
  const { setLevel, ...logger } = createLogger(cli.process.stderr, {
    ...config.log,
    ...(cli.flags.debug ? { level: 'debug' } : {}),
    tail,
  });
  // The modules' logger once they exist: it also feeds the audit log.
  const heard: { logger: Logger } = { logger };
  const reload = createReload({ live, load, logger: () => heard.logger, setLevel });
  // Without a listener the signal would end the server. Before the start is complete there is nothing to reload.
  cli.process.on('SIGHUP', () => void reload().catch(() => {}));
  for (const warning of warnings) logger.warn('config.warning', { warning });

  const user = dropPrivilegesToOwnerOf(config.dataDir, cli.process);
  if (user !== null) logger.info('server.user_changed', { user });
  prepareDataDir(config.dataDir, cli.process);
  const lock = takeInstanceLock(config.dataDir);
  const facts = {
    pid: cli.process.pid,
    startedAt: new Date(cli.clock.now()).toISOString(),
    http: null,
    ssh: null,
    grpc: null,
    webUrl: null,
  };
  serverFile.writeRuntimeState(config.dataDir, facts);
  try {
    ended.reportFatalTo(logger);
    // The database thread starts while the modules are loading: both take about as long.
    const { beginWriting, databaseFileIn } = await import('../../db/index.ts');
    const writing = config.database.url === null ? beginWriting(databaseFileIn(config.dataDir)) : undefined;
    const { createApp } = await import('../../app/index.ts');
    const app = await createApp(config, {
      logger,
      clock: cli.clock,
      origins,
      ...(writing === undefined ? {} : { writing }),
      onStorageFault: ended.fatal,
      onReplaced: (sentence) => ended.fatal(new Error(sentence)),
      reload,
      controlCommands: controlCommands({ tail, reload }),
    });
    heard.logger = app.modules.logger;
    try {
      const starting = app.start().catch((error: unknown) => Promise.reject(explainListenError(error)));
      const [{ http, ssh: sshAt, grpc }, token] = await Promise.all([starting, setupToken(app)]);
      const addresses = shownAddresses(config, http, sshAt);
      serverFile.writeRuntimeState(config.dataDir, { ...facts, http, ssh: sshAt, grpc, webUrl: addresses.web });
      const link = token === null ? null : setupUrl(addresses.web, token);
      await showStart(cli, config, {
        addresses,
        sshFingerprint: sshAt?.fingerprint ?? null,
        grpc: `${urlHost(grpc.host)}:${grpc.port}`,
        setupUrl: link,
        originChange: await app.modules.federation.originChange(),
      });
      logger.info('server.started', { http, ssh: sshAt, grpc, dataDir: config.dataDir, pid: cli.process.pid });
      const reason = await ended.first;
      logger.info('server.stopping', { reason });
    } finally {
      await stop(app, ended.isFatal() ? fatalGraceMs : graceMs, logger);
    }
    if (ended.isFatal()) cli.exitCode = 1;
    logger.info('server.stopped');
  } finally {
    serverFile.removeRuntimeState(config.dataDir);
    lock.release();
  }
}

/** The token of the setup link while there is no administrator; null afterwards. */
async function setupToken({ modules: { accounts } }: App): Promise<string | null> {
  return (await accounts.hasAdministrator()) ? null : accounts.setupToken();
}

type Shown = Omit<Parameters<typeof formatStartupBanner>[0], 'version' | 'dataDir'>;

async function showStart(cli: Cli, { dataDir }: Config, shown: Shown): Promise<void> {
  const { embedded } = await import('../../embedded/index.ts');
  const { addresses, sshFingerprint, grpc, setupUrl, originChange } = shown;
  const { version } = embedded;
  const json = {
    version,
    pid: cli.process.pid,
    ...addresses,
    sshFingerprint,
    grpc,
    dataDir,
    setupUrl,
    ...(originChange == null ? {} : { originChange }),
  };
  cli.output.print(formatStartupBanner({ version, dataDir, ...shown }), json);
}

interface EndOfService {
  /** Resolves with the reason at the first signal or fatal error. */
  readonly first: Promise<string>;
  isFatal(): boolean;
  /** Reports a failure that makes continuing unsafe. */
  readonly fatal: (error: unknown) => void;
  reportFatalTo(logger: Logger): void;
}

/**
 * Reasons that end the service. The first signal lets running work finish, a second one ends at once; an unhandled
 * error is logged, connections are drained, and the exit code is 1 (security K05).
 */
function endOfService({ process, onSignal }: Cli): EndOfService {
  const { promise: first, resolve } = Promise.withResolvers<string>();
  let signals = 0;
  let fatal = false;
  let logger: Logger | null = null;
  onSignal((signal: CliSignal) => {
    signals += 1;
    if (signals > 1) process.exit(signal === 'SIGINT' ? 130 : 143);
    resolve(signal);
  });
  const end = (error: unknown): void => {
    logger?.error('server.fatal', { error });
    if (fatal) return;
    fatal = true;
    resolve('fatal error');
    // A hanging shutdown must not keep a broken server alive.
    setTimeout(() => process.exit(1), fatalGraceMs + 500).unref();
  };
  process.on('uncaughtException', end);
  process.on('unhandledRejection', end);
  return { first, isFatal: () => fatal, fatal: end, reportFatalTo: (to) => void (logger = to) };
}

/** Stops within the grace period plus a margin, so that a hanging part cannot block the process. */
async function stop(app: App, grace: number, logger: Logger): Promise<void> {
  const stopped = app.stop({ graceMs: grace }).then(() => true);
  if ((await waitAtMost(stopped, grace + 3_000)) === undefined)
    logger.error('server.stop_incomplete', { graceMs: grace });
}
