import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { Command } from 'commander';
import { commandGroups, groupsFor } from '../../src/cli/command-groups.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const folder = temporaryFolder(t);
const program = new URL('../../bin/hearth.ts', import.meta.url).pathname;

/** Prints the URL of every loaded module to file descriptor 3. */
const spy = path.join(folder, 'spy.mjs');
writeFileSync(
  spy,
  `
  import { registerHooks } from 'node:module';
  import { writeSync } from 'node:fs';
  registerHooks({ load(url, context, next) { writeSync(3, url + '\\n'); return next(url, context); } });
`,
);

function packagesOf(urls: readonly string[]): Set<string> {
  return new Set(urls.flatMap((url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? []));
}

/** Runs a command line and returns the packages and modules that it loaded. */
function loadedBy(...words: string[]): {
  packages: Set<string>;
  modules: Set<string>;
  commands: Set<string>;
  status: number | null;
  stdout: string;
} {
  const { output, status, stdout } = spawnSync(process.execPath, ['--import', spy, program, ...words], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const urls = output[3]!.split('\n');
  const named = (pattern: RegExp): Set<string> => new Set(urls.flatMap((url) => pattern.exec(url)?.[1] ?? []));
  return {
    packages: packagesOf(urls),
    modules: named(/\/src\/([a-z]+)/),
    commands: named(/\/src\/cli\/commands\/([\w-]+)\.ts/),
    status,
    stdout,
  };
}

t.test('--version loads no package at all', async (t) => {
  const { packages, modules, status, stdout } = loadedBy('--version');
  t.equal(status, 0);
  t.match(stdout, /^\d+\.\d+\.\d+\n$/);
  t.same([...packages], []);
  t.same([...modules].sort(), ['cli', 'embedded']);
});

t.test('help loads commander and nothing else', async (t) => {
  for (const words of [
    ['--help'],
    ['help', 'user', 'add'],
    ['repo', 'list', '--help'],
    ['help', 'exit-codes'],
    ['user', 'lst'],
  ]) {
    const { packages, modules } = loadedBy(...words);
    t.same([...packages], ['commander'], words.join(' '));
    t.same(
      [...modules].filter((deps) => !['cli', 'embedded', 'kernel', 'access'].includes(deps)),
      [],
      words.join(' '),
    );
  }
});

t.test('a command line loads the definitions of its own command, and of no other', async (t) => {
  t.same(
    [...loadedBy('serve', '--help').commands].filter((file) => !['serve', 'setup-url'].includes(file)),
    [],
  );
  t.same([...loadedBy('--data-dir', 'user', 'cron', '--help').commands], ['cron']);
  const named = (line: string): string[] => groupsFor(line.split(' '), ['--config']).map(({ names }) => names[0]!);
  for (const line of ['repo list', '--json repo', '--config serve repo', '--config=serve repo x'])
    t.same(named(line), ['repo'], line);
  for (const line of ['', '--help', 'help repo', 'completion bash', 'rpo list', '--config repo'])
    t.equal(named(line).length, commandGroups.length, line);
});

t.test('every command is in the part that the table names', async (t) => {
  for (const { names, load } of commandGroups) {
    const program = new Command();
    (await load())(program, () => async () => {});
    t.same(
      program.commands.flatMap((command) => [command.name(), ...command.aliases()]),
      names,
    );
  }
});

t.test('a start loads what the first response needs; other libraries are loaded on first use', async (t) => {
  const server = spawn(process.execPath, ['--import', spy, program, 'serve'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      ...Object.fromEntries(['HTTP', 'SSH', 'GRPC'].map((transport) => [`SERVICE_${transport}_LISTEN`, '127.0.0.1:0'])),
    },
  });
  t.teardown(() => server.kill('SIGKILL'));
  const loaded = text(server.stdio[3] as Readable);
  for await (const line of createInterface({ input: server.stdout! })) {
    const [address] = /http:\/\/127[^/\s]+/.exec(line) ?? [];
    if (address === undefined) continue;
    t.equal((await fetch(`${address}/healthz`)).status, 200);
    break;
  }
  server.kill('SIGTERM');
  const packages = packagesOf((await loaded).split('\n'));
  const { dependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    dependencies: object;
  };
  t.same(
    Object.keys(dependencies)
      .filter((name) => packages.has(name))
      .sort(),
    [
      '@actions/expressions',
      '@koa/router',
      'commander',
      'koa',
      'mime-types',
      'node-cron',
      'pino',
      'rate-limiter-flexible',
      'smol-toml',
      'typeorm',
    ],
    'ssh2, grpc-js, zod, pug and all others are loaded by who first needs them',
  );
});

t.test('settings are read without the modules, lists without the transports', async (t) => {
  const config = loadedBy('config', 'check');
  t.equal(config.status, 0);
  for (const name of ['typeorm', 'koa', 'ssh2', 'pino']) t.notOk(config.packages.has(name), name);
  loadedBy('migrate');
  const list = loadedBy('user', 'list');
  t.equal(list.status, 0);
  t.ok(list.packages.has('typeorm'));
  for (const name of ['koa', 'ssh2', 'pug', 'pino', 'node-cron']) t.notOk(list.packages.has(name), name);
});
