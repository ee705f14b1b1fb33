// The recipe for runners in README.md and docs/ci.md, executed literally with the runner simulated by an independent
// client: every `hearth` command of it works, and the resulting runner gets a job.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { parse } from 'yaml';
import { openModules as realOpenModules } from '../../src/app/index.ts';
import { runCli } from '../cli/run-cli.ts';
import { startForge } from '../http-runner/rpc-fixture.ts';
import { connectClient } from '../http-runner/runner-client.ts';

t.setTimeout(120_000);

const read = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

/** The text from a heading to the next one of its level. */
function sectionOf(file: string, heading: string): string {
  const [, section] = new RegExp(`^## ${heading}\n([^]*?)(?=^## |$(?![^]))`, 'm').exec(read(file)) ?? [];
  if (section === undefined) throw new Error(`${file} has no section ${heading}`);
  return section;
}

/** Code blocks with their language. */
const blocksOf = (section: string): { language: string; text: string }[] =>
  [...section.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].map(([, language = '', text = '']) => ({ language, text }));

const readme = sectionOf('README.md', 'Runner');
const operations = sectionOf('docs/ci.md', 'Runners');

/** Commands of one program in all blocks, without comments. */
const commandsOf = (section: string, program: string): string[] =>
  blocksOf(section)
    .filter(({ language }) => language === '')
    .flatMap(({ text }) => text.split('\n'))
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => line.startsWith(`${program} `));

const yaml = blocksOf(readme).find(({ language }) => language === 'yaml');
const config = parse(yaml?.text ?? '') as {
  runner: { labels: string[]; fetch_timeout: string; fetch_interval: string };
};

/** The label that a runner declares: the part before its kind. */
const names = (labels: readonly string[]): string[] => labels.map((label) => label.split(':')[0]!);

t.test(
  'the config file has labels for the machine and for a container, and waits at the server for a job',
  async (t) => {
    t.strictSame(config.runner.labels, ['linux:host', 'ubuntu-latest:docker://node:22-bookworm']);
    t.match(config.runner, { fetch_timeout: '30s', fetch_interval: '1s' });
    for (const name of names(config.runner.labels))
      t.match(readme, new RegExp(`runs-on: ${name}\``), `and says what ${name} is for`);
  },
);

t.test('every command of a runner reads that file, and each way to register ends with its daemon', async (t) => {
  const runners = ['act_runner', 'forgejo-runner'].flatMap((program) => commandsOf(readme, program));
  t.strictSame(
    runners.map((command) => command.split(' ').slice(0, 4).join(' ')),
    [
      'act_runner -c config.yml register',
      'act_runner -c config.yml daemon',
      'forgejo-runner -c config.yml register',
      'forgejo-runner -c config.yml daemon',
      'forgejo-runner -c config.yml create-runner-file',
      'forgejo-runner -c config.yml daemon',
    ],
  );
  for (const command of runners.filter((one) => !one.endsWith(' daemon')))
    t.match(command, / --instance http:\/\/localhost:3000 .*--name builder/);
});

t.test('the unit keeps the daemon running, and systemd accepts it', async (t) => {
  const unit = blocksOf(operations).find(({ language }) => language === 'ini')?.text ?? '';
  t.match(unit, /^ExecStart=\/usr\/local\/bin\/forgejo-runner -c config\.yml daemon$/m);
  t.match(unit, /^Restart=always$/m);
  t.match(unit, /^WorkingDirectory=\/var\/lib\/runner$/m);
  t.match(unit, /^WantedBy=multi-user\.target$/m);
  t.match(readme, /\(docs\/ci\.md\)/);
  const file = path.join(t.testdir(), 'forgejo-runner.service');
  writeFileSync(file, unit.replace(/^(ExecStart=)\S+.*$/m, '$1/bin/true'));
  const checked = await promisify(execFile)('systemd-analyze', ['verify', file]).then(
    ({ stderr }) => stderr,
    (error: NodeJS.ErrnoException & { stderr?: string }) =>
      error.code === 'ENOENT' ? null : (error.stderr ?? String(error)),
  );
  if (checked === null) t.comment('without systemd its own check is left out');
  else t.notMatch(checked, /forgejo-runner\.service:\d+/, 'no line that it does not know');
});

t.test('the commands of hearth, in order, give a runner that registers with labels and gets a job', async (t) => {
  const forge = await startForge(t);
  let opened: ReturnType<typeof realOpenModules> | undefined;
  t.teardown(async () => (await opened)?.close());
  const hearth = (words: string[]) =>
    runCli(words, {
      cwd: forge.folder,
      env: { SERVICE_DATA_DIR: path.join(forge.folder, 'data') },
      async openModules(config, options) {
        opened ??= realOpenModules(config, options);
        return { ...(await opened), close: async () => {} };
      },
    });
  const commands = [...commandsOf(readme, 'hearth'), ...commandsOf(operations, 'hearth')];
  t.match(commands.join('\n'), /^hearth runner token$[^]*^hearth runner register --name builder .*$/m);
  const secret = 'ba60ec1db7261363396a5c1dec05201e39304cd8';
  const file = path.join(forge.folder, 'secret');
  writeFileSync(file, `${secret}\n`);
  for (const command of commands) {
    const { code, stderr } = await hearth(
      command
        .split(' ')
        .slice(1)
        .map((word) => (word === 'secret' ? file : word)),
    );
    t.equal(code, 0, `${command}: ${stderr}`);
  }
  const listed = async (): Promise<{ labels: string[] }[]> =>
    JSON.parse((await hearth(['runner', 'list', '--json'])).stdout);
  t.strictSame(
    (await listed()).map(({ labels }) => labels),
    [names(config.runner.labels)],
    '--labels says the same as the config file',
  );

  // As in `create-runner-file`: the UUID is the text of the first 16 digits, the token is all of them.
  const uuid = Buffer.from(secret.slice(0, 16), 'ascii')
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  const runner = connectClient(forge.url, { headers: { 'x-runner-uuid': uuid, 'x-runner-token': secret } });
  const workflow = (label: string) => `on: push\njobs: {a: {runs-on: ${label}, steps: [{run: "true"}]}}\n`;
  for (const [number, labels] of [names(config.runner.labels), []].entries()) {
    t.match(await runner.declare({ version: 'v12', labels }), { runner: { labels: names(config.runner.labels) } });
    await forge.push({ '.hearth/workflows/ci.yml': workflow('linux') }, `Push ${number}`);
    const { task } = await runner.fetchTask({}, { timeoutMs: 10_000 });
    t.equal(task?.context.job, 'a', labels.length === 0 ? 'also when it declares none' : 'with what it declares');
    await runner.updateTask({ state: { id: task.id, result: 1 } });
  }
  t.strictSame(
    (await listed()).map(({ labels }) => labels),
    [names(config.runner.labels)],
  );
});
