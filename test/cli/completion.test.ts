import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { openModules as realOpenModules } from '../../src/app/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { runCli } from './run-cli.ts';

const folder = temporaryFolder(t);
const dataDir = path.join(folder, 'data');
const program = new URL('../../bin/hearth', import.meta.url).pathname;
/** Opened once for all commands. */
let modules: ReturnType<typeof realOpenModules> | null = null;
const openModules: typeof realOpenModules = async (...given) => ({
  ...(await (modules ??= realOpenModules(...given))),
  close: async () => {},
});
t.teardown(async () => (await modules)?.close());
const hearth = (line: string, input?: string) =>
  runCli(line.split(' '), {
    cwd: folder,
    openModules,
    env: { SERVICE_DATA_DIR: dataDir },
    ...(input === undefined ? {} : { input }),
  });

await hearth('migrate -q');
for (const name of ['alice', 'alina', 'bob']) await hearth(`user add ${name} --password-stdin`, 'correct horse');
await hearth('org add acme --owner alice');
for (const name of ['alice/garden', 'alice/green_1', 'acme/anvil', 'bob/notes']) await hearth(`repo add ${name}`);
mkdirSync(path.join(dataDir, 'backups', '2026-01-01T03-30-00Z'), { recursive: true });

t.test('names are read from the database, at most a hundred, and errors are silent', async (t) => {
  const names = async (kind: string, beginning = '') =>
    (await hearth(`complete-names ${kind} ${beginning}`.trim())).stdout.split('\n').slice(0, -1);
  t.same(await names('user'), ['alice', 'alina', 'bob']);
  t.same(await names('user', 'AL'), ['alice', 'alina']);
  t.same(await names('owner', 'a'), ['acme', 'alice', 'alina']);
  t.same(await names('organisation'), ['acme']);
  t.same(await names('repository', 'alice/g'), ['alice/garden', 'alice/green_1']);
  t.same(await names('repository', 'alice/green_'), ['alice/green_1'], 'what SQL reads otherwise is a character');
  t.same(await names('repository', '%'), []);
  t.same(await names('place', 'ac'), ['acme', 'acme/anvil']);
  t.same(await names('backup'), ['2026-01-01T03-30-00Z']);
  t.same(await names('nonsense'), []);
  t.match(await runCli(['complete-names', 'user'], { cwd: folder, env: { SERVICE_DATA_DIR: '/gone' } }), {
    code: 0,
    stdout: '',
    stderr: '',
  });
});

t.test('the script for bash completes words, options, values and names', async (t) => {
  const script = path.join(folder, 'completion.bash');
  writeFileSync(script, (await hearth('completion bash')).stdout);
  /** The completions at the end of each line. */
  const offers = (...lines: string[]): string[][] => {
    const printCompletions = lines.map((line) => {
      const words = line.split(' ').flatMap((word) => word.split(/(=)/).filter((part) => part !== ''));
      if (/[ =]$/.test(line)) words.push('');
      const quoted = words.map((word) => `'${word}'`).join(' ');
      return `COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _hearth hearth '${words.at(-1)}'; echo "\${COMPREPLY[*]}"`;
    });
    const text = execFileSync(
      'bash',
      ['--norc', '-c', `hearth() { "${program}" "$@"; }; source ${script}\n${printCompletions.join('\n')}`],
      {
        encoding: 'utf8',
        cwd: folder,
        env: { PATH: process.env['PATH'], SERVICE_DATA_DIR: dataDir },
      },
    );
    return text
      .split('\n')
      .slice(0, -1)
      .map((line) => line.split(' '));
  };
  t.strictSame(
    offers(
      'hearth us',
      'hearth user sh',
      'hearth user create --ad',
      'hearth repo list --sort ',
      'hearth completion ',
      'hearth user admin bob ',
      'hearth repo list --visibility=pu',
    ),
    [['user'], ['show'], ['--admin'], ['name', 'size', 'updated'], ['bash', 'zsh', 'fish'], ['on', 'off'], ['public']],
  );
  t.strictSame(
    offers(
      `hearth --data-dir ${dataDir} user show al`,
      'hearth key add --user b',
      'hearth repo show alice/',
      'hearth org member add acme bo',
      'hearth user add al',
    ),
    [['alice', 'alina'], ['bob'], ['alice/garden', 'alice/green_1'], ['bob'], ['']],
    'names come where something is meant that is there',
  );
  const [top] = offers('hearth ') as [string[]];
  t.ok(top.includes('serve') && top.includes('completion'));
  t.notOk(top.includes('complete-names'), 'what only scripts ask is not offered');
  t.same(offers('hearth user list --')[0]?.slice(0, 3), ['--state', '--admin', '--config']);
});

t.test('every command is in every script', async (t) => {
  const { createProgram } = await import('../../src/cli/program.ts');
  const { commandSpecs } = await import('../../src/cli/completion/command-specs.ts');
  const shapes = commandSpecs(await createProgram('1.0.0', { print() {}, async act() {} }));
  t.ok(shapes.length > 100);
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout, code } = await hearth(`completion ${shell}`);
    t.equal(code, 0);
    for (const { path: words, options } of shapes.slice(1)) {
      if (!stdout.includes(`'${words}'`)) t.fail(`${shell}: ${words}`);
      for (const { long } of options)
        if (!stdout.includes(shell === 'fish' ? `-l ${long.slice(2)}` : long)) t.fail(`${shell}: ${words} ${long}`);
    }
  }
  t.match(await hearth('completion tcsh'), { code: 2, stderr: /allowed choices are bash, zsh, fish/i });
});

t.test('the man page and the Markdown reference have every command', async (t) => {
  const { stdout: man } = await hearth('help --man');
  t.match(man, /^\.TH HEARTH 1 "" "Hearth \d+\.\d+\.\d+" "User Commands"\n\.SH NAME\nhearth \\- /);
  const macros = /^\.(TH|SH|SS|TP|B|PP|RS|RE|nf|fi)\b/;
  for (const line of man.split('\n'))
    if (/^[.']/.test(line) && !macros.test(line)) t.fail(`text that roff takes for a request: ${line}`);
  const { stdout: markdown } = await hearth('help --markdown');
  for (const words of ['user add', 'repo mirror sync', 'completion', 'restore']) {
    t.match(man, new RegExp(`^\\.SS hearth ${words}[ |]`, 'm'));
    t.match(markdown, new RegExp(`^### \`hearth ${words}[ |]`, 'm'));
  }
  t.notMatch(man + markdown, 'complete-names');
  t.match(man, '\n.B 78\nserve refuses to start');
  t.match(await hearth('help --man user'), { code: 2 });
});
