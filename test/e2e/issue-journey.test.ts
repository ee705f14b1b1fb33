// An issue from its template to the commit that closes it: over the JSON API, on the command line, and over SSH. The
// same on the pages is in issue-pages.test.ts.
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import { gitClient } from './git-client.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(120_000);

const hearth = await startHearth(t);
const alice = await hearth.addPerson('alice');
const bob = await hearth.addPerson('bob');
const { accounts, repositories, issues } = hearth.modules;
const client = gitClient(hearth.folder);
await accounts.addKey(alice.id, { title: 'test', line: readFileSync(client.publicKeyFile, 'utf8') });
await repositories.create(localAdministrator, { owner: 'alice', name: 'roof', visibility: 'PUBLIC' });
const roof = { owner: 'alice', name: 'roof' };
await issues.addLabel(localAdministrator, { repository: roof }, { name: 'wet', colour: '0000ff' });
await issues.addLabel(localAdministrator, { repository: roof }, { name: 'bug', colour: 'ff0000' });

const work = path.join(hearth.folder, 'work');
mkdirSync(path.join(work, '.hearth/issue'), { recursive: true });
const git = (...args: string[]) => client.expect(work, ...args);
const origin = hearth.url.replace('://', `://alice:${alice.token}@`) + '/git/alice/roof.git';
writeFileSync(
  path.join(work, '.hearth/issue/leak.md'),
  '---\nname: Leak\nabout: Water comes in\nlabels: wet\n---\n\nWhere does it drip?\n',
);
writeFileSync(
  path.join(work, '.hearth/issue/form.yml'),
  'name: Form\ndescription: With fields\nbody:\n  - type: input\n    id: where\n    attributes:\n      label: Where\n    validations:\n      required: true\n',
);
await git('init', '--quiet', '--initial-branch=main');
await git('add', '.');
await git('commit', '--quiet', '--message=Templates');
await git('push', '--quiet', origin, 'main');
const { number: mentioned } = await issues.open(localAdministrator, roof, { title: 'The gutter' });

const program = (file: string, args: string[], input: string): Promise<{ code: number; output: string }> =>
  new Promise((resolve) => {
    const env = { PATH: process.env['PATH'], HOME: hearth.folder, SERVICE_DATA_DIR: path.join(hearth.folder, 'data') };
    const child = execFile(file, args, { env, cwd: hearth.folder }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr }),
    );
    child.stdin!.end(input);
  });
const bin = fileURLToPath(new URL('../../bin/hearth.ts', import.meta.url));
const command = (...words: string[]) =>
  program(process.execPath, ['--disable-warning=ExperimentalWarning', bin, 'issue', ...words, '--as', 'alice'], '');
const ssh = (words: string, input = '') =>
  program(
    'ssh',
    [
      ...['-F', 'none', '-i', path.join(hearth.folder, 'client-key'), '-p', String(hearth.ssh.port)],
      ...['IdentitiesOnly=yes', 'StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR'].flatMap(
        (option) => ['-o', option],
      ),
      `git@${hearth.ssh.host}`,
      `issue ${words}`,
    ],
    input,
  );
async function api(method: string, address: string, body: unknown): Promise<{ status: number; json: unknown }> {
  const response = await fetch(`${hearth.url}/api/v1/repos/alice/roof/issues${address}`, {
    method,
    headers: { Authorization: `Bearer ${alice.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, json: await response.json() };
}

const text = `@bob has seen it, too; see #${mentioned}.`;

/** Each way opens from the template, comments, labels and assigns, and returns the number. */
const ways: Record<string, () => Promise<{ number: number; opened: unknown; answers: unknown[] }>> = {
  async api() {
    const opened = await api('POST', '', { title: 'api: it rains in', template: 'leak.md' });
    const { number } = opened.json as { number: number };
    const answers = [
      await api('POST', `/${number}/comments`, { body: text }),
      await api('POST', `/${number}/labels`, { labels: ['bug'] }),
      await api('PATCH', `/${number}`, { assignees: ['bob'] }),
    ];
    return { number, opened: opened.status, answers: answers.map(({ status }) => status < 300) };
  },
  async 'command line'() {
    const opened = await command('new', 'alice/roof', '--title', 'cli: it rains in', '--template', 'leak.md');
    const number = Number(/#(\d+)/.exec(opened.output)?.[1]);
    const at = ['alice/roof', String(number)];
    const answers = [
      await command('comment', ...at, '--body', text),
      await command('label', ...at, '--add', 'bug'),
      await command('assign', ...at, '--add', 'bob'),
    ];
    return { number, opened: opened.output, answers: answers.map(({ code }) => code === 0) };
  },
  async ssh() {
    const opened = await ssh('new alice/roof --title ssh: it rains in --template leak.md');
    const number = Number(/#(\d+)/.exec(opened.output)?.[1]);
    const answers = [
      await ssh(`comment alice/roof ${number}`, text),
      await ssh(`label alice/roof ${number} --add bug`),
      await ssh(`assign alice/roof ${number} --add bob`),
    ];
    return { number, opened: opened.output, answers: answers.map(({ code }) => code === 0) };
  },
};

for (const [way, walk] of Object.entries(ways)) {
  await t.test(`${way}: opened from a template, discussed, labelled, assigned, closed by a commit`, async (t) => {
    const { number, opened, answers } = await walk();
    t.same(answers, [true, true, true], `opened: ${JSON.stringify(opened)}`);
    const at = { ...roof, number };
    t.match((await issues.listEntries(localAdministrator, at)).entries[0], { body: /Where does it drip\?/ });
    const [described] = await issues.describe([await issues.find(localAdministrator, at)]);
    t.match(described, { state: 'OPEN', labels: [{ name: 'bug' }, { name: 'wet' }], assignees: [bob.id] });
    const inOther = async () =>
      (await issues.listEntries(localAdministrator, { ...roof, number: mentioned })).entries.filter(
        ({ kind }) => kind === 'mentioned',
      ).length;
    t.ok((await inOther()) > 0, 'the reference left an entry');

    await git('commit', '--quiet', '--allow-empty', `--message=Mend the roof\n\nCloses #${number}`);
    await git('push', '--quiet', origin, 'main');
    await waitUntil(async () => (await issues.find(localAdministrator, at)).state === 'CLOSED', 'the commit closes it');
    t.equal((await issues.listEntries(localAdministrator, at)).entries.at(-1)?.kind, 'closed');
  });
}

t.test(
  'a form is answered by id, and what is missing is named; an unknown template has the names of all',
  async (t) => {
    t.match(await api('POST', '', { title: 'x', template: 'form.yml' }), { status: 422 });
    t.match(await api('POST', '', { title: 'x', template: 'form.yml', answers: { where: ['north'] } }), {
      status: 201,
      json: { body: '### Where\n\nnorth' },
    });
    t.match(await command('new', 'alice/roof', '--title', 'y', '--template', 'form.yml', '--answer', 'where=south'), {
      code: 0,
    });
    t.match(await command('new', 'alice/roof', '--title', 'y', '--template', 'no.yml', '--body', ''), {
      code: 2,
      output: /form\.yml, leak\.md/,
    });
    t.match(await ssh('new alice/roof --title z --template no.yml'), { code: 1, output: /form\.yml, leak\.md/ });
  },
);
