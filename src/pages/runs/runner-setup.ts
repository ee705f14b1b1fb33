/** How a runner registers: by the registration token of a scope, or as one that was created here. */
export type RunnerIdentity =
  | { kind: 'registration'; token: string }
  | { kind: 'created'; id: number; uuid: string; name: string; token: string; ephemeral: boolean };

/** Commands to paste, each one line. */
interface RunnerSetup {
  /** For an administrator of a machine with systemd, with a runner program in the path. */
  systemd: string;
  /** On a machine with Docker; the jobs also use its engine. */
  container: string;
}

const hostLabel = 'linux:host';
const containerLabel = 'ubuntu-latest:docker://node:22-bookworm';
const image = 'docker.io/gitea/runner:latest';

/** Quotes a text as one word of a POSIX shell. */
const quote = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

const printed = (lines: readonly string[]): string => `printf '%s\\n' ${lines.map(quote).join(' ')}`;

/** The file `.runner` of a runner that was created here. */
export const runnerFile = (
  runner: Extract<RunnerIdentity, { kind: 'created' }>,
  origin: string,
  labels: readonly string[],
): object => ({
  id: runner.id,
  uuid: runner.uuid,
  name: runner.name,
  token: runner.token,
  address: origin,
  labels,
  ephemeral: runner.ephemeral,
});

/** With a long `fetch_timeout` the server holds a call until a job is available, so that jobs start at once. */
const configFile = ['runner:', `  labels: ["${hostLabel}"]`, '  fetch_timeout: 30s', '  fetch_interval: 1s'];

const unitFile = [
  '[Unit]',
  'Description=CI runner',
  'Wants=network-online.target',
  'After=network-online.target docker.service',
  '[Service]',
  'User=runner',
  'WorkingDirectory=/var/lib/runner',
  'Restart=always',
  'RestartSec=5',
  '[Install]',
  'WantedBy=multi-user.target',
];

/**
 * @param origin URL at which runners reach this server
 */
export function runnerSetup(identity: RunnerIdentity, origin: string): RunnerSetup {
  return { systemd: systemdLine(identity, origin), container: containerLine(identity, origin) };
}

function systemdLine(identity: RunnerIdentity, origin: string): string {
  const join =
    identity.kind === 'registration'
      ? `runuser -u runner -- "$R" -c config.yml register --no-interactive --instance ${quote(origin)} --token ${quote(identity.token)} --name "$(uname -n)"`
      : `${printed([JSON.stringify(runnerFile(identity, origin, [hostLabel]))])} >.runner`;
  const at = unitFile.indexOf('Restart=always');
  const script = [
    'set -e',
    'for R in forgejo-runner gitea-runner act_runner; do R=$(command -v $R) && break; done',
    'test -n "$R" || { echo "Install forgejo-runner or gitea-runner first." >&2; exit 1; }',
    'id runner >/dev/null 2>&1 || useradd --system --create-home --home-dir /var/lib/runner runner',
    'cd /var/lib/runner',
    'umask 077',
    `${printed(configFile)} >config.yml`,
    'chown runner: . config.yml',
    join,
    'chown runner: .runner',
    `{ ${printed(unitFile.slice(0, at))}; echo "ExecStart=$R -c config.yml daemon"; ${printed(unitFile.slice(at))}; } >/etc/systemd/system/ci-runner.service`,
    'systemctl daemon-reload',
    'systemctl enable --now ci-runner',
  ];
  return `sudo sh -c ${quote(script.join('; '))}`;
}

function containerLine(identity: RunnerIdentity, origin: string): string {
  const engine = '-v /var/run/docker.sock:/var/run/docker.sock';
  const start = 'docker run -d --restart always --name ci-runner';
  if (identity.kind === 'created') {
    const file = JSON.stringify(runnerFile(identity, origin, [containerLabel]));
    return `mkdir -p ci-runner && ${printed([file])} >ci-runner/.runner && ${start} -v "$PWD/ci-runner:/data" ${engine} ${image}`;
  }
  const settings = {
    GITEA_INSTANCE_URL: origin,
    GITEA_RUNNER_REGISTRATION_TOKEN: identity.token,
    GITEA_RUNNER_LABELS: containerLabel,
  };
  const environment = Object.entries(settings).map(([name, value]) => `-e ${quote(`${name}=${value}`)}`);
  return `${start} ${environment.join(' ')} -e GITEA_RUNNER_NAME="$(uname -n)" -v ci-runner:/data ${engine} ${image}`;
}
