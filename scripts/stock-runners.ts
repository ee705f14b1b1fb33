// Tries the recipes for runners with the programs of a folder; see scripts/stock-runners.
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { runnerSetup } from '../src/pages/runs/runner-setup.ts';
import { freePort } from '../test/fixtures/free-port.ts';
import type { StartOptions } from '../test/fixtures/start-hearth.ts';
import { startForge } from '../test/http-runner/rpc-fixture.ts';
import type { Forge } from '../test/http-runner/rpc-fixture.ts';
import { moments, tryDeployments } from './stock-runner-deployments.ts';
import { tryFeatures } from './stock-runner-features.ts';

const programs = process.argv[2]!;
const here = ['forgejo-runner', 'gitea-runner', 'act_runner'].filter((name) => existsSync(path.join(programs, name)));
if (here.length === 0) throw new Error(`${programs} has no runner`);

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
/** The config file of the README, without the label that needs Docker. */
const config = (/```yaml\n([^]*?)```/.exec(readme)?.[1] ?? '').replace(/^.*docker:.*\n/m, '');
const ends: (() => unknown)[] = [];

interface Recipe {
  name: string;
  /** Prepares the folder, and returns the command of the daemon. */
  prepare(forge: Forge, folder: string): Promise<string>;
}

const shell = (command: string, folder: string, bin = programs) =>
  promisify(execFile)('sh', ['-c', command], {
    cwd: folder,
    env: { ...process.env, PATH: `${bin}:${programs}:${process.env['PATH'] ?? ''}`, HOME: folder },
    timeout: 60_000,
  });

/** The commands of the README for one program, in order; of the shared secret only the last two. */
const commandsOf = (program: string): string[] =>
  readme.split('\n').filter((line) => line.startsWith(`${program} -c config.yml`));

function byToken(program: string): Recipe {
  return {
    name: `${program}, by registration token`,
    async prepare(forge, folder) {
      const token = await forge.modules.ci.runners.resetRegistrationToken({ kind: 'instance' }, null);
      // Gitea's runner has two names, with the same commands.
      const known = program === 'gitea-runner' ? 'act_runner' : program;
      const [register = '', daemon = ''] = commandsOf(known).map((line) =>
        line.replace(known, program).replace('http://localhost:3000', forge.url).replace('TOKEN', token),
      );
      writeFileSync(path.join(folder, 'config.yml'), config);
      await shell(register, folder);
      return daemon;
    },
  };
}

const bySecret: Recipe = {
  name: 'forgejo-runner, by shared secret',
  async prepare(forge, folder) {
    const secret = [...crypto.getRandomValues(new Uint8Array(20))]
      .map((one) => one.toString(16).padStart(2, '0'))
      .join('');
    const scope = { kind: 'instance' } as const;
    const known = { name: 'builder', labels: ['linux'], secret };
    await forge.modules.ci.runners.registerOffline(scope, known, { mayMove: true });
    writeFileSync(path.join(folder, 'secret'), secret);
    writeFileSync(path.join(folder, 'config.yml'), config);
    const [create = '', daemon = ''] = commandsOf('forgejo-runner').slice(2);
    await shell(create.replace('http://localhost:3000', forge.url), folder);
    return daemon;
  },
};

/** The line of the runner pages, below the folder, with programs that change the system left out. */
function bySystemd(kind: 'registration' | 'created'): Recipe {
  return {
    name: `the line for systemd, ${kind === 'created' ? 'of a created runner' : 'by registration token'}`,
    async prepare({ modules, url }, folder) {
      const bin = path.join(folder, 'bin');
      mkdirSync(bin);
      for (const [name, text] of [
        ['sudo', 'exec "$@"'],
        ['runuser', 'shift 3; exec "$@"'],
        ...['useradd', 'systemctl', 'chown'].map((each) => [each, ':'] as const),
      ] as const) {
        writeFileSync(path.join(bin, name), `#!/bin/sh\n${text}\n`);
        chmodSync(path.join(bin, name), 0o755);
      }
      const { runners } = modules.ci;
      const scope = { kind: 'instance' } as const;
      const made = kind === 'created' ? await runners.create(scope, { name: "alice's", ephemeral: false }) : null;
      const identity =
        made === null
          ? ({ kind: 'registration', token: await runners.resetRegistrationToken(scope, null) } as const)
          : ({ ...made.runner, kind: 'created', token: made.token } as const);
      const { systemd } = runnerSetup(identity, url);
      const local = systemd.replaceAll('/var/lib/runner', folder).replaceAll('/etc/systemd/system', folder);
      await shell(local, folder, bin);
      const unit = readFileSync(path.join(folder, 'ci-runner.service'), 'utf8');
      return /^ExecStart=(.*)$/m.exec(unit)?.[1] ?? '';
    },
  };
}

/** What a run is looked at for besides its result: an annotation, a summary, and a call by the name of a repository. */
const workflow = `on: push
jobs:
  a:
    runs-on: linux
    steps:
      - run: |
          echo '::error file=src/a.c,line=3,title=Oops::Expected a number'
          echo '# Tests passed' >> "$GITHUB_STEP_SUMMARY"
  b:
    uses: alice/work/.hearth/workflows/called.yml@main
    with: {word: called}
`;
const called = `on: {workflow_call: {inputs: {word: {type: string}}}}
jobs:
  say: {runs-on: linux, steps: [{run: 'test "\${{ inputs.word }}" = called'}]}
`;

interface Reports {
  seen: string[];
  missing: string[];
}

/** Forgejo's runner sends no summaries. */
async function reportsOf({ modules, found }: Forge, sendsSummaries: boolean): Promise<Reports> {
  const { run, jobs } = await modules.ci.runs.find(found, 1);
  const [annotation] = await modules.ci.annotations.ofJobs(run, jobs);
  const summaries = await modules.ci.summaries.of(jobs.flatMap(({ taskId }) => taskId ?? []));
  const reports: Reports = { seen: [], missing: [] };
  const check = (what: string, isThere: boolean, isNeeded = true) => {
    if (isThere) reports.seen.push(what);
    else if (isNeeded) reports.missing.push(what);
  };
  check('annotation', annotation?.path === 'src/a.c' && annotation.firstLine === 3);
  check(
    'called workflow',
    jobs.some(({ name, status }) => name === 'b / say' && status === 'success'),
  );
  check('summary', summaries.length > 0, sendsSummaries);
  return reports;
}

/** A server and the daemon of a recipe, as long as `work` takes. */
async function withDaemon(
  { prepare }: Recipe,
  options: StartOptions,
  work: (forge: Forge, command: string) => Promise<boolean>,
): Promise<{ isOk: boolean; lines: string[] }> {
  const owner = { teardown: (fn: () => unknown) => void ends.unshift(fn) };
  const forge = await startForge(owner, options);
  const folder = path.join(forge.folder, 'runner');
  mkdirSync(folder);
  let daemon: ChildProcess | null = null;
  const lines: string[] = [];
  try {
    const command = await prepare(forge, folder);
    daemon = spawn('sh', ['-c', `exec ${command}`], {
      cwd: folder,
      env: { ...process.env, PATH: `${programs}:${process.env['PATH'] ?? ''}`, HOME: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [daemon.stdout!, daemon.stderr!])
      stream.on('data', (part: Buffer) => lines.push(String(part)));
    return { isOk: await work(forge, command), lines };
  } catch (error) {
    lines.push(String((error as { stderr?: string }).stderr ?? error));
    return { isOk: false, lines };
  } finally {
    daemon?.kill('SIGTERM');
    if (daemon !== null && daemon.exitCode === null)
      await Promise.race([new Promise((resolve) => daemon!.once('exit', resolve)), sleep(10_000)]);
    daemon?.kill('SIGKILL');
    for (const end of ends.splice(0)) await end();
  }
}

async function tryRecipe(recipe: Recipe): Promise<boolean> {
  let reported: Reports | null = null;
  const { isOk, lines } = await withDaemon(recipe, {}, async (forge, command) => {
    await forge.push({
      '.hearth/workflows/ci.yml': workflow,
      '.hearth/workflows/called.yml': called,
    });
    for (let tries = 0; tries < 240; tries += 1) {
      const { run } = await forge.state(1).catch(() => ({ run: 'waiting' }));
      if (run === 'success') {
        // The last rows and the summary may come after the result.
        for (let more = 0; more < 20; more += 1) {
          reported = await reportsOf(forge, !command.includes('forgejo-runner'));
          if (reported.missing.length === 0) return true;
          await sleep(500);
        }
        return false;
      }
      if (run === 'failure' || run === 'cancelled') return false;
      await sleep(500);
    }
    return false;
  });
  const seen = reported as Reports | null;
  console.log(`${isOk ? 'ok  ' : 'FAIL'} ${recipe.name}${seen === null ? '' : `: ${seen.seen.join(', ')}`}`);
  if (seen !== null && !isOk) console.log(`missing: ${seen.missing.join(', ')}`);
  if (!isOk) console.log(lines.join('').split('\n').slice(-30).join('\n'));
  return isOk;
}

const recipes = [
  ...here.map(byToken),
  ...(here.includes('forgejo-runner') ? [bySecret] : []),
  bySystemd('registration'),
  bySystemd('created'),
];
let failed = 0;
for (const recipe of recipes) if (!(await tryRecipe(recipe))) failed += 1;
for (const program of here) {
  const port = await freePort();
  const env = { SERVICE_HTTP_LISTEN: `127.0.0.1:${port}`, SERVICE_BASE_URL: `http://127.0.0.1:${port}` };
  const { isOk, lines } = await withDaemon(byToken(program), { env }, async (forge) => {
    failed += await tryFeatures(forge, program);
    return true;
  });
  if (!isOk) {
    failed += 1;
    console.log(lines.join('').split('\n').slice(-30).join('\n'));
  }
}
const kills = process.argv.includes('--all-kills') ? moments : (['1'] as const);
for (const program of here) failed += await tryDeployments(programs, program, config, kills);
process.exitCode = failed === 0 ? 0 : 1;
