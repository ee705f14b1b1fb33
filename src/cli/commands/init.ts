import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { conflict, invalid } from '../../kernel/index.ts';
import type { Run } from '../action.ts';
import { configSources } from '../cli.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import { containerFile, reverseProxyConfigs } from '../reverse-proxy-configs.ts';
import { litestreamConfig, litestreamSteps, litestreamUnit } from '../litestream-files.ts';
import { refusePostgres } from '../refuse-postgres.ts';
import { withHint } from '../report-error.ts';
import { systemdUnit } from '../serving/systemd-unit.ts';

/** `hearth init`: settings, data folder, host key and systemd unit of a new installation. */
export function addInitCommand(program: Command, run: Run): void {
  withExamples(
    program
      .command('init')
      .description('create a settings file and the data folder, and print the next steps')
      .option('--user <name>', 'service user that can read the settings and owns the data folder; requires root')
      .option(
        '--behind-proxy <url>',
        'public URL of a proxy on this machine; all other listeners accept only local connections',
      )
      .option('--unit', 'only print a systemd unit')
      .option('--litestream', 'only print a Litestream configuration, or its systemd unit with --unit')
      .option('--proxy <name>', 'only print a proxy configuration: caddy, nginx or traefik')
      .option('--container', 'only print a Containerfile for this program')
      .action(run(init)),
    'sudo hearth init --config /etc/hearth/hearth.toml --data-dir /var/lib/hearth --user hearth',
    'sudo hearth init --config /etc/hearth/hearth.toml --data-dir /var/lib/hearth --user hearth --behind-proxy https://git.example.org',
    'hearth init --unit > /etc/systemd/system/hearth.service',
    'hearth init --proxy nginx > /etc/nginx/conf.d/hearth.conf',
    'hearth init --litestream > /etc/hearth/litestream.yml',
    'hearth init --litestream --unit > /etc/systemd/system/hearth-litestream.service',
  );
}

interface Options {
  user?: string;
  behindProxy?: string;
  unit?: true;
  litestream?: true;
  proxy?: string;
  container?: true;
}

async function init(cli: Cli, { user, behindProxy, unit, litestream, proxy, container }: Options): Promise<void> {
  if (litestream) return printLitestream(cli, unit ?? false);
  if (unit) return cli.output.print(systemdUnit());
  if (container) return cli.output.print(containerFile);
  if (proxy !== undefined) return cli.output.print(await proxyFile(cli, proxy));
  const ids = user === undefined ? null : idsOf(user, cli.process.getuid?.());
  const [{ exampleFile, loadConfig }, { dropPrivilegesToOwnerOf, makeFolder, prepareDataDir }] = await Promise.all([
    import('../../config/index.ts'),
    import('../data-dir.ts'),
  ]);
  // Creates the file that --config or SERVICE_CONFIG names.
  const sources = configSources(cli.process, cli.flags);
  const { SERVICE_CONFIG: named, ...others } = sources.env;
  const env = behindProxy === undefined ? others : { ...others, SERVICE_BASE_URL: behindProxy };
  const { config } = loadConfig({ ...sources, env, configPath: undefined });
  const file = path.resolve(cli.process.cwd(), cli.flags.config ?? (named || 'hearth.toml'));
  if (existsSync(file)) throw conflict('settings_exist', `${file} already exists. Nothing was changed.`);
  const made = makeSettingsFolder(path.dirname(file), makeFolder);
  const text = exampleFile().replace(/^#data_dir = .*$/m, () => `data_dir = ${JSON.stringify(config.dataDir)}`);
  writeFileSync(file, behindProxy === undefined ? text : besideProxy(text, behindProxy), { mode: 0o640, flag: 'wx' });
  if (ids !== null) chownFiles(ids, file, config.dataDir);
  // The service must be able to read its settings, but files of this program are private by default.
  if (ids !== null && made !== undefined) openFolders(path.dirname(file), made);
  dropPrivilegesToOwnerOf(config.dataDir, cli.process);
  prepareDataDir(config.dataDir, cli.process);
  // Created now, so that the fingerprint can be published before the first connection.
  const hostKeyFile = path.join(config.dataDir, 'ssh', 'host_ed25519');
  const { fingerprint } = await (await import('../../ssh/index.ts')).hostKey(config.dataDir);
  cli.output.print(`${file}\n${config.dataDir}\n${hostKeyFile}\n`, {
    config: file,
    dataDir: config.dataDir,
    hostKey: hostKeyFile,
    fingerprint,
  });
  cli.output.message(`The SSH server's host key fingerprint is ${fingerprint} (ED25519).`);
  for (const line of nextSteps(file, user, behindProxy)) cli.output.message(line);
}

/** Throws `settings_folder`. */
function makeSettingsFolder(
  folder: string,
  make: (folder: string, mode: number) => string | undefined,
): string | undefined {
  try {
    return make(folder, 0o755);
  } catch (cause) {
    throw invalid(
      'settings_folder',
      `The folder ${folder} cannot be created: ${(cause as Error).message.replace(/,.*$/, '')}.`,
      { cause },
    );
  }
}

/** Binds listeners behind the proxy to the loopback address. */
function besideProxy(text: string, url: string): string {
  return text
    .replace(/^#base_url = .*$/m, () => `base_url = ${JSON.stringify(url)}`)
    .replaceAll(/^#(listen = ")0\.0\.0\.0(:300[01]")$/gm, '$1127.0.0.1$2');
}

/** Throws `usage`. */
async function proxyFile(cli: Cli, name: string): Promise<string> {
  if (!Object.hasOwn(reverseProxyConfigs, name))
    throw withHint(invalid('usage', `No proxy configuration is available for ${name}.`), 'caddy, nginx or traefik');
  const { config } = await cli.loadConfig();
  const url = new URL(config.baseUrl ?? 'https://git.example.org');
  return reverseProxyConfigs[name as keyof typeof reverseProxyConfigs]({
    host: url.hostname,
    port: url.protocol === 'https:' && url.port !== '' ? Number(url.port) : 443,
    web: config.http.listen.port,
    grpc: config.grpc.listen.port,
  });
}

/** Throws `sqlite_only`. */
async function printLitestream(cli: Cli, isUnit: boolean): Promise<void> {
  const { config } = await cli.loadConfig();
  refusePostgres(config, 'Set up a PostgreSQL standby, or archive its log (pg_receivewal).');
  if (isUnit) return cli.output.print(litestreamUnit(config));
  const { databaseFile } = await import('../../app/index.ts');
  const { endpoint, bucket, prefix, region, addressing } = config.objects;
  cli.output.print(
    litestreamConfig({
      database: databaseFile(config),
      endpoint: endpoint ?? 'https://s3.example.org',
      bucket: bucket ?? 'hearth',
      prefix,
      region,
      usesPathStyle: addressing === 'path',
    }),
  );
  if (endpoint === null || bucket === null)
    cli.output.message('Configure the object store: objects.endpoint and objects.bucket are not set.');
  if (config.git.storage !== 'store')
    cli.output.message('Repositories are not in the object store. Read docs/repository-store.md first.');
  cli.output.message('Next, as root:');
  for (const line of litestreamSteps) cli.output.message(`  ${line}`);
}

function nextSteps(file: string, user: string | undefined, url: string | undefined): string[] {
  const service = [
    'hearth init --unit > /etc/systemd/system/hearth.service',
    'systemctl daemon-reload && systemctl enable --now hearth',
    'hearth setup-url                  # the one-time link for the first administrator',
    ...(url === undefined
      ? []
      : [
          'hearth init --proxy nginx > /etc/nginx/conf.d/hearth.conf     # or caddy, traefik',
          `hearth doctor --url ${url}`,
        ]),
  ];
  if (user !== undefined)
    return [`Wrote the settings to ${file}. Next, as root:`, ...service.map((line) => `  ${line}`)];
  return [
    `Start the server:  hearth serve --config ${file}`,
    'To run it as a service with its own user and settings in /etc, as root:',
    `  ${addUser('hearth')}`,
    '  hearth init --config /etc/hearth/hearth.toml --data-dir /var/lib/hearth --user hearth',
    ...service.map((line) => `  ${line}`),
  ];
}

const addUser = (name: string): string =>
  `useradd --system --home-dir /var/lib/hearth --shell /usr/sbin/nologin ${name}`;

interface Ids {
  uid: number;
  gid: number;
}

/** Throws `usage`: only root can change owners; `unknown_user`. */
function idsOf(name: string, uid: number | undefined): Ids {
  if (uid !== 0) throw withHint(invalid('usage', '--user requires root privileges.'), 'sudo hearth init …');
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((each) => each.startsWith(`${name}:`));
  if (line === undefined)
    throw withHint(invalid('unknown_user', `The user ${name} does not exist on this machine.`), addUser(name));
  const [, , user, group] = line.split(':');
  return { uid: Number(user), gid: Number(group) };
}

/** Makes the created folders accessible to all users, deepest first. */
function openFolders(folder: string, first: string): void {
  chmodSync(folder, 0o755);
  if (folder !== first) openFolders(path.dirname(folder), first);
}

/** The settings stay owned by root, so that a compromised service cannot change them. */
function chownFiles({ uid, gid }: Ids, file: string, dataDir: string): void {
  chownSync(file, 0, gid);
  chmodSync(file, 0o640);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  chownSync(dataDir, uid, gid);
}
