import { Option } from 'commander';
import type { Command } from 'commander';
import type { GroupReport, CheckResult, Level } from '../../doctor/index.ts';
import { rootCertificates } from 'node:tls';
import type { Modules } from '../../app/index.ts';
import { invalid, isDamagedDatabase, isDomainError } from '../../kernel/index.ts';
import type { Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import { showProgress } from '../terminal/progress.ts';
import { describeError, withHint } from '../report-error.ts';

/** Equal to `groupNames` of the doctor, whose module is loaded only when it runs. */
const areas = [
  'settings',
  'clock',
  'database',
  'nodes',
  'storage',
  'names',
  'repositories',
  'images',
  'objects',
  'issues',
  'lfs',
  'pulls',
  'releases',
  'notifications',
  'ci',
  'queues',
  'mail',
  'single-sign-on',
  'safety',
];

/** `hearth doctor`: problems and their remedies. */
export function addDoctorCommand(program: Command, run: Run): void {
  withExamples(
    program
      .command('doctor')
      .description('check the instance; exits with 7 when there is a problem')
      .option('--fix', 'repair whatever can be repaired without losing data')
      .addOption(new Option('--only <area>', 'check only one area').choices(areas))
      .option('--deep', 'read every object in every repository and every stored file; can take hours')
      .option('--url <address>', 'also check the public URL through the proxy')
      .option('--peers', 'also test every federated server: name, certificate, clock, signatures')
      .action(run(doctor)),
    'hearth doctor',
    'hearth doctor --fix',
    'hearth doctor --deep',
    'hearth doctor --only repositories --json',
    'hearth doctor --url https://git.example.org',
  );
}

const signs: Record<Level, [sign: string, word: string, colour: 'green' | 'yellow' | 'red']> = {
  ok: ['✔', 'ok', 'green'],
  warning: ['!', 'warning', 'yellow'],
  problem: ['✖', 'problem', 'red'],
};

interface Shown extends Omit<CheckResult, 'fix'> {
  area: string;
  fixed: string | null;
}

interface Wanted {
  fix?: true;
  deep?: true;
  only?: string;
  url?: string;
  peers?: true;
}

async function doctor(cli: Cli, { fix, ...wanted }: Wanted): Promise<void> {
  const shown: Shown[] = [];
  let healthy = 0;
  for await (const { area, findings, summary } of reports(cli, wanted)) {
    if (findings.length === 0) {
      healthy += 1;
      say(cli, 'ok', area, summary);
    }
    for (const { fix: cure, ...finding } of findings) {
      const fixed =
        fix && cure !== null ? await cure().catch((error: Error) => `could not be repaired: ${error.message}`) : null;
      shown.push({ ...finding, area, fixed });
      say(cli, finding.level, area, finding.message);
      if (fixed !== null) say(cli, 'ok', '', fixed);
      else if (finding.remedy !== null && !cli.output.json)
        cli.output.print(`${' '.repeat(17)}fix: ${finding.remedy.replaceAll('\n', `\n${' '.repeat(22)}`)}\n`);
    }
  }
  const left = shown.filter(({ fixed }) => fixed === null || fixed.startsWith('could not'));
  const problems = left.filter(({ level }) => level === 'problem').length;
  const warnings = left.length - problems;
  if (problems > 0) cli.exitCode = 7;
  if (cli.output.json) cli.output.print('', { healthy, warnings, problems, findings: shown });
  else
    cli.output.message(
      `${healthy} ok, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}, ${problems} ${problems === 1 ? 'problem' : 'problems'}`,
    );
}

/** An instance that cannot be opened is reported as the problem. */
async function* reports(cli: Cli, { deep, only, url, peers }: Wanted): AsyncGenerator<GroupReport> {
  try {
    const { config, file } = await cli.loadConfig();
    const modules = await cli.openModules();
    const progress = showProgress(cli);
    const { createDoctor, checkPeers } = await import('../../doctor/index.ts');
    yield* createDoctor({
      ...modules,
      config,
      settingsFile: file?.path ?? null,
      userId: cli.process.getuid?.() ?? null,
      backupState: () => modules.backups.state(),
      auditBreak: () => modules.audit.findBreak(),
    }).examine(only, { isDeep: deep === true, onProgress: (step) => progress.step(step) });
    progress.end();
    if (url !== undefined) yield await address(modules, url);
    if (peers) yield await checkPeers(modules.federation);
  } catch (error) {
    if (!isDomainError(error) && !isDamagedDatabase(error)) throw error;
    const { code, message, hint } = describeError(error);
    const finding: CheckResult = { check: `start.${code}`, level: 'problem', message, remedy: hint, fix: null };
    yield { area: 'start', findings: [finding], summary: '' };
  }
}

/** Throws `usage`, `server_not_running`. */
async function address({ config, clock }: Modules, text: string): Promise<GroupReport> {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.pathname !== '/') {
    throw withHint(
      invalid('usage', `${JSON.stringify(text)} is not a server URL.`),
      'enter it as users type it: https://git.example.org',
    );
  }
  const [{ checkAddress }, { readFileSync }] = await Promise.all([import('../../doctor/index.ts'), import('node:fs')]);
  const { dataDir, baseUrl, caFile } = config;
  return checkAddress(url, {
    dataDir,
    baseUrl,
    now: clock.now(),
    ...(caFile === null ? {} : { ca: [...rootCertificates, readFileSync(caFile, 'utf8')] }),
  });
}

function say({ output, process, flags }: Cli, level: Level, area: string, text: string): void {
  if (output.json) return;
  const [sign, word, colour] = signs[level];
  if (flags.plain || process.stdout.isTTY !== true) output.print(`${word}\t${area}\t${text}\n`);
  else output.print(`${output.style(colour, sign)} ${area.padEnd(14)} ${text}\n`);
}
