// `hearth demo`: a server with something of everything, which reads no settings and leaves nothing.
// time limit: 120 s
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const program = fileURLToPath(new URL('../../bin/hearth', import.meta.url));

t.test('has sample content, and is gone at its end', async (t) => {
  const folder = temporaryFolder(t);
  const data = path.join(folder, 'data');
  const child = spawn(program, ['demo', '--json'], {
    cwd: folder,
    env: { ...process.env, TMPDIR: folder, SERVICE_DATA_DIR: data, SERVICE_BASE_URL: 'https://git.example.org' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  let output = '';
  for await (const text of child.stdout.setEncoding('utf8')) {
    output += text as string;
    if (output.trimEnd().endsWith('}')) break;
  }
  const demo = JSON.parse(output) as { url: string; people: string[]; password: string; folder: string };
  t.notOk(existsSync(data), 'the data folder of the settings is left alone');
  t.ok(existsSync(demo.folder));
  const signIn = `Basic ${Buffer.from(`alice:${demo.password}`).toString('base64')}`;
  const created = await fetch(`${demo.url}/api/v1/users/alice/tokens`, {
    method: 'POST',
    headers: { authorization: signIn, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'test', scopes: ['all'] }),
  });
  t.equal(created.status, 201, 'people sign in with the password');
  const { sha1: token } = (await created.json()) as { sha1: string };
  const get = async (url: string) => {
    const response = await fetch(`${demo.url}/api/v1${url}`, { headers: { authorization: `token ${token}` } });
    t.equal(response.status, 200, url);
    return (await response.json()) as ReturnType<typeof JSON.parse>;
  };
  const garden = '/repos/alice/garden';
  const commits = (await get(`${garden}/commits?limit=50`)) as { commit: { author: { name: string; date: string } } }[];
  t.ok(commits.length >= 9, `${commits.length} commits`);
  t.strictSame([...new Set(commits.map(({ commit }) => commit.author.name.toLowerCase()))].sort(), demo.people);
  const days = new Set(commits.map(({ commit }) => commit.author.date.slice(0, 10)));
  t.ok(days.size >= 7, 'over more than a week');
  t.ok(
    commits.every(({ commit }) => Date.parse(commit.author.date) <= Date.now()),
    'none in the future',
  );
  const states = async (kind: string) =>
    ((await get(`${garden}/issues?state=all&type=${kind}&limit=50`)) as { state: string }[]).map(({ state }) => state);
  t.strictSame((await states('issues')).sort(), ['closed', 'open', 'open', 'open']);
  t.strictSame((await states('pulls')).sort(), ['closed', 'open']);
  t.equal(((await get(`${garden}/releases`)) as unknown[]).length, 2);
  t.equal(((await get(`${garden}/wiki/pages`)) as unknown[]).length, 2);
  const { workflow_runs: runs } = (await get(`${garden}/actions/runs?limit=50`)) as {
    workflow_runs: { status: string; conclusion: string; event: string }[];
  };
  t.ok(runs.length >= 3, `${runs.length} runs`);
  t.ok(runs.every(({ status }) => status === 'completed'));
  const conclusions = (wanted: string) => [
    ...new Set(runs.filter(({ event }) => event === wanted).map(({ conclusion }) => conclusion)),
  ];
  t.strictSame(conclusions('push'), ['success'], 'none waited too long for the runner');
  t.strictSame(conclusions('pull_request'), ['failure']);
  const packaged = await fetch(`${demo.url}/packages/alice/generic/garden/1.1.0/garden-1.1.0.txt`);
  t.equal(await packaged.text(), 'garden 1.1.0\n');
  const hidden = await fetch(`${demo.url}/api/v1/repos/carol/notes`);
  t.equal(hidden.status, 404, 'a private repository');

  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number | null];
  t.equal(code, 0);
  t.strictSame(
    readdirSync(folder).filter((name) => name.startsWith('hearth-demo')),
    [],
  );
});

t.test('is gone when it ends before it is filled', async (t) => {
  const folder = temporaryFolder(t);
  const child = spawn(program, ['demo'], {
    cwd: folder,
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text));
  const hasRepository = () => readdirSync(folder, { recursive: true }).some((name) => String(name).endsWith('HEAD'));
  await waitUntil(hasRepository);
  child.kill('SIGINT');
  const [code] = (await once(child, 'close')) as [number | null];
  t.equal(code, 0);
  t.equal(said, '', 'it did not wait for the rest');
  t.strictSame(
    readdirSync(folder).filter((name) => name.startsWith('hearth-demo')),
    [],
  );
});

t.test('says which address is taken, and leaves nothing', async (t) => {
  const folder = temporaryFolder(t);
  const taken = createServer().listen(0, '127.0.0.1');
  t.teardown(() => taken.close());
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const child = spawn(program, ['demo', '--listen', `127.0.0.1:${port}`], {
    cwd: folder,
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [code] = (await once(child, 'close')) as [number | null];
  t.match(said, `another program is already listening on 127.0.0.1:${port}`);
  t.equal(code, 1);
  t.strictSame(readdirSync(folder), []);
});
