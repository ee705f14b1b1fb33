// What commands print, to the letter: `golden/*.txt` are transcripts of command lines on one world with two of
// everything. `$ line` runs into a pipe; `% line` runs three times: with --json, with --plain, and on a terminal.
// Below it stand `| standard output`, `! standard error` and the exit code. GOLDEN=write writes what is printed now:
// read the difference before you commit it, scripts of users depend on it.
//
// time limit: 600 s
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import type { Command } from 'commander';
import { localAdministrator } from '../../src/access/index.ts';
import { createProgram } from '../../src/cli/program.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { sendRequest, startWeb } from '../fixtures/web-fixture.ts';
import type { Web } from '../fixtures/web-fixture.ts';
import { runCli } from './run-cli.ts';

t.setTimeout(600_000);

const writes = process.env['GOLDEN'] === 'write';
const golden = path.join(import.meta.dirname, 'golden');
/** In this order, on one data folder: later ones see what earlier ones have made. */
const transcripts = [
  'people',
  'organisations',
  'repositories',
  'keys',
  'releases',
  'issues',
  'pulls',
  'packages',
  'ci',
  'webhooks',
  'federation',
  'server-away',
];

const folder = temporaryFolder(t);
let web: Web;

t.before(async () => {
  web = await startWeb(t, {
    env: { SERVICE_WEBHOOKS_ALLOWED_HOSTS: 'hooks.example.org', SERVICE_BASE_URL: 'https://git.example.org' },
  });
  for (const name of ['down', 'vault']) mkdirSync(path.join(folder, name));
  const files = { 'notes.md': 'From a file.\n', 'garden.zip': 'zipped', 'b.txt': 'b', password: 'battery staple\n' };
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  for (const nth of [1, 2, 3, 4, 5, 6])
    writeFileSync(path.join(folder, `key-${nth}.pub`), `${publicKey(nth)} key ${nth}\n`);
});

/** A key of OpenSSH whose bytes are all `nth`. */
function publicKey(nth: number): string {
  const field = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes]);
  const blob = Buffer.concat([field(Buffer.from('ssh-ed25519')), field(Buffer.alloc(32, nth))]);
  return `ssh-ed25519 ${blob.toString('base64')}`;
}

const workflow = 'on: {workflow_dispatch: {}}\njobs: {build: {runs-on: linux, steps: [{run: make}]}}\n';

/** Branches `main`, `topic` and `other`, whose ids are the same in every run. */
function writeBranches(bare: string, word: string): void {
  const file = (name: string, text: string) => `M 100644 inline ${name}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
  const commit = (branch: string, from: string, files: string) =>
    `commit refs/heads/${branch}\ncommitter alice <alice@example.org> 1767088800 +0000\ndata 9\nGrow more\n${from}${files}\n`;
  const main = 'from refs/heads/main\n';
  const input = [
    commit('main', '', file('a.txt', `${word}\n`) + file('.github/workflows/ci.yml', workflow)),
    commit('topic', main, file('b.txt', 'oiled\n')),
    commit('other', main, file('c.txt', 'red\n')),
    'done\n',
  ];
  execFileSync('git', ['fast-import', '--quiet', '--done'], { cwd: bare, input: input.join('') });
}

/** What commands cannot make. Transcripts call it by `@ name`. */
const acts: Record<string, () => Promise<void>> = {
  async contents() {
    for (const name of ['alice/garden', 'carol/vault']) writeBranches((await repository(name)).path, name);
  },
  /** Everything that was written is announced. */
  async settled() {
    const unannounced =
      'SELECT (SELECT count(*) FROM issue_entries WHERE announced_at IS NULL) + (SELECT count(*) FROM notification_batches) AS n';
    while (Number(((await web.modules.db.read.query(unannounced)) as { n: number }[])[0]?.n) > 0) {
      await web.modules.issues.finishEntries();
      await web.modules.notifications.tell();
    }
  },
  async packages() {
    for (const [name, path] of [
      ['alice', 'alice/generic/tool/1.0/tool.bin'],
      ['alice', 'alice/generic/tool/2.0/tool.bin'],
      ['alice', 'alice/generic/other/1.0/x'],
      ['carol', 'carol/generic/loot/1.0/loot.bin'],
    ] as const) {
      const { id } = await web.modules.accounts.personByUsername(name);
      const key = { name: path, access: 'admin', repositoryIds: null, expiresAt: null } as const;
      const { secret } = await web.modules.accounts.addToken(id, key);
      await sendRequest(web, `/packages/${path}`, {
        method: 'PUT',
        headers: { Authorization: `Bearer ${secret}`, 'Content-Length': '4' },
        body: 'tool',
      });
      web.clock.advance(60_000);
    }
  },
  async runs() {
    const { ci } = web.modules;
    for (const [name, count] of [
      ['alice/garden', 2],
      ['carol/vault', 1],
    ] as const) {
      const found = await repository(name);
      const scope = { kind: 'repository', id: found.repository.id } as const;
      const { runner, token } = await ci.runners.create(scope, { name: `worker of ${name}`, ephemeral: false });
      const row = () => ci.runners.authenticate({ uuid: runner.uuid, token }, { isActive: false });
      await ci.runners.declare(await row(), { version: 'v1', labels: ['linux'], capabilities: [] });
      for (let nth = 1; nth <= count; nth++) {
        await ci.workflows.dispatch(localAdministrator, found, { path: 'ci.yml', ref: 'main', inputs: new Map() });
        web.clock.advance(60_000);
        if (nth === 2) continue;
        const { signal } = new AbortController();
        const hold = { deadlineMs: 60_000, requestKey: null, origin: null, signal };
        const { taskId } = (await ci.tasks.fetch(await row(), hold))!;
        const rows = ci.logs.newRows();
        rows.add(null, `log of ${name}`);
        await ci.logs.receive(await row(), { taskId, index: 0, rows, noMore: true });
        const now = web.clock.now();
        const report = {
          taskId,
          result: 'failure',
          startedAt: now,
          stoppedAt: now,
          steps: [],
          outputs: new Map(),
        } as const;
        await ci.tasks.report(await row(), report);
      }
    }
  },
};
const repository = (name: string) =>
  web.modules.repositories.find(localAdministrator, ...(name.split('/') as [string, string]));

/** Names for what differs between runs, numbered by first appearance: `<id-1>`, `<token-2>`. */
function createNames() {
  const names = new Map<string, string>();
  const counts = new Map<string, number>();
  const patterns: readonly (readonly [kind: string, pattern: RegExp])[] = [
    ['id', /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g],
    ['token', /\bht[hs]_[\w-]+/g],
    ['hex', /\b[0-9a-f]{40}\b/g],
    ['fp', /SHA256:[\w+/]{43}/g],
    ['password', /\b\w{5}(-\w{5}){3}\b/g],
    ['link', /(?<=[?&](?:token|invite)=|\/(?:invite|reset|sign-in\/link)\/)[\w-]{16,}/g],
    ['merge', /(?<= as )[0-9a-f]{10}\b/g],
  ];
  const nameOf = (kind: string, text: string): string => {
    if (!names.has(text)) {
      const nth = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, nth);
      names.set(text, `<${kind}-${nth}>`);
      if (kind === 'token') names.set(text.slice(-4), `<end-${nth}>`);
    }
    return names.get(text)!;
  };
  return {
    hide(text: string): string {
      let hidden = text.replaceAll(folder, '<folder>').replaceAll(web.modules.config.dataDir, '<data>');
      for (const [kind, pattern] of patterns) hidden = hidden.replace(pattern, (found) => nameOf(kind, found));
      // Tables show the beginning of an id, and the end of a token.
      for (const [value, name] of names) {
        if (name.startsWith('<id')) hidden = hidden.replaceAll(value.slice(0, 8), name.replace('>', '…>'));
        if (name.startsWith('<end')) hidden = hidden.replaceAll(value, name);
      }
      return hidden;
    },
    fill: (line: string): string =>
      line
        .replace(/<\w+-\d+>/g, (name) => [...names].find(([, each]) => each === name)?.[0] ?? name)
        .replace('<folder>', folder),
  };
}

/** `release edit a/b v1 --title "The first one"` as words. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word!);

async function outputOf(words: readonly string[], terminal: boolean, hide: (text: string) => string): Promise<string> {
  web.clock.advance(60_000);
  const { code, stdout, stderr } = await runCli(words, {
    cwd: folder,
    clock: web.clock,
    terminal,
    columns: 160,
    openModules: async () => ({ ...web.modules, close: async () => {} }),
    env: { SERVICE_DATA_DIR: web.modules.config.dataDir, EDITOR: 'false' },
  });
  const shown = words[0] === 'inbox' ? hideTelling(stdout) : stdout;
  return `${asLines('|', hide(shown))}${asLines('!', hide(stderr))}  [${code}]\n`;
}

/** The numbers and times of notifications depend on how many were told at once. */
const hideTelling = (text: string): string =>
  text
    .replace(/(?<="id":)\d+|^ *\d+(?=\t| {2})/gm, '<number>')
    .replace(/(?<="updatedAt":")[^"]+|(?<=\t)\d{4}-\d\d-\d\dT\S+$|\d+ minutes? ago$/gm, '<time>');

const asLines = (sign: string, text: string): string =>
  text
    .split('\n')
    .slice(0, text.endsWith('\n') || text === '' ? -1 : undefined)
    .map((line) => `${`  ${sign} ${line}`.trimEnd()}\n`)
    .join('');

function compare(
  t: { equal(found: string, wanted: string, message: string): boolean },
  name: string,
  actual: string,
): void {
  const file = path.join(golden, `${name}.txt`);
  if (writes) writeFileSync(file, actual);
  t.equal(actual, readFileSync(file, 'utf8'), name);
}

for (const name of transcripts)
  t.test(`golden/${name}.txt`, async (t) => {
    const { hide, fill } = createNames();
    let actual = '';
    for (const line of readFileSync(path.join(golden, `${name}.txt`), 'utf8').split('\n')) {
      if (/^ /.test(line) || line === '') continue;
      const text = line.slice(2);
      actual += `${/^#/.test(line) && actual !== '' ? '\n' : ''}${line}\n`;
      if (line.startsWith('@ ')) await acts[text]!();
      const words = wordsOf(fill(text));
      if (line.startsWith('$ ')) actual += await outputOf(words, false, hide);
      if (line.startsWith('% ')) {
        actual += `  --json\n${await outputOf([...words, '--json'], false, hide)}`;
        actual += `  --plain\n${await outputOf([...words, '--plain'], true, hide)}`;
        actual += `  on a terminal\n${await outputOf(words, true, hide)}`;
      }
    }
    compare(t, name, actual);
  });

/** All commands, also hidden ones, with their words. */
function allCommands(
  command: Command,
  words: readonly string[] = [],
): { command: Command; words: readonly string[] }[] {
  const below = command.commands.flatMap((child) => allCommands(child, [...words, child.name()]));
  return [{ command, words }, ...below];
}
const program = await createProgram('0.0.0', { print() {}, async act() {} });

t.test('golden/help.txt', async (t) => {
  const texts = allCommands(program).map(
    ({ command, words }) => `$ ${[...words, '--help'].join(' ')}\n${asLines('|', command.helpInformation())}\n`,
  );
  compare(t, 'help', texts.join(''));
});

t.test('golden/wrong-calls.txt', async (t) => {
  let actual = '';
  for (const { command, words } of allCommands(program).filter(({ command }) => command.commands.length === 0)) {
    const needs = command.registeredArguments.some(({ required }) => required);
    for (const more of [['--no-such-option'], ...(needs ? [[]] : [])]) {
      const line = [...words, ...more];
      actual += `$ ${line.join(' ')}\n${await outputOf(line, false, (text) => text)}`;
    }
  }
  compare(t, 'wrong-calls', actual);
});
