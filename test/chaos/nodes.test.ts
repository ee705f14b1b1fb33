// time limit: 3600 s
// Three servers with one PostgreSQL, its synchronous standby and one store, under a load of pushes, comments, pages and
// clones. Each round hurts one of them, or what all of them need; then everything acknowledged is there, once, and a
// clone made of the store alone is sound. HEARTH_CHAOS says how many rounds each fault has (default 1), and
// HEARTH_PAUSE_MS how long a server sleeps.
import { copyFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { setInterval, setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { Test } from 'tap';
import { gitClient } from '../e2e/git-client.ts';
import { startServerProcess } from '../e2e/server-process.ts';
import type { ServerProcess } from '../e2e/server-process.ts';
import { startFakeS3 } from '../fixtures/fake-s3-server.ts';
import { freePort } from '../fixtures/free-port.ts';
import { startPostgres } from '../fixtures/postgres.ts';
import { startRelay } from '../fixtures/relay.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { waitUntil } from '../fixtures/wait-until.ts';
import { removeCaches } from '../repository-store/store-server.ts';

t.setTimeout(3_500_000);

const rounds = Number(process.env['HEARTH_CHAOS'] ?? 1);
const pauseMs = Number(process.env['HEARTH_PAUSE_MS'] ?? 4_000);
const random = seededRandom(Number(process.env['HEARTH_SEED'] ?? 1));
const faults = ['killed', 'paused', 'without the database', 'without the store', 'emptied', 'failed over'] as const;
const names = ['roof', 'shed'] as const;
const pushers = 3;
/** For answers of servers that nothing has happened to; busy machines need longer than a person would wait. */
const answerMs = 15_000;

const hostRules = ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'];
const synchronous = ['synchronous_standby_names=standby', 'synchronous_commit=on'];
const folder = temporaryFolder(t);
const s3 = await startFakeS3(t);
const primaryPort = await freePort();
let primary = await startPostgres(t, { port: primaryPort, hostRules });
primary.run('CREATE EXTENSION IF NOT EXISTS pg_trgm');
/** Where the relays lead; a fail-over changes it. */
const databaseAt = { host: '127.0.0.1', port: primaryPort };
const storePort = Number(new URL(s3.endpoint).port);
let standby = await follow();

/** A standby of the present primary, without which the primary acknowledges nothing from now on. */
async function follow(): Promise<{ server: typeof primary; port: number }> {
  const port = await freePort();
  const server = await startPostgres(t, { port, hostRules, standbyOf: databaseAt.port });
  for (const setting of synchronous) primary.run(`ALTER SYSTEM SET ${setting.replace('=', " = '")}'`);
  primary.run('SELECT pg_reload_conf()');
  await waitUntil(() =>
    primary
      .query<{ state: string }>('SELECT sync_state AS state FROM pg_stat_replication')
      .some(({ state }) => state === 'sync'),
  );
  return { server, port };
}

/** A server with its own ways to the database and to the store. */
interface Node {
  name: string;
  server: ServerProcess;
  database: Awaited<ReturnType<typeof startRelay>>;
  store: Awaited<ReturnType<typeof startRelay>>;
  env: Record<string, string>;
  start(): Promise<ServerProcess>;
}

const keyFile = path.join(folder, 'instance.key');

async function openNode(name: string, own: Record<string, string>): Promise<Node> {
  const database = await startRelay(t, databaseAt);
  const store = await startRelay(t, { host: '127.0.0.1', port: storePort });
  const place = path.join(folder, name);
  mkdirSync(place);
  const env = {
    SERVICE_GIT_STORAGE: 'store',
    ...s3.env,
    SERVICE_OBJECTS_ENDPOINT: `http://127.0.0.1:${store.port}`,
    SERVICE_DATABASE_URL: `postgres://hearth@127.0.0.1:${database.port}/postgres`,
    ...own,
  };
  const start = (): Promise<ServerProcess> => startServerProcess(t, 'either', { folder: place, env });
  return { name, server: await start(), database, store, env, start };
}

const nodes = [await openNode('a', {})];
copyFileSync(path.join(nodes[0]!.server.dataDir, 'ci', 'secret.key'), keyFile);
for (const name of ['b', 'c']) nodes.push(await openNode(name, { SERVICE_INSTANCE_KEY_FILE: keyFile }));
const first = nodes[0]!.server;
await first.command('user', 'add', 'alice', '--random-password', '--admin');
const token = await first.command('token', 'add', '--user', 'alice', '--name', 'laptop', '--access', 'write');
for (const name of names) await first.command('repo', 'create', `alice/${name}`, '--public');

const client = gitClient(folder);
const remote = ({ server }: Node, name: string): string =>
  `http://${token}@${new URL(server.url).host}/git/alice/${name}.git`;
const headers = { Authorization: `token ${token}`, 'Content-Type': 'application/json' };

async function ask({ server }: Node, at: string, sent?: object, ms = answerMs): Promise<Response> {
  return fetch(`${server.url}${at}`, {
    headers,
    signal: AbortSignal.timeout(ms),
    ...(sent === undefined ? {} : { method: 'POST', body: JSON.stringify(sent) }),
  });
}

const issues = '/api/v1/repos/alice/roof/issues';
t.equal((await ask(nodes[0]!, issues, { title: 'Talk' })).status, 201);

/** What clients were told to be done: commits by branch, and the texts of comments. */
const acknowledged = { heads: new Map<string, string>(), commits: 0, comments: [] as string[] };
let isOver = false;
/** Nodes that must answer, as nothing happens to them or to what they need. */
let sound: readonly Node[] = nodes;
const unsound: string[] = [];
let slowest = 0;

async function push(at: number): Promise<void> {
  const work = path.join(folder, `work-${at}`);
  mkdirSync(work);
  await client.expect(work, 'init', '-q', '-b', 'main');
  const name = names[at % names.length]!;
  for (let count = 0; !isOver; count += 1) {
    await client.expect(work, 'commit', '-q', '--allow-empty', '-m', `${at} ${count}`);
    const oid = await client.expect(work, 'rev-parse', 'HEAD');
    const limits = ['-c', 'http.lowSpeedLimit=1', '-c', `http.lowSpeedTime=${Math.ceil(pauseMs / 1000) + 20}`];
    const target = remote(nodes[(at + count) % nodes.length]!, name);
    const { code } = await client.run(work, ...limits, 'push', '-q', target, `HEAD:refs/heads/b${at}`);
    if (code === 0) {
      acknowledged.heads.set(`${name} refs/heads/b${at}`, oid);
      acknowledged.commits += 1;
    }
  }
}

async function comment(): Promise<void> {
  let count = 0;
  for await (const _ of setInterval(100)) {
    if (isOver) return;
    count += 1;
    const body = `comment ${count}.`;
    const answer = await ask(nodes[count % nodes.length]!, `${issues}/1/comments`, { body }, 60_000).catch(() => null);
    if (answer?.status === 201) acknowledged.comments.push(body);
    await answer?.body?.cancel().catch(() => {});
  }
}

/** Pages and clones of the nodes that nothing happens to. */
async function read(): Promise<void> {
  let count = 0;
  for await (const _ of setInterval(50)) {
    if (isOver) return;
    count += 1;
    const node = nodes[count % nodes.length]!;
    const wasSound = sound.includes(node);
    const startedAt = performance.now();
    const page = [
      '/repos/alice/roof',
      '/repos/alice/roof/issues/1',
      '/git/alice/shed.git/info/refs?service=git-upload-pack',
    ];
    const answer = await ask(node, page[count % page.length]!).catch((error: unknown) => error);
    const took = performance.now() - startedAt;
    const status = answer instanceof Response ? answer.status : String(answer);
    if (answer instanceof Response) await answer.arrayBuffer().catch(() => null);
    if (wasSound && sound.includes(node)) {
      if (status !== 200) unsound.push(`${node.name}: ${page[count % page.length]} ${status}`);
      slowest = Math.max(slowest, took);
    }
  }
}

const isReady = async (node: Node): Promise<boolean> => (await ask(node, '/readyz').catch(() => null))?.status === 200;

/** Hurts a node, or all of them, and returns when it is over. */
async function hurt(fault: (typeof faults)[number], node: Node): Promise<void> {
  const others = nodes.filter((one) => one !== node);
  if (fault === 'failed over') {
    sound = [];
    await primary.kill();
    standby.server.promote();
    primary = standby.server;
    databaseAt.port = standby.port;
    primary.run("ALTER SYSTEM SET synchronous_standby_names = ''");
    primary.run('SELECT pg_reload_conf()');
    standby = await follow();
    return;
  }
  sound = others;
  switch (fault) {
    case 'killed':
      await node.server.kill();
      await sleep(1_000);
      node.server = await node.start();
      return;
    case 'paused':
      process.kill(node.server.pid, 'SIGSTOP');
      await sleep(pauseMs);
      process.kill(node.server.pid, 'SIGCONT');
      return;
    case 'without the database':
    case 'without the store': {
      const relay = fault === 'without the store' ? node.store : node.database;
      relay.cut(random.below(2) === 0 ? 'refuse' : 'silence');
      await sleep(pauseMs);
      relay.heal();
      return;
    }
    case 'emptied':
      removeCaches(path.join(node.server.dataDir, 'cache', 'repositories'));
      return;
  }
}

/** Everything acknowledged is there, through each node, and nothing is there twice. */
async function check(t: Test, round: string, emptied: Node): Promise<void> {
  const [heads, comments] = [new Map(acknowledged.heads), [...acknowledged.comments]];
  removeCaches(path.join(emptied.server.dataDir, 'cache', 'repositories'));
  for (const node of nodes)
    for (const name of names) {
      const clone = path.join(folder, `clone-${round.replaceAll(' ', '-')}-${node.name}-${name}`);
      // A server asks a store that was away again after some seconds, and tells clients to come back.
      let said = '';
      await waitUntil(async () => {
        const { code, stderr } = await client.run(folder, 'clone', '-q', '--mirror', remote(node, name), clone);
        said = stderr;
        return code === 0;
      }).catch((cause: unknown) => {
        throw new Error(`${round}: no clone of ${name} through ${node.name}: ${said}`, { cause });
      });
      await client.expect(clone, 'fsck', '--full', '--strict');
      for (const [branch, oid] of heads) {
        const [of, ref = ''] = branch.split(' ');
        if (of !== name) continue;
        const { code } = await client.run(clone, 'merge-base', '--is-ancestor', oid, ref);
        t.equal(code, 0, `${round}: ${branch} has ${oid} through ${node.name}`);
      }
    }
  const bodies = primary
    .query<{ body: string }>(`SELECT body FROM issue_entries WHERE kind = 'comment'`)
    .map(({ body }) => body);
  const there = new Set(bodies);
  t.equal(there.size, bodies.length, `${round}: no comment is there twice`);
  t.strictSame(
    comments.filter((body) => !there.has(body)),
    [],
    `${round}: all ${comments.length} comments are there`,
  );
  const twice = primary.query(
    `SELECT u.new_id FROM push_updates u JOIN pushes p ON p.id = u.push_id
     WHERE u.result = 'ok' GROUP BY p.repository_id, u.ref, u.new_id HAVING count(*) > 1`,
  );
  t.strictSame(twice, [], `${round}: no push was done twice`);
}

t.test(`${rounds} rounds of each of ${faults.length} faults lose and double nothing`, async (t) => {
  const load = [...Array.from({ length: pushers }, (_, at) => push(at)), comment(), read()];
  const moved = (): number => acknowledged.commits;
  await waitUntil(() => acknowledged.heads.size === pushers && acknowledged.comments.length > 0);
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, fault] of faults.entries()) {
      const node = nodes[(round + at) % nodes.length]!;
      const before = moved();
      await sleep(random.below(500));
      await hurt(fault, node);
      for (const one of nodes) await waitUntil(() => isReady(one));
      await waitUntil(() => moved() > before);
      await check(t, `${fault} ${round}`, nodes[(round + at + 1) % nodes.length]!);
      sound = nodes;
    }
  }
  isOver = true;
  await Promise.all(load);
  t.strictSame(unsound, [], 'the other nodes answered meanwhile');
  t.comment(
    `${acknowledged.commits} pushes, ${acknowledged.comments.length} comments; slowest ${Math.round(slowest)} ms`,
  );
  for (const { server } of nodes) t.equal(await server.stop(), 0);
});
