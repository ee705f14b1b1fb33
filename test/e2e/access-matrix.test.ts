// time limit: 1000 s
// The access matrix: what every client gets from every route, git service, API operation and SSH command. Generated
// from the tables of the program; expectations follow from the declaration and the policy.
import t from 'tap';
import { Agent, request } from 'node:http';
import ssh2 from 'ssh2';
import type { Scope } from '../../src/access/index.ts';
import { operations } from '../../src/http-api/v1/operations.ts';
import { neededRight } from '../../src/pages/app/access-declarations.ts';
import { routes } from '../../src/pages/routes.ts';
import type { Route } from '../../src/pages/routes.ts';
import { encodePacket, flushPacket } from '../../src/git/index.ts';
import { startAccessFixture } from './access-fixture.ts';
import type { TestRepository, Principal, AccessFixture } from './access-fixture.ts';

t.setTimeout(900_000);

/** Stands for every handler: only the rows of the table are read here. */
const noHandlers = new Proxy(() => Promise.resolve(), { get: () => () => Promise.resolve() }) as never;
const table: Route[] = (routes as (...handlers: never[]) => Route[])(
  noHandlers,
  noHandlers,
  noHandlers,
  noHandlers,
  noHandlers,
);

let fixture: AccessFixture;
const agent = new Agent({ keepAlive: true, maxSockets: 8 });
t.before(async () => void (fixture = await startAccessFixture(t)));
t.teardown(() => agent.destroy());

interface Got {
  status: number;
  location: string;
  body: string;
}

interface Asked {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** How many responses were searched for words that their reader may not see. */
let searched = 0;
const leaks: string[] = [];

function sendRequest(
  who: Principal,
  path: string,
  { method = 'GET', headers = {}, body }: Asked,
  readable: (place: TestRepository) => boolean,
): Promise<Got> {
  const { url } = fixture.hearth;
  return new Promise((resolve, reject) => {
    // Set explicitly: Node sends no length with a DELETE.
    const length = body === undefined ? {} : { 'Content-Length': String(body.length) };
    const sending = request(url + path, { method, agent, headers: { ...headers, ...length } }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => {
        const text = Buffer.concat(parts).toString('latin1');
        const { 'x-request-id': _id, date: _date, ...otherHeaders } = response.headers;
        const all = JSON.stringify(otherHeaders) + text;
        searched += 1;
        for (const place of fixture.testRepositories) {
          if (!readable(place) && place.canaries.some((word) => all.includes(word)))
            leaks.push(`${who.name}: ${method} ${path} tells of ${place.name}`);
        }
        resolve({ status: response.statusCode ?? 0, location: response.headers.location ?? '', body: text });
      });
    });
    sending.on('error', reject);
    sending.end(body);
  });
}

/** With a person's session, as a browser sends it. */
function browse(who: Principal, method: string, path: string): Promise<Got> {
  const headers: Record<string, string> = {
    Origin: fixture.hearth.url,
    ...(who.session === null ? {} : { Cookie: `hearth_session=${who.session}` }),
  };
  // A form in an unsupported encoding: refused by the first reader after authorization, so that nothing changes.
  if (method === 'POST')
    Object.assign(headers, { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Encoding': 'gzip' });
  return sendRequest(
    who,
    path,
    { method, headers, ...(method === 'POST' ? { body: 'x' } : {}) },
    (place) => fixture.levelOf(who, place) !== 'none',
  );
}

/** Runs work eight at a time: most of it waits for git. */
async function each<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items];
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
    }),
  );
}

/** Values for the parameters of a path. */
const values = (place: Pick<TestRepository, 'owner' | 'name' | 'head'>): Record<string, string> => ({
  owner: place.owner,
  name: place.name,
  username: 'reader',
  id: place.head,
  ref: 'main',
});

/** Values for wildcards that exist. */
const rests: Record<string, string> = {
  tree: 'main',
  blob: 'main/README.md',
  raw: 'main/README.md',
  blame: 'main/README.md',
  commits: 'main',
  find: 'main',
  compare: 'main...main',
  archive: 'main.tar.gz',
  edit: 'main/README.md',
  new: 'main',
  delete: 'main/README.md',
  upload: 'main',
};

function fill(path: string, place: Pick<TestRepository, 'owner' | 'name' | 'head'>): string {
  const [, kind = ''] = /^\/repos\/:owner\/:name\/([a-z]+)/.exec(path) ?? [];
  return (
    path
      .replace(/\/releases\/download\/\*\w+/, '/releases/download/v1.0/notes.txt')
      .replace(/\/releases\/([\w-]+)\/\*\w+/, '/releases/$1/v1.0')
      .replace(/\{\/\*\w+\}/, `/${rests[kind] ?? ''}`)
      .replace(/\*\w+/, rests[kind] ?? 'x')
      .replace(/:(\w+)/g, (_, name: string) => values(place)[name] ?? 'x')
      // The parameter is in the query.
      .replace(/\/branches\/delete$/, '/branches/delete?name=main')
      .replace(/\/tags\/delete$/, '/tags/delete?name=v1.0')
  );
}

/**
 * Whether everything that the path names exists: there are no runs, environments, runners, attachments, wikis, imports
 * and forks here, for example.
 */
const isFilled = (path: string): boolean =>
  !path.includes('/attachments/') &&
  !path.includes('/environments/*') &&
  !path.includes('/runners/') &&
  !path.includes('/wiki/') &&
  !path.startsWith('/v2/') &&
  !path.endsWith('/settings/import') &&
  !path.endsWith('/sync') &&
  // Every other address inside a repository: a 404 that keeps its head.
  !path.includes('/{*rest}') &&
  [...path.matchAll(/:(\w+)/g)].every(([, name]) => ['owner', 'name', 'username', 'id', 'ref'].includes(name!));

const missing = (place: TestRepository) => ({ ...place, name: 'missing' });
const isGone = ({ status }: Got): boolean => status === 404;
const misses: string[] = [];
const expect = (what: string, got: unknown, wanted: unknown): void => {
  if (got !== wanted) misses.push(`${what}: ${String(got)}, not ${String(wanted)}`);
};

t.test(
  'security D10, E06 every route about a repository: the declared level decides, and without it there is nothing',
  async (t) => {
    const rows = table.filter(({ access }) => neededRight(access) !== null);
    const cells = rows.flatMap((route) =>
      fixture.testRepositories.flatMap((place) => fixture.principals.map((who) => ({ route, place, who }))),
    );
    const absent = new Map<string, Promise<Got>>();
    await each(cells, async ({ route, place, who }) => {
      const { method, path, access } = route;
      const got = await browse(who, method, fill(path, place));
      const what = `${who.name}: ${method} ${fill(path, place)} (${access})`;
      if (!fixture.may(who, place, neededRight(access)!)) {
        // The same bytes as for an absent repository, whatever the route.
        const key = who.name;
        if (!absent.has(key)) absent.set(key, browse(who, 'GET', `/repos/${place.owner}/missing`));
        expect(`${what} status`, got.status, 404);
        expect(`${what} bytes`, got.body, (await absent.get(key)!).body);
      } else if (method === 'POST') expect(what, got.status, 415);
      else if (got.status >= 400 && isFilled(path)) misses.push(`${what}: ${got.status}, though allowed`);
    });
    t.same(misses.splice(0), []);
    t.ok(cells.length > 1000, `${rows.length} routes, ${cells.length} cells`);
  },
);

t.test('security E03 a repository that is missing responds the same on every route', async (t) => {
  const rows = table.filter(({ access }) => neededRight(access) !== null);
  const [place] = fixture.testRepositories;
  for (const who of fixture.principals) {
    const seen = new Set<string>();
    await each(
      rows,
      async ({ method, path }) => void seen.add((await browse(who, method, fill(path, missing(place!)))).body),
    );
    expect(who.name, seen.size, 1);
  }
  t.same(misses.splice(0), []);
});

/** Pages that need a one-time value or a package in their path, or redirect; their own tests cover them. */
const apart =
  /^\/(?:setup|signup|signup\/request|onboarding|:handle|:owner\/:name|\{\*rest\})$|:oneTimeToken|:file|^\/api\/|\/info\/refs$|\/login\/(?:reset|sign-up|link|second-factor|passkey)$|\/oidc\/:provider|\/login\/confirm\/|\/security\/passkeys\/new$|\/emails\/verify$|\/settings\/notices$|\/people\/:id(?:\/emails)?$|\/notifications\/(?:unsubscribe|feed\.atom)$|^\/packages\/:owner\/-\/.*\/settings$/;

t.test('every other page: the sign-in page, the 404, or the page itself', async (t) => {
  const rows = table.filter(
    ({ access, path }) =>
      neededRight(access) === null &&
      !['git', 'api', 'task', 'federation', 'oauth', 'open', 'packages'].includes(access) &&
      !apart.test(path),
  );
  const cells = rows.flatMap((route) => fixture.principals.map((who) => ({ route, who })));
  await each(cells, async ({ route: { method, path, access }, who }) => {
    const filled = path
      .replace(/^\/orgs\/:name/, '/orgs/guild')
      .replace(/^\/admin\/repositories\/:owner\/:name/, '/admin/repositories/maker/public-maker')
      .replace(/^\/help\/:name/, '/help/issues')
      .replace(':username', 'maker')
      .replace(/:\w+/g, 'none');
    const got = await browse(who, method, filled);
    const what = `${who.name}: ${method} ${filled} (${access})`;
    const isLogin = got.status === 303 && got.location.startsWith('/login');
    const needsPerson = access === 'signed-in' || access === 'newcomer' || access === 'organisation:owner';
    const isAllowed =
      access === 'administrator'
        ? who.isAdministrator
        : access === 'organisation:owner'
          ? who.organisationRole === 'OWNER'
          : // Members know of all teams, and other people of their own.
            method !== 'GET' || !path.endsWith('/teams') || who.organisationRole !== null || who.teamRole !== null;
    if (needsPerson && who.id === null) expect(what, isLogin, true);
    else if (!isAllowed) expect(what, got.status, 404);
    else if (method === 'POST') expect(what, got.status, 415);
    // A number that does not exist.
    else if (/\/:(?!name$|username$)\w+$/.test(path) && isGone(got)) return;
    else if (got.status >= 400 || isLogin) misses.push(`${what}: ${got.status}, though allowed`);
    if (access === 'organisation:owner' && isGone(got)) {
      expect(`${what} bytes`, got.body, (await browse(who, method, filled.replace('guild', 'nowhere'))).body);
    }
  });
  t.same(misses.splice(0), []);
  t.pass(`${rows.length} routes, ${cells.length} cells`);
});

const scopes: Scope[] = ['read', 'write', 'admin'];
const credentials = (who: Principal): (Scope | null)[] => (who.id === null ? [null] : scopes);

t.test('git over HTTP: scope and level together, for both services', async (t) => {
  const cells = fixture.testRepositories.flatMap((place) =>
    fixture.principals.flatMap((who) =>
      credentials(who).flatMap((scope) =>
        (['upload-pack', 'receive-pack'] as const).map((service) => ({ place, who, scope, service })),
      ),
    ),
  );
  await each(cells, async ({ place, who, scope, service }) => {
    const headers: Record<string, string> =
      scope === null ? {} : { Authorization: `Basic ${Buffer.from(`x:${who.tokens[scope]}`).toString('base64')}` };
    const level = fixture.levelOf(who, place, scope ?? undefined);
    const fetchRefs = (name: string) =>
      sendRequest(
        who,
        `/git/${place.owner}/${name}.git/info/refs?service=git-${service}`,
        { headers },
        (each) => fixture.levelOf(who, each, scope ?? undefined) !== 'none',
      );
    const got = await fetchRefs(place.name);
    const isPush = service === 'receive-pack';
    // Who may read and write anywhere gets in, to propose changes.
    const isAllowed = fixture.may(who, place, 'read', scope ?? undefined) && !(isPush && (scope ?? 'read') === 'read');
    const wanted = isAllowed ? 200 : who.id === null ? 401 : level === 'none' ? 404 : 403;
    expect(`${who.name} (${scope}) ${service} ${place.name}`, got.status, wanted);
    if (wanted === 401 || wanted === 404)
      expect(`${who.name} (${scope}) ${service} ${place.name} bytes`, got.body, (await fetchRefs('missing')).body);
    if (!isPush || wanted !== 200 || fixture.may(who, place, 'write', scope ?? undefined)) return;
    const command = encodePacket(`${'0'.repeat(40)} ${place.head} refs/heads/by-a-reader\0 report-status`);
    const pushed = await fetch(`${fixture.hearth.url}/git/${place.owner}/${place.name}.git/git-receive-pack`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/x-git-receive-pack-request' },
      body: new Uint8Array(Buffer.concat([command, flushPacket])),
    });
    const report = await pushed.text();
    expect(`${who.name} (${scope}) pushes ${place.name}`, /ng refs\/heads\/by-a-reader you may not/.test(report), true);
  });
  t.same(misses.splice(0), []);
  t.pass(`${cells.length} cells`);
});

t.test('the JSON API: every operation on a repository, by scope and level', async (t) => {
  const rows = operations.filter(({ access }) => access.startsWith('repository:'));
  const cells = rows.flatMap((operation) =>
    fixture.testRepositories.flatMap((place) =>
      fixture.principals.flatMap((who) => credentials(who).map((scope) => ({ operation, place, who, scope }))),
    ),
  );
  const rank = (scope: Scope): number => scopes.indexOf(scope);
  await each(cells, async ({ operation: { method, path, access, scope: demanded, body, id }, place, who, scope }) => {
    const right = access.slice('repository:'.length) as 'read' | 'write' | 'admin' | 'owner';
    const needed: Scope = demanded ?? (right === 'owner' ? 'admin' : right);
    const needsToken = demanded !== undefined || right !== 'read';
    const level = fixture.levelOf(who, place, scope ?? undefined);
    const wanted =
      needsToken && scope === null
        ? 401
        : level === 'none'
          ? 404
          : needsToken && rank(scope!) < rank(needed)
            ? 403
            : fixture.may(who, place, right, scope ?? undefined)
              ? 'allowed'
              : 404;
    // Allowed operations with an effect are covered by the API's own tests.
    if (wanted === 'allowed' && method !== 'GET' && body === undefined) return;
    const filled = path.replace(
      /\{(\w+)\}/g,
      (_, name: string) =>
        ({ ...values(place), path: 'README.md', ref: 'main', sha: place.head, id: place.head, commit: place.head })[
          name
        ] ?? 'x',
    );
    const headers: Record<string, string> = {
      'Content-Type': 'application/json',
      ...(scope === null ? {} : { Authorization: `Bearer ${who.tokens[scope]}` }),
    };
    const call = (at: string) =>
      sendRequest(
        who,
        `/api/v1${at}`,
        { method, headers, ...(body === undefined ? {} : { body: '{' }) },
        (each) => fixture.levelOf(who, each, scope ?? undefined) !== 'none',
      );
    const got = await call(filled);
    const what = `${who.name} (${scope}) ${id} on ${place.name}`;
    if (wanted !== 'allowed') expect(what, got.status, wanted);
    else if ([401, 403].includes(got.status) || (method !== 'GET' && got.status < 400))
      misses.push(`${what}: ${got.status}, though allowed`);
    if (wanted === 404)
      expect(`${what} bytes`, got.body, (await call(filled.replace(`/${place.name}`, '/missing'))).body);
  });
  t.same(misses.splice(0), []);
  t.pass(`${rows.length} operations, ${cells.length} cells`);
});

t.test('the JSON API: every operation of an organisation and of the server, by scope and role', async (t) => {
  const rows = operations.filter(({ access }) => access === 'organisation:owner' || access === 'administrator');
  const cells = rows.flatMap((operation) =>
    fixture.principals.flatMap((who) => credentials(who).map((scope) => ({ operation, who, scope }))),
  );
  await each(cells, async ({ operation: { method, path, access, body, id }, who, scope }) => {
    const isAllowed = access === 'administrator' ? who.isAdministrator : who.organisationRole === 'OWNER';
    const wanted =
      scope === null ? 401 : scope !== 'admin' ? 403 : isAllowed ? 'allowed' : access === 'administrator' ? 403 : 404;
    if (wanted === 'allowed' && method !== 'GET' && body === undefined) return;
    const headers: Record<string, string> = {
      'Content-Type': 'application/json',
      ...(scope === null ? {} : { Authorization: `Bearer ${who.tokens[scope]}` }),
    };
    const call = (org: string) =>
      sendRequest(
        who,
        `/api/v1${path.replace('{org}', org).replace(/\{\w+\}/g, 'x')}`,
        { method, headers, ...(body === undefined ? {} : { body: '{' }) },
        (place) => fixture.levelOf(who, place, scope ?? undefined) !== 'none',
      );
    const got = await call('guild');
    const what = `${who.name} (${scope}) ${id}`;
    if (wanted !== 'allowed') expect(what, got.status, wanted);
    else if ([401, 403].includes(got.status) || (method !== 'GET' && got.status < 400))
      misses.push(`${what}: ${got.status}, though allowed`);
    if (wanted === 404) expect(`${what} bytes`, got.body, (await call('nowhere')).body);
  });
  t.same(misses.splice(0), []);
  t.ok(rows.length > 20, `${rows.length} operations, ${cells.length} cells`);
});

interface Ran {
  code: number | null;
  out: string;
  err: string;
}

function connect(privateKey: string): Promise<ssh2.Client> {
  const { host, port } = fixture.hearth.ssh;
  const client = new ssh2.Client();
  return new Promise((resolve, reject) => {
    client
      .on('ready', () => resolve(client))
      .on('error', reject)
      .connect({ host, port, username: 'git', privateKey });
  });
}

function run(client: ssh2.Client, command: string): Promise<Ran> {
  return new Promise((resolve, reject) => {
    client.exec(command, (error, channel) => {
      if (error) return reject(error);
      let [out, err] = ['', ''];
      let code: number | null = null;
      channel.on('data', (part: Buffer) => (out += part.toString('latin1')));
      channel.stderr.on('data', (part: Buffer) => (err += part.toString()));
      channel.on('exit', (status: number | null) => (code = status));
      channel.on('close', () => resolve({ code, out, err }));
      channel.end('0000');
    });
  });
}

t.test('SSH: every command on a repository, by level', async (t) => {
  const commands = ['upload-pack', 'receive-pack', 'upload-archive'] as const;
  let cells = 0;
  await each(
    fixture.principals.filter(({ privateKey }) => privateKey !== null),
    async (who) => {
      const client = await connect(who.privateKey!);
      const absent = await run(client, "git-upload-pack 'maker/missing.git'");
      for (const place of fixture.testRepositories) {
        for (const command of commands) {
          cells += 1;
          const ran = await run(client, `git-${command} '${place.owner}/${place.name}.git'`);
          const what = `${who.name} ${command} ${place.name}`;
          searched += 1;
          if (!fixture.may(who, place, 'read') && place.canaries.some((word) => (ran.out + ran.err).includes(word)))
            leaks.push(what);
          if (!fixture.may(who, place, 'read')) expect(what, JSON.stringify(ran), JSON.stringify(absent));
          // An archive needs a request of its own; it is enough that git was started.
          else if (/hearth:/.test(ran.err) || (command !== 'upload-archive' && !/^[0-9a-f]{4}/.test(ran.out)))
            misses.push(`${what}: ${ran.err || ran.out.slice(0, 40)}`);
        }
        const info = await run(client, `repo info ${place.owner}/${place.name}`);
        cells += 1;
        expect(`${who.name} repo info ${place.name}`, info.code, fixture.may(who, place, 'read') ? 0 : 1);
        if (!fixture.may(who, place, 'read')) expect(`${who.name} repo info ${place.name}`, info.err, absent.err);
      }
      client.end();
    },
  );
  t.same(misses.splice(0), []);
  t.pass(`${cells} cells`);
});

t.test('security E02 lists, searches, feeds and profiles contain nothing hidden from their reader', async (t) => {
  const pages = [
    '/',
    '/explore',
    '/explore?sort=name',
    '/explore?sort=created',
    '/explore/users',
    '/explore/orgs',
    '/users/maker',
    '/orgs/guild',
    '/orgs/guild/teams/builders',
    '/maker',
    '/guild',
    '/search?q=canary',
    '/search?q=canarydark',
    '/search?q=private',
    '/api/v1/search?q=canary',
    '/api/v1/search?q=private',
    '/api/v1/repos',
    '/settings/tokens',
    '/settings/repositories',
  ];
  await each(
    fixture.principals.flatMap((who) => pages.map((page) => ({ who, page }))),
    async ({ who, page }) => {
      const { body } = page.startsWith('/api')
        ? await sendRequest(
            who,
            page,
            { headers: who.tokens.read ? { Authorization: `Bearer ${who.tokens.read}` } : {} },
            (place) => fixture.levelOf(who, place) !== 'none',
          )
        : await browse(who, 'GET', page);
      for (const place of fixture.testRepositories) {
        // The request did not contain the name, so the response must not either.
        if (fixture.levelOf(who, place) === 'none' && body.includes(`${place.owner}/${place.name}`))
          leaks.push(`${who.name}: ${page} names ${place.name}`);
      }
    },
  );
  t.same(leaks, [], 'no canary');
  t.ok(searched >= 1000, `${searched} answers were looked through`);
  // In JSON: pages put markup into matches.
  const maker = fixture.principals.find(({ name }) => name === 'maker')!;
  const found = await sendRequest(
    maker,
    '/api/v1/search?q=canarydark',
    { headers: { Authorization: `Bearer ${maker.tokens.read}` } },
    (place) => fixture.may(maker, place, 'read'),
  );
  t.match(found.body, /canarydarkmakerdescription/, 'who may see it finds it');
});
