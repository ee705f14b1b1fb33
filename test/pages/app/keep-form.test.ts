import t from 'tap';
import { localAdministrator } from '../../../src/access/index.ts';
import { fillRepository, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';

t.setTimeout(120_000);

t.test('a form whose session has ended comes back with all that was entered, for every place alike', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  for (const [name, visibility] of [
    ['open', 'PUBLIC'],
    ['hidden', 'PRIVATE'],
  ] as const) {
    const { id } = await web.modules.repositories.create(localAdministrator, { owner: 'alice', name, visibility });
    t.ok(id);
    const { path } = await web.modules.repositories.find(localAdministrator, 'alice', name);
    await fillRepository(t, path, { 'a.txt': 'a\n' });
    await alice.post(`/repos/alice/${name}/issues/new`, { title: 'One', body: 'x' });
  }
  const signedOut = visitor(web);
  const from = { Referer: `${web.origin}/repos/alice/open/issues/1` };
  const text = 'Line <one>\n\n"Line" & two';
  const kept = (body: string): string[] =>
    [...body.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(
      ([, name, value]) => `${name}=${value}`,
    );

  for (const [target, form, status] of [
    ['/repos/alice/open/issues/1/comments', { body: text, action: 'comment' }, 403],
    ['/repos/alice/hidden/issues/1/comments', { body: text, action: 'comment' }, 404],
    ['/repos/alice/absent/issues/1/comments', { body: text, action: 'comment' }, 404],
    ['/repos/alice/open/issues/new', { title: 'T', body: text }, 403],
    ['/repos/alice/open/edit/main/a.txt', { path: 'a.txt', text, blob: 'x', message: 'm' }, 403],
    ['/repos/alice/open/settings', { description: text, default_branch: 'main' }, 404],
    ['/settings/profile', { display_name: 'Alice', bio: text }, 403],
  ] as const) {
    const answer = await signedOut.post(target, form, from);
    t.equal(answer.status, status, target);
    // The forms of issues come back as they are; every other one in the page that keeps it.
    if (!answer.body.includes('Sign in from another tab, then send this again')) {
      t.match(answer.headers, { 'cache-control': 'no-store' }, target);
      t.match(answer.body, 'href="/login?next=%2Frepos%2Falice%2Fopen%2Fissues%2F1"', target);
      t.strictSame(
        kept(answer.body).map((field) => field.split('=')[0]),
        Object.keys(form),
        `all fields of ${target}`,
      );
      t.notMatch(answer.body, `action="${target}`, 'the address is not repeated');
    }
    t.match(answer.body, '>\nLine &lt;one&gt;\n\n&quot;Line&quot; &amp; two</textarea>', target);
  }
  const [hidden, absent] = await Promise.all(
    ['hidden', 'absent'].map((name) => signedOut.post(`/repos/alice/${name}/issues/1/comments`, { body: text }, from)),
  );
  t.equal(hidden!.body, absent!.body, 'hidden and absent are the same page');

  t.match(await signedOut.post('/settings/profile', { bio: text }), { status: 303 }, 'no browser');
  const foreign = { Referer: 'https://example.org/' };
  t.match(await signedOut.post('/settings/profile', { bio: text }, foreign), { status: 303 });
  const secrets = { password: 'sesame', new_password: 'open', title: 'Laptop' };
  const answer = await signedOut.post('/settings/account/password', secrets, from);
  t.notMatch(answer.body, /sesame|"open"/, 'no secret goes back');

  t.test('after a new sign-in the same form is sent again', async (t) => {
    const again = await alice.post('/repos/alice/open/issues/1/comments', { body: text, action: 'comment' }, from);
    t.equal(again.status, 303);
    t.match((await alice.get('/repos/alice/open/issues/1')).body, '"Line" &amp; two');
  });
});

t.test('a form with files keeps its fields', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  await alice.post('/repos', { name: 'open', visibility: 'PUBLIC' });
  await alice.post('/repos/alice/open/issues/new', { title: 'One', body: 'x' });
  const form = new FormData();
  form.append('body', 'Kept');
  form.append('files', new Blob(['x'.repeat(200_000)]), 'x.txt');
  const target = `${web.origin}/repos/alice/open/issues/1/comments`;
  const headers = { Origin: web.origin, Referer: `${web.origin}/repos/alice/open/issues/1` };
  const answer = await fetch(target, { method: 'POST', body: form, headers, redirect: 'manual' });
  t.equal(answer.status, 403);
  t.match(await answer.text(), /name="body" value="Kept"/);
});
