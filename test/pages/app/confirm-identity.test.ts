import t from 'tap';
import { routes } from '../../../src/pages/routes.ts';
import type { Route } from '../../../src/pages/routes.ts';
import { routeChain } from '../../../src/pages/middleware-chain.ts';
import { createRenderedPages } from '../../../src/pages/app/rendered-pages.ts';
import { mountRoutes } from '../../../src/pages/app/routing.ts';
import { createAdmission } from '../../../src/http/admission/admission.ts';
import { fixedClock } from '../../fixtures/fixed-clock.ts';
import { signInAt, startProvider } from '../../fixtures/openid-provider.ts';
import { extractMain, password, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import type { PageResponse, Visitor } from '../../fixtures/web-fixture.ts';

const unused = () => {};
const handlers: never = new Proxy(unused, { get: () => handlers }) as never;
const table = routes(handlers);
const declared = table.filter((route) => 'confirmation' in route && route.confirmation !== undefined);

/** Paths of what signs people in, of deletions and of transfers. */
const dangerous =
  /(?:delete|transfer|purge|administrator|second-factor\/reset|reset-link|people\/new|linked-accounts)(?:\/|$)|^\/settings\/(?:account|security|keys|gpg|tokens|emails)|\/emails(?:\/|$)|\/tokens?$|\/settings\/keys(?:\/|$)|\/applications(?:\/|$)|\/consent\/:uid\/confirm$/;

/** Routes that look like it and ask for no confirmation, each with its reason. */
const harmless: Record<string, string> = {
  '/settings/account/handle': 'the old name stays reserved and redirects',
  '/settings/avatar/delete': 'a picture',
  '/orgs/:name/avatar/delete': 'a picture',
  '/repos/:owner/:name/image/delete': 'a picture',
  '/settings/keys/:id/delete': 'revoking must be quick: whoever has the session gains nothing by it',
  '/repos/:owner/:name/settings/keys/:id/delete': 'as for keys of a person',
  '/settings/gpg/:id/delete': 'as for SSH keys',
  '/settings/tokens/:id/delete': 'as for SSH keys',
  '/settings/emails/:id/delete': 'as for SSH keys',
  '/settings/applications/grants/:grant/delete': 'as for SSH keys',
  '/settings/emails/verify': 'the link in the mail is the proof',
  '/settings/emails/:id/send': 'the mail goes to the address itself',
  '/settings/emails/:id/public': 'shows what is there already',
  '/admin/people/:id/emails/:address/delete': 'takes a way in away and adds none',
  '/admin/invites/:id/delete': 'withdraws an offer',
  '/repos/:owner/:name/settings/transfer/withdraw': 'withdraws an offer',
  '/repos/:owner/:name/settings/branches/:rule/delete': 'a rule is made again in a minute',
  '/repos/:owner/:name/branches/delete': 'the activity of the repository brings it back',
  '/repos/:owner/:name/tags/delete': 'as for branches',
  '/repos/:owner/:name/wiki/_delete/*path': 'a commit, whose version stays in the history',
  '/repos/:owner/:name/delete/*path': 'a commit, which another one reverts',
  '/repos/:owner/:name/runs/:number/delete': 'logs of one run',
  '/repos/:owner/:name/runs/:number/artifacts/:id/delete': 'a file of one run',
  '/repos/:owner/:name/issues/:number/delete': 'a trash brings it back',
  '/packages/:owner/-/:format/:package/:version/delete': 'a trash brings it back',
  '/repos/:owner/:name/issues/:number/purge': 'one issue, by administrators of its repository, after its trash',
  '/repos/:owner/:name/settings/followers/notes/delete': 'one note of a push or a release, which stay',
  '/admin/federation/deliveries/purge': 'removes what has ended',
};
const harmlessSubjects = /\/(?:environments|runners|secrets|variables|labels|milestones|boards|webhooks|pulls)\//;

t.test('every dangerous route asks to confirm who it is, or has its reason not to', async (t) => {
  const found = table.filter(({ method, path }) => method === 'POST' && dangerous.test(path));
  t.ok(found.length > 40, 'it sees the routes');
  for (const route of found) {
    const asks = declared.includes(route);
    const isHarmless = Object.hasOwn(harmless, route.path) || harmlessSubjects.test(route.path);
    t.equal(asks, !isHarmless, route.path);
  }
  for (const path of Object.keys(harmless))
    t.ok(
      found.some((route) => route.path === path),
      `${path} exists`,
    );
  for (const route of declared) t.ok(found.includes(route), `${route.path} is one of them`);
});

t.test('a route that lets in clients without an account cannot ask', async (t) => {
  const chainOf = routeChain({
    deps: { accounts: {}, repositories: {} } as never,
    render: () => '',
    admission: createAdmission(fixedClock()),
    pageCache: { rendered: createRenderedPages() },
  });
  const route = { method: 'POST', path: '/x', access: 'public', cost: 'free', page: unused, confirmation: 'required' };
  t.throws(() => mountRoutes([route as never as Route], chainOf), /has no account/);
});

const asksToConfirm = ({ status, body }: PageResponse): boolean => status === 403 && /<h1>Confirm it is you/.test(body);

/** The fields of the form of a page, as a browser would send them. */
function fieldsOf(page: PageResponse): Record<string, string[]> {
  const fields: Record<string, string[]> = {};
  const form = /<form class="panel stack"[^]*?<\/form>/.exec(extractMain(page))?.[0] ?? '';
  const unescape = (text: string) =>
    text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
  for (const [, name = '', value = ''] of form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g))
    (fields[unescape(name)] ??= []).push(unescape(value));
  return fields;
}

t.test('every declared route asks ten minutes after the sign-in, and has done nothing', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice', { isAdministrator: true });
  await alice.post('/repos', { name: 'ledger', visibility: 'PRIVATE' });
  await alice.post('/orgs', { name: 'forge' });
  web.clock.advance(10 * 60_000);
  const filled = (path: string): string =>
    path
      .replace('/orgs/:name', '/orgs/forge')
      .replace(':owner', 'alice')
      .replace(':name', 'ledger')
      .replace('people/:id', `people/${alice.id}`)
      .replace(/:\w+/g, 'x');
  for (const route of declared) {
    const response = await alice.post(filled(route.path), { username: 'bob', confirm: 'alice' });
    if ((route as { confirmation?: string }).confirmation === 'in-form')
      t.equal(response.status, 422, `${route.path} asks for the password in its form`);
    else t.ok(asksToConfirm(response), route.path);
  }
  t.equal((await alice.get('/repos/alice/ledger')).status, 200);
  t.equal((await alice.get('/orgs/forge')).status, 200);
});

t.test('what was typed is kept, and the right password does it at once', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  const first = await alice.post('/settings/tokens', { name: 'fresh', access: 'read', expires_in: '30' });
  t.equal(first.status, 303, 'signing in is a proof');
  web.clock.advance(10 * 60_000);
  const form = { name: '"quoted" <b>&amp;</b>', access: 'read', expires_in: '30', repos: ['', 'one', 'all'] };
  const asked = await alice.post('/settings/tokens', form);
  t.ok(asksToConfirm(asked));
  t.match(asked.headers['cache-control'], /no-store|no-cache/);
  t.same(fieldsOf(asked), {
    name: ['"quoted" <b>&amp;</b>'],
    access: ['read'],
    expires_in: ['30'],
    repos: ['', 'one', 'all'],
  });
  t.match(extractMain(asked), /action="\/settings\/tokens"/);
  const listed = async () => (await web.modules.accounts.listTokens(alice.id)).map(({ name }) => name);
  t.same(await listed(), ['fresh']);

  const wrong = await alice.post('/settings/tokens', { ...fieldsOf(asked), confirm_password: 'wrong' });
  t.ok(asksToConfirm(wrong));
  t.match(extractMain(wrong), /This is not your password/);
  t.same(fieldsOf(wrong), fieldsOf(asked), 'kept once more, without the wrong password');
  t.notMatch(wrong.body, /value="wrong"/);

  const done = await alice.post('/settings/tokens', { ...fieldsOf(asked), confirm_password: password });
  t.match(done.headers.location, /^\/settings\/tokens\/new\//);
  t.same((await listed()).sort(), ['"quoted" <b>&amp;</b>', 'fresh']);
  t.equal((await alice.post('/settings/tokens', { ...form, name: 'third' })).status, 303, 'confirmed for a while');
});

t.test('another session is not confirmed with it, and guesses are counted', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  const other = visitor(web);
  const { secret } = await web.modules.accounts.startSession(alice.id, { address: '', userAgent: '' });
  other.cookies.set('hearth_session', secret);
  web.clock.advance(10 * 60_000);
  const token = (browser: Visitor, given: string) =>
    browser.post('/settings/tokens', { name: given, confirm_password: given });
  t.equal((await token(alice, password)).status, 303);
  t.ok(asksToConfirm(await other.post('/settings/tokens', { name: 'x' })));
  for (let tries = 0; tries < 10; tries++) await token(other, 'a wrong guess');
  const refused = await token(other, password);
  t.ok(asksToConfirm(refused));
  t.match(extractMain(refused), /Too many wrong passwords/);
});

t.test('a linked account confirms, too: what was typed waits for its person to come back', async (t) => {
  const provider = await startProvider(t);
  const web = await startWeb(t, { env: provider.settings({ sign_up: true }) });
  await provider.serve(web.origin);
  for (const name of ['dora', 'eve']) provider.accounts.set(name, { preferred_username: name });
  // An account of the provider that is of another person here.
  provider.signedIn = 'eve';
  await signInAt(provider, visitor(web));
  provider.signedIn = 'dora';
  const dora = visitor(web);
  await signInAt(provider, dora);
  const { id } = await web.modules.accounts.personByUsername('dora');
  web.clock.advance(10 * 60_000);

  const asked = await dora.post('/settings/tokens', { name: 'kept', access: 'read' });
  t.ok(asksToConfirm(asked));
  t.notMatch(extractMain(asked), /type="password"/, 'dora has none');
  const [, link = ''] = /href="(\/login\/oidc\/company\?confirm=[^"]+)"/.exec(extractMain(asked)) ?? [];
  const sent = await dora.get(link);
  t.match(new URL(sent.headers.location!).searchParams.get('max_age'), /^\d+$/, 'the provider asks again');

  provider.signedIn = 'eve';
  const another = await signInAt(provider, dora, link);
  t.equal(another.status, 403);
  t.match(extractMain(another), /That account is not linked to yours\. Use a linked account\./);
  t.ok(asksToConfirm(await dora.post('/settings/tokens', { name: 'x' })));

  provider.signedIn = 'dora';
  const again = await dora.post('/settings/tokens', { name: 'kept', access: 'read' });
  const [, next = ''] = /href="(\/login\/oidc\/company\?confirm=[^"]+)"/.exec(extractMain(again)) ?? [];
  const back = await signInAt(provider, dora, next);
  t.match(back.headers.location, /^\/login\/confirm\//);
  const waiting = await dora.get(back.headers.location!);
  t.equal(waiting.status, 200);
  t.same(fieldsOf(waiting), { name: ['kept'], access: ['read'] });
  t.match((await dora.post('/settings/tokens', fieldsOf(waiting))).headers.location, /^\/settings\/tokens\/new\//);
  t.match(await web.modules.accounts.listTokens(id), [{ name: 'kept' }]);

  const mallory = await signedIn(web, 'mallory');
  t.match((await mallory.get(back.headers.location!)).headers.location, '/?done=confirmed', 'of this session only');
  web.clock.advance(10 * 60_000);
  t.match((await dora.get(back.headers.location!)).headers.location, '/?done=confirmed', 'for a while only');

  const deleting = await dora.post('/settings/account/delete', { confirm: 'dora' });
  t.ok(asksToConfirm(deleting), 'without a password, the deletion of the account asks like all others');
});
