// The lines of the runner pages, pasted into a shell whose programs record what they are called with.
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import type { Test } from 'tap';
import { parse } from 'yaml';
import { runnerSetup } from '../../../src/pages/runs/runner-setup.ts';
import type { RunnerIdentity } from '../../../src/pages/runs/runner-setup.ts';

const origin = 'https://git.example.org';
const created: RunnerIdentity = {
  kind: 'created',
  id: 3,
  uuid: '00000000-0000-4000-8000-000000000003',
  name: `it's "quoted" $HOME \`id\``,
  token: 'b'.repeat(40),
  ephemeral: true,
};
const registration: RunnerIdentity = { kind: 'registration', token: 'a'.repeat(40) };

/** Runs a line with `sh`; system folders are below `root`. Returns the calls of programs, one a line. */
async function paste(t: Pick<Test, 'testdir'>, line: string, { programs = ['forgejo-runner'] } = {}) {
  const root = t.testdir({ bin: {}, home: {}, units: {} });
  const bin = path.join(root, 'bin');
  const script = (name: string, text: string): void => {
    writeFileSync(path.join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(path.join(bin, name), 0o755);
  };
  const calls = path.join(root, 'calls');
  writeFileSync(calls, '');
  script('sudo', 'exec "$@"');
  script('runuser', 'shift 3; exec "$@"');
  for (const name of ['useradd', 'systemctl', 'docker', 'chown'])
    script(name, `{ printf '%s' ${name}; printf ' [%s]' "$@"; echo; } >>${calls}`);
  script('uname', 'echo "build host"');
  script('id', 'exit 1');
  for (const name of programs)
    script(name, `{ printf '%s' ${name}; printf ' [%s]' "$@"; echo; } >>${calls}; echo '{}' >.runner`);
  mkdirSync(path.join(root, 'work'));
  const local = line
    .replaceAll('/var/lib/runner', `${root}/home`)
    .replaceAll('/etc/systemd/system', `${root}/units`)
    .replaceAll('$(command -v $R)', `$(PATH=${bin} command -v $R)`);
  const ran = await promisify(execFile)('sh', ['-c', local], {
    cwd: path.join(root, 'work'),
    env: { PATH: `${bin}:/usr/bin:/bin`, HOME: '/elsewhere' },
  }).then(
    () => 0,
    (error: { code: number }) => error.code,
  );
  return { code: ran, root, bin, calls: readFileSync(calls, 'utf8') };
}

t.test('each is one line', async (t) => {
  for (const identity of [created, registration])
    for (const line of Object.values(runnerSetup(identity, origin))) t.notMatch(line, /\n/);
});

t.test('systemd, by registration token: config, registration, unit, start', async (t) => {
  const { code, root, bin, calls } = await paste(t, runnerSetup(registration, origin).systemd);
  t.equal(code, 0);
  const config = parse(readFileSync(path.join(root, 'home/config.yml'), 'utf8')) as { runner: object };
  t.strictSame(config.runner, { labels: ['linux:host'], fetch_timeout: '30s', fetch_interval: '1s' });
  t.match(calls, `forgejo-runner [-c] [config.yml] [register] [--no-interactive] [--instance] [${origin}]`);
  t.match(calls, `[--token] [${'a'.repeat(40)}] [--name] [build host]`);
  t.match(
    calls,
    /useradd \[--system\][^]*systemctl \[daemon-reload\]\nsystemctl \[enable\] \[--now\] \[ci-runner\]\n$/,
  );
  const unit = readFileSync(path.join(root, 'units/ci-runner.service'), 'utf8');
  t.match(
    unit,
    `\nUser=runner\nWorkingDirectory=${root}/home\nExecStart=${bin}/forgejo-runner -c config.yml daemon\nRestart=always\n`,
  );
  const checked = await promisify(execFile)('systemd-analyze', [
    'verify',
    path.join(root, 'units/ci-runner.service'),
  ]).then(
    ({ stderr }) => stderr,
    (error: NodeJS.ErrnoException & { stderr?: string }) => (error.code === 'ENOENT' ? '' : (error.stderr ?? '')),
  );
  t.notMatch(checked, /ci-runner\.service:\d+/, 'no line that systemd does not know');
});

t.test('systemd, as a runner that was created: its file, whatever its name is', async (t) => {
  const { code, root, calls } = await paste(t, runnerSetup(created, origin).systemd, { programs: ['act_runner'] });
  t.equal(code, 0);
  t.strictSame(JSON.parse(readFileSync(path.join(root, 'home/.runner'), 'utf8')), {
    id: 3,
    uuid: '00000000-0000-4000-8000-000000000003',
    name: `it's "quoted" $HOME \`id\``,
    token: 'b'.repeat(40),
    address: origin,
    labels: ['linux:host'],
    ephemeral: true,
  });
  t.notMatch(calls, /act_runner/, 'it is registered already');
  t.match(readFileSync(path.join(root, 'units/ci-runner.service'), 'utf8'), /bin\/act_runner -c config\.yml daemon/);
});

t.test('systemd, without a runner program: nothing is changed', async (t) => {
  const { code, calls } = await paste(t, runnerSetup(registration, origin).systemd, { programs: [] });
  t.equal(code, 1);
  t.equal(calls, '');
});

t.test('in a container, both ways', async (t) => {
  const registered = await paste(t, runnerSetup(registration, origin).container);
  t.equal(registered.code, 0);
  for (const part of [
    `[GITEA_INSTANCE_URL=${origin}]`,
    `[GITEA_RUNNER_REGISTRATION_TOKEN=${'a'.repeat(40)}]`,
    '[GITEA_RUNNER_LABELS=ubuntu-latest:docker://node:22-bookworm]',
    '[GITEA_RUNNER_NAME=build host]',
    '[ci-runner:/data]',
  ])
    t.match(registered.calls, part);
  const made = await paste(t, runnerSetup(created, origin).container);
  t.equal(made.code, 0);
  const file = JSON.parse(readFileSync(path.join(made.root, 'work/ci-runner/.runner'), 'utf8')) as object;
  t.match(file, { token: 'b'.repeat(40), labels: ['ubuntu-latest:docker://node:22-bookworm'] });
  t.match(made.calls, `[-v] [${made.root}/work/ci-runner:/data]`);
});
