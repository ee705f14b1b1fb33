// CPU time and response size of every URL that needs no more than a session, on an instance of 100,000 people and as
// many repositories. The limits are 10 ms and 100 kB each.
// With --lists, only the API's lists, each after five unmeasured calls; the limit is 20 ms.
// usage: bench/large-instance [--lists] [--rows N] [--times N] [--folder DATA] [--only TEXT] [--executable PATH]
// DATA is filled once and reused; without it a new instance is made, which takes some minutes.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { operations } from '../src/http-api/v1/operations.ts';
import { routes } from '../src/pages/routes.ts';
import { z } from 'zod';
import { addPerson, openBareDatabase, openModulesIn } from './data-folder.ts';
import { startHearthServer } from './hearth-server.ts';
import { cpuMsOfThreads } from './process-usage.ts';
import { readNumberOption, formatRow, readTextOption } from './harness.ts';
import { fillRepository } from './sample-history.ts';
import { fillTracker } from './sample-issues.ts';
import { fillActivity, fillBonds, fillOwners } from './sample-instance.ts';

const count = readNumberOption('rows', 100_000);
/** The fastest of these counts: other work of the server and the machine slows some. */
const times = readNumberOption('times', 7);
const kept = readTextOption('folder');
const only = readTextOption('only');
const areLists = process.argv.includes('--lists');
/** The limit per response. */
const maxCpuMs = areLists ? 20 : 10;
const maxBytes = areLists ? Infinity : 100_000;
/** A URL that takes this long is requested only once. */
const enoughMs = 1_000;
/** All requests come from one address here, so the limits per address are raised. */
const settings = {
  SERVICE_METRICS_TOKEN: 'a-token-for-metrics-of-the-bench',
  SERVICE_FEDERATION_ENABLED: 'true',
  SERVICE_FEDERATION_BASE_URL: 'http://127.0.0.1:1',
  SERVICE_FEDERATION_DEV_ALLOW_INSECURE: 'true',
  SERVICE_FEDERATION_PEER_ALLOWLIST: 'peer.example.org',
  // The repositories have no files, and looking for them all would count in every other address.
  ...(only?.includes('code') !== true && { SERVICE_SEARCH_CODE_INDEX_BUDGET: '0B' }),
};

interface Secrets {
  name: 'bob' | 'carol';
  id: string;
  session: string;
  token: string;
}

/** bob, who owns much, and carol, an administrator; then everyone else. */
async function furnish(dataFolder: string): Promise<Secrets[]> {
  const known = kept === null ? null : path.resolve(kept);
  if (known !== null && existsSync(known)) {
    cpSync(known, dataFolder, { recursive: true });
    return JSON.parse(readFileSync(path.join(known, 'people.json'), 'utf8')) as Secrets[];
  }
  const modules = await openModulesIn(dataFolder);
  const people: Secrets[] = [];
  for (const name of ['bob', 'carol'] as const) {
    const { id, session } = await addPerson(modules, name, name === 'carol');
    const token = await modules.accounts.addToken(id, {
      name: 'bench',
      access: 'admin',
      repositoryIds: null,
      expiresAt: null,
    });
    people.push({ name, id, session, token: token.secret });
  }
  await modules.close();
  const bare = await openBareDatabase(dataFolder);
  await fillOwners(bare, count);
  await bare.close();
  writeFileSync(path.join(dataFolder, 'people.json'), JSON.stringify(people));
  if (known !== null) {
    const again = await openModulesIn(dataFolder);
    await again.search.recover();
    await again.close();
    cpSync(dataFolder, known, { recursive: true });
  }
  return people;
}

let people: Secrets[] = [];
const hearth = await startHearthServer(settings, async (dataFolder) => {
  people = await furnish(dataFolder);
});
await fillRepository(hearth.repository);
const [bob, carol] = people as [Secrets, Secrets];
const dataFolder = path.join(hearth.folder, 'data');
const file = path.join(dataFolder, 'hearth.db');
const bare = await openBareDatabase(dataFolder);
const database = new DatabaseSync(file, { readOnly: true });
const one = (sql: string): string => String(Object.values(database.prepare(sql).get() ?? { none: '' })[0]);
const repositoryId = one("SELECT id FROM repositories WHERE name = 'bench'");
await fillActivity(bare, { count, personId: bob.id, repositoryId });
if (areLists) {
  await fillTracker(bare, repositoryId, { issues: count / 5, entries: count / 2 });
  await fillBonds(bare, { count, personId: bob.id, repositoryId });
}
// bob administers the busiest repository and the largest organisation.
const folder = path.join(dataFolder, 'repositories', bob.id);
mkdirSync(folder, { recursive: true, mode: 0o700 });
renameSync(hearth.repository, path.join(folder, path.basename(hearth.repository)));
await bare.write(({ manager }) =>
  manager.query(
    `UPDATE repositories SET owner_user_id = '${bob.id}', pushed_at = updated_at WHERE id = '${repositoryId}'`,
  ),
);
await bare.close();

/** Values for the parameters of a path. */
const number = one(`SELECT max(number) FROM ci_runs WHERE repository_id = '${repositoryId}'`);
const values: Record<string, string> = {
  owner: 'bob',
  name: 'bench',
  username: 'bob',
  handle: one('SELECT username FROM users WHERE rowid = 77'),
  number,
  job: number,
  org: 'org1',
  hook: one(`SELECT id FROM webhooks WHERE repository_id = '${repositoryId}'`),
  workflow: 'ci.yml',
  commit: execFileSync('git', ['-C', path.join(folder, path.basename(hearth.repository)), 'rev-parse', 'main'])
    .toString()
    .trim(),
  ref: 'main',
  ...(areLists && {
    id: one('SELECT max(serial) FROM team_serials'),
    type: 'generic',
    run: number,
    attempt: '1',
    target: 'carol',
    filepath: 'src',
  }),
};
const addressOf = (pattern: string): string | null => {
  if (pattern.startsWith('/orgs/:name')) return fill(pattern.replace(':name', ':org'));
  if (pattern === '/ap/repos/:owner/:name/activities/:id') return null;
  const special: Record<string, string | null> = {
    '/admin/federation/deliveries/:id': `/admin/federation/deliveries/${one('SELECT max(id) FROM federation_delivery')}`,
    '/assets/:file': null,
    '/avatars/:file': `/avatars/${bob.id}`,
    '/repos/:owner/:name/tree{/*path}': '/repos/bob/bench/tree/main/src/part1',
    '/repos/:owner/:name/blob/*path': '/repos/bob/bench/blob/main/src/part1/file1.ts',
    '/repos/:owner/:name/raw/*path': '/repos/bob/bench/raw/main/src/part1/file1.ts',
    '/repos/:owner/:name/blame/*path': '/repos/bob/bench/blame/main/src/part1/file1.ts',
    '/repos/:owner/:name/commits{/*path}': '/repos/bob/bench/commits/main',
    '/repos/:owner/:name/commit/:id': '/repos/bob/bench/commit/main',
    '/repos/:owner/:name/compare{/*range}': '/repos/bob/bench/compare/main...main',
    '/repos/:owner/:name/find{/*path}': '/repos/bob/bench/find/main',
    '/repos/:owner/:name/search': '/repos/bob/bench/search?q=value',
    '/repos/:owner/:name/archive/*file': null,
    '/search': '/search?q=verlin',
    '/search/code': '/search/code?q=value1',
    '/.well-known/webfinger': '/.well-known/webfinger?resource=acct:bob@127.0.0.1:1',
    '/{*rest}': '/no/such/page/here',
  };
  if (pattern in special) return special[pattern]!;
  // Pages that are shown once, after a form, and streams.
  if (pattern.endsWith('/live')) return null;
  if (pattern.includes(':ticket') || /[*{]/.test(pattern) || pattern.startsWith('/git/')) return null;
  return fill(pattern);
};
const fill = (pattern: string): string | null => {
  const filled = pattern.replace(
    /:(\w+)|\{(\w+)\}/g,
    (_all, plain?: string, braced?: string) => values[(plain ?? braced)!] ?? '\0',
  );
  return filled.includes('\0') ? null : filled;
};

const nothing = async () => {};
const handlers: never = new Proxy(nothing, { get: () => handlers }) as never;
/** Lists are requested in their other orders, pages and filters, too. */
const further = [
  '/explore?sort=name',
  '/explore?sort=created',
  '/explore?language=Go',
  '/explore/users?sort=created',
  '/explore/users?q=ka',
  '/explore/orgs?sort=created',
  '/explore/orgs?q=org9',
  '/?q=own-7',
  '/users/bob?q=own',
  '/orgs/org1?q=ka',
  '/search?q=a',
  '/api/v1/search?q=verlin',
  '/api/v1/repos?sort=name',
  '/api/v1/repos?owner=org1',
  '/api/v1/repos?owner=bob&sort=created',
  '/api/v1/repos?name=verlin',
  '/api/v1/repos?name=nothing-has-this-name',
  '/admin/people?q=ka',
  '/admin/repositories?q=own',
  '/admin/audit?event=user.added',
  '/admin/federation/deliveries?state=FAILED',
  '/repos/bob/bench/runs?status=failure',
  '/repos/bob/bench/runs?workflow=.github/workflows/ci.yml',
];
const isList = ({ method, response, path: pattern }: (typeof operations)[number]): boolean =>
  method === 'GET' &&
  (response instanceof z.ZodArray || /\/(search|runs|jobs|tasks|artifacts|workflows|runners)$/.test(pattern));
/** Lists in their other orders, filters and far pages. */
const furtherLists = [
  '/search?q=verlin',
  '/repos?sort=name',
  '/repos?owner=org1',
  '/repos?name=verlin',
  '/repos?limit=100',
  '/repos?page=300',
  '/repos/search?q=own&limit=50',
  '/repos/search?sort=created&order=desc',
  '/user/repos?page=10',
  '/user/starred?page=100',
  '/users/search?q=ka&limit=50',
  '/users/bob/followers?page=100',
  '/repos/issues/search?q=crash',
  '/repos/issues/search?created=true',
  '/repos/bob/bench/issues?state=all&page=300',
  '/repos/bob/bench/issues?q=crash',
  '/repos/bob/bench/issues?state=closed&sort=oldest',
  '/repos/bob/bench/subscribers?page=100',
  '/repos/bob/bench/stargazers?page=100',
  '/repos/bob/bench/actions/runs?status=failure',
  '/notifications?all=true',
];
const listAddresses = (): (string | null)[] => [
  ...operations.filter(isList).map(({ path: pattern }) => fill(`/api/v1${pattern}`)),
  ...furtherLists.map((address) => `/api/v1${address}`),
];
const pageAndApiAddresses = (): (string | null)[] => [
  ...routes(handlers)
    .filter(({ method }) => method === 'GET')
    .map(({ path: pattern }) => addressOf(pattern)),
  ...operations
    .filter(({ method }) => method === 'GET')
    .map(({ path: pattern }) => fill(`/api/v1${pattern.replace('/orgs/{name}', '/orgs/{org}')}`)),
  ...further,
];
const addresses = (areLists ? listAddresses() : pageAndApiAddresses()).filter((address) => address !== null);

type Who = 'anonymous' | Secrets['name'];

async function sendRequest(address: string, who: Who): Promise<{ status: number; bytes: number }> {
  const person = who === 'bob' ? bob : who === 'carol' ? carol : null;
  const response = await fetch(hearth.url + address, {
    redirect: 'manual',
    signal: AbortSignal.timeout(60_000),
    headers: {
      'Accept-Encoding': 'gzip',
      ...(address.startsWith('/ap/') && { Accept: 'application/activity+json' }),
      ...(address === '/metrics'
        ? { Authorization: `Bearer ${settings.SERVICE_METRICS_TOKEN}` }
        : person === null
          ? {}
          : address.startsWith('/api/v1/')
            ? { Authorization: `Bearer ${person.token}` }
            : { Cookie: `hearth_session=${person.session}` }),
    },
  });
  const body = await response.arrayBuffer();
  // The transferred size: `fetch` has already decompressed the body.
  return { status: response.status, bytes: Number(response.headers.get('content-length') ?? body.byteLength) };
}

// Steady state: the code of every page has been compiled, and what the start does in the background has ended.
for (let round = 0; only === null && !areLists && round < 3; round++)
  for (const address of new Set(addresses))
    for (const who of ['anonymous', 'bob', 'carol'] as const) await sendRequest(address, who);
for (let waits = 0; waits < 60; waits++) {
  const before = cpuMsOfThreads(hearth.pid);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  if (cpuMsOfThreads(hearth.pid) - before < 20) break;
}

console.log(formatRow(['Address', 'Who', 'Status', 'CPU ms', 'kB', '']));
console.log(formatRow(['---', '---', '---:', '---:', '---:', '---']));
const worst: string[] = [];
for (const address of [...new Set(addresses)]) {
  if (only !== null && !address.includes(only)) continue;
  for (const who of ['anonymous', 'bob', 'carol'] as const) {
    const { status, bytes } = await sendRequest(address, who);
    // Refused or redirected to sign-in: nothing is read for these.
    if (who === 'anonymous' ? status >= 400 && status !== 404 : status >= 400) continue;
    if (status >= 300 && status < 400) continue;
    for (let calls = 0; areLists && calls < 5; calls++) await sendRequest(address, who);
    const taken: number[] = [];
    do {
      const before = cpuMsOfThreads(hearth.pid);
      await sendRequest(address, who);
      taken.push(cpuMsOfThreads(hearth.pid) - before);
    } while (taken.length < times && taken[0]! < enoughMs);
    const cpuMs = Math.min(...taken);
    const isOver = cpuMs > maxCpuMs || bytes > maxBytes;
    const line = formatRow([
      `\`${address}\``,
      who,
      String(status),
      cpuMs.toFixed(1),
      (bytes / 1000).toFixed(1),
      isOver ? 'over' : '',
    ]);
    if (isOver) worst.push(line);
    console.log(line);
  }
}
console.log(`\n${worst.length} of them take more than ${maxCpuMs} ms${areLists ? '' : ` or ${maxBytes / 1000} kB`}:\n`);
for (const line of worst) console.log(line);
database.close();
await hearth.stop();
