// A right that is changed on one of two nodes, and asked for on the other by requests that begin after the answer: none
// sees the old one. HEARTH_ASKED is the number of requests (10,000 for figures).
// time limit: 600 s
import { copyFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { systemRandom } from '../../src/kernel/index.ts';
import { InstanceKey } from '../../src/sealing/index.ts';
import { startServerProcess } from '../e2e/server-process.ts';
import type { ServerProcess } from '../e2e/server-process.ts';
import { startFakeS3 } from '../fixtures/fake-s3-server.ts';
import { startPostgres } from '../fixtures/postgres.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { createPostgresDatabaseFor, testPostgresUrl } from '../fixtures/test-postgres.ts';

t.setTimeout(Number(process.env['HEARTH_LIMIT_MS'] ?? 580_000));

const wanted = Number(process.env['HEARTH_ASKED'] ?? 80);
const s3 = await startFakeS3(t);
const env = {
  SERVICE_DATABASE_URL: await createPostgresDatabaseFor(t, testPostgresUrl ?? (await startPostgres(t)).url),
  SERVICE_DATABASE_POOL: '4',
  SERVICE_GIT_STORAGE: 'store',
  ...s3.env,
};
const key = path.join(temporaryFolder(t), 'secret.key');
new InstanceKey(key, systemRandom, 'nodes').for('nodes');

async function startNode(): Promise<ServerProcess> {
  const folder = temporaryFolder(t);
  mkdirSync(path.join(folder, 'data', 'ci'), { recursive: true, mode: 0o700 });
  copyFileSync(key, path.join(folder, 'data', 'ci', 'secret.key'));
  return startServerProcess(t, 'either', { env, folder });
}

const a = await startNode();
await a.command('user', 'add', 'alice', '--random-password', '--admin');
await a.command('user', 'add', 'bob', '--random-password');
const tokenOf = (user: string, access: string) =>
  a.command('token', 'add', '--user', user, '--name', 'laptop', '--access', access);
const [alice, bob] = [await tokenOf('alice', 'admin'), await tokenOf('bob', 'write')];
const b = await startNode();

/** A database that is slow for more than a second is 503, and asked again: that is no answer about rights. */
async function ask(node: ServerProcess, what: string, token: string | null, init: RequestInit = {}) {
  for (;;) {
    const response = await fetch(`${node.url}${what}`, {
      ...init,
      headers: {
        ...(token === null ? {} : { authorization: `token ${token}` }),
        ...(init.body === undefined ? {} : { 'content-type': 'application/json' }),
      },
    });
    const text = await response.text();
    if (response.status !== 503) return { status: response.status, text };
  }
}

async function change(node: ServerProcess, method: string, what: string, body: object = {}): Promise<void> {
  const { status, text } = await ask(node, `/api/v1${what}`, alice, { method, body: JSON.stringify(body) });
  if (status >= 300) throw new Error(`${method} ${what}: ${status} ${text.slice(0, 300)}`);
}

/** Whether someone sees alice/roof, by each way to it. */
const ways: Record<string, (node: ServerProcess, token: string | null) => Promise<boolean>> = {
  page: async (node, token) => (await ask(node, '/alice/roof', token)).status === 200,
  issues: async (node, token) => (await ask(node, '/alice/roof/issues', token)).status === 200,
  owner: async (node, token) => /alice\/roof/.test((await ask(node, '/alice', token)).text),
  search: async (node, token) => /alice\/roof/.test((await ask(node, '/api/v1/repos/search?q=roof', token)).text),
  api: async (node, token) => (await ask(node, '/api/v1/repos/alice/roof', token)).status === 200,
  list: async (node, token) => /alice\/roof/.test((await ask(node, '/api/v1/users/alice/repos', token)).text),
  git: async (node, token) =>
    (await ask(node, '/git/alice/roof.git/info/refs?service=git-upload-pack', token)).status === 200,
  archive: async (node, token) => (await ask(node, '/api/v1/repos/alice/roof/branches', token)).status === 200,
};
/** Pages take sessions and no tokens: there bob is a visitor. */
const ofVisitors = ['page', 'issues', 'owner'];

let asked = 0;
const stale: string[] = [];
async function all(node: ServerProcess, title: string, seen: { visitor: boolean; bob: boolean }): Promise<void> {
  await Promise.all(
    Object.entries(ways).flatMap(([way, isSeen]) =>
      (ofVisitors.includes(way) ? [null] : [null, bob]).map(async (token) => {
        asked += 1;
        if ((await isSeen(node, token)) !== (token === null ? seen.visitor : seen.bob))
          stale.push(`${title}: ${way} by ${token === null ? 'a visitor' : 'bob'}`);
      }),
    ),
  );
}

for (const name of ['roof', 'shed']) await change(a, 'POST', '/user/repos', { name, private: false });

t.test(`of ${wanted} requests none sees the right of before`, async (t) => {
  await all(b, 'at first', { visitor: true, bob: true });
  for (let round = 0; asked < wanted; round += 1) {
    const [at, other] = round % 2 === 0 ? [a, b] : [b, a];
    await change(at, 'PATCH', '/repos/alice/roof', { private: true });
    await all(other, 'private', { visitor: false, bob: false });
    await change(at, 'PUT', '/repos/alice/roof/collaborators/bob', { permission: 'read' });
    await all(other, 'for bob', { visitor: false, bob: true });
    await change(other, 'DELETE', '/repos/alice/roof/collaborators/bob');
    await all(at, 'no longer for bob', { visitor: false, bob: false });
    await change(other, 'PATCH', '/repos/alice/roof', { private: false });
    await all(at, 'public', { visitor: true, bob: true });
  }
  t.comment(`${asked} requests`);
  t.strictSame(stale, []);
  t.equal((await ask(b, '/alice/shed', null)).status, 200, 'the other one is as it was');
});
