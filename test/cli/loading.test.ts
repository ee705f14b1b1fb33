import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { Command } from 'commander';
import { commandParts, partsFor } from '../../src/cli/command-parts.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const folder = temporaryFolder(t);
const program = new URL('../../bin/hearth.ts', import.meta.url).pathname;

/** Prints the address of every module that is loaded, to file descriptor 3. */
const spy = path.join(folder, 'spy.mjs');
writeFileSync(spy, `
  import { registerHooks } from 'node:module';
  import { writeSync } from 'node:fs';
  registerHooks({ load(url, context, next) { writeSync(3, url + '\\n'); return next(url, context); } });
`);

/** Runs a command line and answers which packages and rooms it loaded. */
function loadedBy(...words: string[]): { packages: Set<string>; rooms: Set<string>; commands: Set<string>; status: number | null; stdout: string } {
  const { output, status, stdout } = spawnSync(process.execPath, ['--import', spy, program, ...words], {
    cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const urls = output[3]!.split('\n');
  const named = (pattern: RegExp): Set<string> => new Set(urls.flatMap((url) => pattern.exec(url)?.[1] ?? []));
  return { packages: named(/\/node_modules\/((?:@[^/]+\/)?[^/]+)\//), rooms: named(/\/src\/([a-z]+)/), commands: named(/\/src\/cli\/commands\/([\w-]+)\.ts/), status, stdout };
}

t.test('command-line.md 1: --version loads no package at all', async (t) => {
  const { packages, rooms, status, stdout } = loadedBy('--version');
  t.equal(status, 0);
  t.match(stdout, /^\d+\.\d+\.\d+\n$/);
  t.same([...packages], []);
  t.same([...rooms].sort(), ['cli', 'embedded']);
});

t.test('command-line.md 1: help loads commander and nothing else', async (t) => {
  for (const words of [['--help'], ['help', 'user', 'add'], ['repo', 'list', '--help'], ['help', 'exit-codes'], ['user', 'lst']]) {
    const { packages, rooms } = loadedBy(...words);
    t.same([...packages], ['commander'], words.join(' '));
    t.same([...rooms].filter((room) => !['cli', 'embedded', 'kernel', 'access'].includes(room)), [], words.join(' '));
  }
});

t.test('a command line loads the definitions of the command that it names, and of no other', async (t) => {
  t.same([...loadedBy('serve', '--help').commands].filter((file) => !['serve', 'setup-url'].includes(file)), []);
  t.same([...loadedBy('--data-dir', 'user', 'cron', '--help').commands], ['cron']);
  const named = (line: string): string[] => partsFor(line.split(' '), ['--config']).map(({ names }) => names[0]!);
  for (const line of ['repo list', '--json repo', '--config serve repo', '--config=serve repo x']) t.same(named(line), ['repo'], line);
  for (const line of ['', '--help', 'help repo', 'completion bash', 'rpo list', '--config repo']) t.equal(named(line).length, commandParts.length, line);
});

t.test('every command is where the table of parts says', async (t) => {
  for (const { names, load } of commandParts) {
    const program = new Command();
    (await load())(program, () => async () => {});
    t.same(program.commands.flatMap((command) => [command.name(), ...command.aliases()]), names);
  }
});

t.test('settings are read without the rooms, lists without the edges', async (t) => {
  const config = loadedBy('config', 'check');
  t.equal(config.status, 0);
  for (const name of ['typeorm', 'koa', 'ssh2', 'pino']) t.notOk(config.packages.has(name), name);
  loadedBy('migrate');
  const list = loadedBy('user', 'list');
  t.equal(list.status, 0);
  t.ok(list.packages.has('typeorm'));
  for (const name of ['koa', 'ssh2', 'pug', 'pino', 'node-cron']) t.notOk(list.packages.has(name), name);
});
