import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { readGivenFile } from '../../src/cli/terminal/read-given-file.ts';
import type { Cli } from '../../src/cli/cli.ts';
import { invalid } from '../../src/kernel/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { runCli } from './run-cli.ts';

const folder = temporaryFolder(t);
mkdirSync(path.join(folder, 'a-folder'));
const env = { SERVICE_DATA_DIR: path.join(folder, 'data') };
const hearth = (words: readonly string[], input?: string) =>
  runCli(words, { cwd: folder, env, ...(input === undefined ? {} : { input }) });

t.before(async () => {
  await hearth(['init', '--data-dir', env.SERVICE_DATA_DIR, '--config', path.join(folder, 'hearth.toml')]);
  await hearth(['user', 'add', 'alice', '--admin', '--password-stdin'], 'correct horse battery');
  await hearth(['repo', 'create', 'alice/garden']);
});

/** Every command that reads a file, with `FILE` in the place of its name. */
const commands: readonly string[] = [
  'user add bob --password-file FILE',
  'key add --user alice FILE',
  'repo deploy-key add alice/garden FILE --title ci',
  'repo import https://example.org/a.git alice/tool --username alice --secret-file FILE',
  'runner register --name one --secret-file FILE',
  'webhook add alice/garden https://example.org/hook --secret-file FILE',
  'issue create alice/garden --title Beds --file FILE',
  'pull new alice/garden --patch FILE',
  'workflow check FILE',
  'import claim FILE',
];

t.test('a file that cannot be read is named with the reason, and nothing is changed', async (t) => {
  for (const command of commands) {
    for (const [file, reason] of [
      ['absent', /absent cannot be read: no such file$/m],
      ['a-folder', /a-folder cannot be read: it is a folder$/m],
      ['/dev/zero', /too long|longer than|at most/],
    ] as const) {
      const { code, stderr } = await hearth(command.split(' ').map((word) => (word === 'FILE' ? file : word)));
      t.equal(code, 2, `${command}: ${file}`);
      t.match(stderr, reason, `${command}: ${file}`);
    }
  }
});

t.test('the limit of a file is exact, and its path is relative to the current folder', (t) => {
  const cli = { process: { cwd: () => folder } } as Cli;
  const reading = { what: 'The file', reason: 'unreadable_file', maxBytes: 100_000 };
  for (const [bytes, isRead] of [
    [0, true],
    [99_999, true],
    [100_000, true],
    [100_001, false],
  ] as const) {
    writeFileSync(path.join(folder, 'sized'), 'x'.repeat(bytes));
    if (isRead) t.equal(readGivenFile(cli, 'sized', reading).length, bytes);
    else t.throws(() => readGivenFile(cli, 'sized', reading), { reason: 'unreadable_file', message: /longer than/ });
  }
  const tooLong = () => invalid('too_long', 'Too long.');
  t.throws(() => readGivenFile(cli, 'sized', { ...reading, tooLong }), { message: 'Too long.' });
  t.end();
});
