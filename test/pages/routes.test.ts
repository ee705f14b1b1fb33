import t from 'tap';
import { readdirSync, readFileSync } from 'node:fs';
import Router from '@koa/router';
import { reservedHandles } from '../../src/owners/index.ts';
import { accessDeclarations } from '../../src/pages/app/access-declarations.ts';
import { createAdmission } from '../../src/http/admission/admission.ts';
import { createBackgroundPriority } from '../../src/http/background-priority.ts';
import { createClassLimits } from '../../src/http/admission/request-classes.ts';
import { routeChain } from '../../src/pages/middleware-chain.ts';
import { createRenderedPages } from '../../src/pages/app/rendered-pages.ts';
import { mountRoutes } from '../../src/pages/app/routing.ts';
import { listRoutes, routes } from '../../src/pages/routes.ts';
import type { ListedRoute, Route } from '../../src/pages/routes.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { sendRequest, password, signedIn, startWeb, visitor } from '../fixtures/web-fixture.ts';
import type { Visitor, Web } from '../fixtures/web-fixture.ts';

// Much of it is whole pages: on a busy machine together they take longer than one ordinary file.
t.setTimeout(180_000);

const unusedHandler = async (): Promise<void> => {};
const handlers: never = new Proxy(unusedHandler, { get: () => handlers }) as never;
const table = routes(handlers);

t.test('security D10 a route without a declared access stops the start', async (t) => {
  const chainOf = routeChain({
    deps: { accounts: {}, repositories: {}, config: {} } as never,
    render: () => '',
    admission: createAdmission(fixedClock()),
    pageCache: { rendered: createRenderedPages() },
  });
  t.doesNotThrow(() => mountRoutes(table, chainOf));
  const page = () => ({}) as never;
  const undeclared = { method: 'GET', path: '/x', cost: 'free', page } as never;
  t.throws(() => mountRoutes([undeclared], chainOf), /GET \/x declares no access/);
  const nameless: Route = { method: 'GET', path: '/x/:owner', access: 'repository:read', cost: 'free', page };
  t.throws(() => mountRoutes([nameless], chainOf), /does not name/);
});

t.test('the table is sound', async (t) => {
  const keys = table.map(({ method, path }) => `${method} ${path}`);
  t.equal(new Set(keys).size, keys.length, 'no row twice');
  for (const { method, path, access } of table) {
    t.ok(accessDeclarations.includes(access));
    // A pasted address of git is only redirected to that of git, which asks for the rights.
    if (/\/git-(?:upload|receive)-pack$/.test(path)) {
      t.equal(access, 'open', path);
      continue;
    }
    if (/^\/repos\/:owner\/:name/.test(path) && !path.includes('/info/') && !path.endsWith('/attachments/:id'))
      // An attachment of an issue that was moved is asked for at its old address: the page asks for the right.
      t.match(access, /^repository:/, path);
    if (/^\/settings/.test(path) && !/appearance/.test(path)) t.equal(access, 'signed-in', path);
    if (/^\/admin/.test(path)) t.equal(access, 'administrator', path);
    t.notMatch(path, /^\/git\/.*\/(?:info|git-)/, 'git has one entrance, before the routes');
    // A mail program follows the one-click link without a session (RFC 8058); the token in it is the credential.
    // So does a webhook of the source of an import, whose address ends with a secret.
    if (method === 'POST' && !/^\/notifications\/unsubscribe$|^\/repos\/import\/:import\/changes\//.test(path))
      t.not(access, 'open', `${path} changes something, so it must check rights`);
  }
});

/** The row that matches, for the methods and addresses of the whole table; the routes of git stand before it. */
function answering(method: string, address: string): ListedRoute | undefined {
  return listRoutes().find((row) => (row.method === 'ANY' || row.method === method) && matches(row.path, address));
}
const layers = new Map<string, Router>();
function matches(path: string, address: string): boolean {
  let router = layers.get(path);
  if (router === undefined) layers.set(path, (router = new Router({ sensitive: true }).get(path, () => {})));
  return router.match(address, 'GET').path.length > 0;
}

t.test('no row of the concatenated tables hides a later one', async (t) => {
  const filled = (path: string): string[] => {
    const named = path.replace(/:(\w+)/g, 'x-$1');
    const long = named.replace(/\{?(\/?)\*\w+\}?/, '$1y/z/w');
    return named.includes('{/*') ? [long, named.replace(/\{.*\}/, '')] : [long];
  };
  for (const row of listRoutes()) {
    for (const address of filled(row.path)) {
      const found = answering(row.method === 'ANY' ? 'PUT' : row.method, address);
      t.equal(found?.path, row.path, `${row.method} ${address}`);
    }
  }
});

t.test('the table of a subject has all of its pages, and no page of another subject', async (t) => {
  const folder = new URL('../../src/pages/', import.meta.url);
  const subjects = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && entry.name !== 'app' && entry.name !== 'markdown',
  );
  t.equal(subjects.length, 22);
  for (const { name } of subjects) {
    const files = readdirSync(new URL(name, folder));
    const text = readFileSync(new URL(`${name}/routes.ts`, folder), 'utf8');
    const imported = [...text.matchAll(/from '(.*\.page)\.ts'/g)].map(([, file]) => file!);
    t.strictSame(
      imported.filter((file) => !/^\.\/[a-z-]+\.page$/.test(file)),
      [],
      name,
    );
    const sources = files.filter((file) => file.endsWith('.page.ts'));
    for (const file of sources) {
      const users = files.filter((other) =>
        readFileSync(new URL(`${name}/${other}`, folder), 'utf8').includes(`'./${file}'`),
      );
      t.ok(users.length > 0, `${name}/${file} is reached from ${name}/routes.ts or from a page beside it`);
    }
  }
});

t.test('every address that the specification names is one of the table', async (t) => {
  const text = readFileSync(new URL('../../docs/specification.md', import.meta.url), 'utf8');
  const named = [...text.matchAll(/`(?:(GET|POST) )?(\/[^`…]*?)(?:\?[^`]*)?`/g)];
  t.ok(named.length > 20, 'it sees the addresses');
  for (const [whole, method = 'GET', path] of named) {
    const address = path!
      .replace(/\{(\w+)\}/g, 'x-$1')
      .replace('*', 'x')
      .replace(/\/$/, '/x');
    const row = answering(method, address);
    t.ok(row !== undefined && !row.path.startsWith('/:') && row.path !== '/{*rest}', whole);
  }
});

t.test('what hearth routes prints is this table', async (t) => {
  t.strictSame(
    listRoutes().filter(({ access }) => access !== 'git'),
    table.map(({ method, path, access, cost }) => ({ method, path, access, cost })),
  );
});

t.test('no handle can take the place of a page', async (t) => {
  const segments = new Set(
    table.map(({ path }) => path.split('/')[1] ?? '').filter((segment) => /^[a-z]/.test(segment)),
  );
  for (const segment of segments) t.ok(reservedHandles.has(segment), segment);
});

type Who = 'anonymous' | 'newcomer' | 'otherPerson' | 'owner' | 'administrator';

/** What each principal gets from a GET, by declaration; `login` is 303 to the sign-in page. */
const expected: Record<string, Record<Who, number | 'login' | 'onboarding'>> = {
  public: { anonymous: 200, newcomer: 'onboarding', otherPerson: 200, owner: 200, administrator: 200 },
  newcomer: { anonymous: 'login', newcomer: 200, otherPerson: 303, owner: 303, administrator: 303 },
  'signed-in': { anonymous: 'login', newcomer: 'onboarding', otherPerson: 200, owner: 200, administrator: 200 },
  administrator: { anonymous: 404, newcomer: 'onboarding', otherPerson: 404, owner: 404, administrator: 200 },
  // On a private repository; being the administrator of the instance opens nothing.
  'repository:read': { anonymous: 404, newcomer: 'onboarding', otherPerson: 404, owner: 200, administrator: 404 },
  'repository:write': { anonymous: 404, newcomer: 'onboarding', otherPerson: 404, owner: 200, administrator: 404 },
  'repository:admin': { anonymous: 404, newcomer: 'onboarding', otherPerson: 404, owner: 200, administrator: 404 },
  'repository:owner': { anonymous: 404, newcomer: 'onboarding', otherPerson: 404, owner: 200, administrator: 404 },
};

async function principals(web: Web): Promise<Record<Who, Visitor>> {
  const owner = await signedIn(web, 'alice');
  await owner.post('/repos', { name: 'ledger', visibility: 'PRIVATE' });
  const nameless = await web.modules.accounts.addPerson({ password });
  const newcomer = visitor(web);
  newcomer.cookies.set(
    'hearth_session',
    (await web.modules.accounts.startSession(nameless.id, { address: '', userAgent: '' })).secret,
  );
  return {
    anonymous: visitor(web),
    newcomer,
    otherPerson: await signedIn(web, 'bob'),
    owner,
    administrator: await signedIn(web, 'carol', { isAdministrator: true }),
  };
}

/**
 * Pages that need more than a principal, or respond with a redirect by nature; they have tests of
 * their own. test/e2e/access-matrix.test.ts fills in what these need.
 */
const apart =
  /^\/(?:setup|signup|signup\/request|login|settings|admin|:handle|:owner\/:name|\{\*rest\})$|:oneTimeToken|:file|^\/orgs\/:name|\/image$|[*{]|\/commit\/:id|\/go$|\/runs\/:|\/(?:issues|pulls)\/:number|\/attachments\/:id$|\/milestones\/:milestone$|\/boards\/:board$|\/deliveries\/:id$|\/:hook$|\/(?:branches|tags)\/delete$|\/releases\/latest$|\/login\/reset$|\/emails\/verify$|\/settings\/notices$|\/people\/:id(?:\/emails)?$|\/sync$|\/branches\/:rule$|\/runners\/:id$|\/oidc\/:provider|^\/login\/(?:sign-up|link|confirm\/:token)$|\/notifications\/unsubscribe$|\/login\/(?:second-factor|passkey)$|\/passkeys\/new$|\/settings\/import$|\/applications\/:app$|^\/packages\/:owner\/-\/|\/consent\/:uid$|^\/repos\/import\/:import$|^\/help\/:name$/;

t.test('SPEC §5 every page lets in whom its row declares', async (t) => {
  const web = await startWeb(t);
  const browsers = await principals(web);
  const filled = (path: string): string =>
    path.replace(':owner', 'alice').replace(':name', 'ledger').replace(':username', 'alice');
  const pages = table.filter(
    ({ method, path, access }) =>
      method === 'GET' &&
      !apart.test(path) &&
      !['open', 'federation', 'oauth', 'operator', 'packages'].includes(access),
  );
  for (const { path, access } of pages) {
    for (const [who, browser] of Object.entries(browsers) as [Who, Visitor][]) {
      const wanted = path === '/settings/appearance' && who === 'newcomer' ? 200 : expected[access]?.[who];
      const { status, headers } = await browser.get(filled(path));
      const got =
        status === 303 && headers.location?.startsWith('/login')
          ? 'login'
          : status === 303 && headers.location === '/onboarding' && who === 'newcomer'
            ? 'onboarding'
            : status;
      if (got !== wanted) t.fail(`${who} at ${path}: ${got}, not ${wanted}`);
    }
  }
  t.pass(`${pages.length} pages for five principals`);
});

t.test('security D01 every form refuses a signed-out visitor and another site before it reads a byte', async (t) => {
  const web = await startWeb(t);
  const { owner } = await principals(web);
  // The form of OAuth2 has a token of its own: test/http-oauth/openid.test.ts. The call of the webhook of an import has
  // no session and reads no body, and its address ends with a secret: test/imports/import-hooks.test.ts.
  const forms = table.filter(
    ({ method, access, path }) =>
      method === 'POST' &&
      access !== 'federation' &&
      access !== 'oauth' &&
      !/\/git-\w+-pack$|\/import\/:import\/changes\//.test(path),
  );
  for (const { path, access } of forms) {
    const target = path
      .replace(':owner', 'alice')
      .replace(':name', 'ledger')
      .replace(':id', 'none')
      .replace('{/*path}', '');
    if (access !== 'public') {
      const { status, headers } = await visitor(web).post(target, {});
      const wanted = access === 'administrator' || access.startsWith('repository') ? 404 : 303;
      t.equal(status, wanted, `${path} signed out`);
      if (status === 303) t.equal(headers.location, '/login', path);
    }
    const forged = await owner.post(target, {}, { Origin: 'https://evil.example' });
    t.equal(forged.status, 403, `${path} from another site`);
  }
  t.equal((await owner.get('/')).status, 200, 'and the session is still there');
});

t.test('methods that a page does not have are refused with those it has', async (t) => {
  const web = await startWeb(t);
  const method = (path: string, verb: string) => sendRequest(web, path, { method: verb });
  for (const [path, allow] of [
    ['/login', 'HEAD, GET, POST'],
    ['/logout', 'POST'],
    ['/healthz', 'HEAD, GET'],
    ['/repos', 'POST'],
  ] as const) {
    for (const verb of ['PUT', 'DELETE', 'OPTIONS']) {
      const { status, headers } = await method(path, verb);
      t.match([status, headers.allow], [405, allow], `${verb} ${path}`);
    }
  }
  t.equal((await method('/logout', 'GET')).status, 404, 'a short address for nobody');
  t.equal((await method('/nowhere/at/all', 'DELETE')).status, 404);
});

t.test('a flood on one class of pages leaves the others alone', async (t) => {
  const limits = createClassLimits(createBackgroundPriority(), {
    free: 1,
    rows: 1,
    search: 1,
    password: 1,
    objects: 1,
    signature: 1,
    upload: 1,
    change: 1,
    transfer: 1,
  });
  let release = (): void => {};
  const blocked = limits.objects({} as never, () => new Promise<void>((resolve) => (release = resolve)));
  await t.rejects(async () => limits.objects({} as never, async () => {}), {
    code: 'unavailable',
    retryAfterSeconds: 2,
  });
  await t.resolves(async () => limits.rows({} as never, async () => {}));
  release();
  await blocked;
  await t.resolves(async () => limits.objects({} as never, async () => {}));
  await t.rejects(async () => limits.objects({} as never, async () => Promise.reject(new Error('x'))));
  await t.resolves(async () => limits.objects({} as never, async () => {}), 'a failure gives its place back');
});
