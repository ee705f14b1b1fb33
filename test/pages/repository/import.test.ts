// Three fields move a repository in, and its page shows how far it is, what did not come and what is to be done.
import t from 'tap';
import { localAdministrator } from '../../../src/access/index.ts';
import { freePort } from '../../fixtures/free-port.ts';
import { startHearth } from '../../fixtures/start-hearth.ts';
import { sendRequest } from '../../fixtures/web-fixture.ts';
import type { PageResponse } from '../../fixtures/web-fixture.ts';
import { startGiteaStub } from '../../imports/gitea-stub.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';

t.setTimeout(120_000);

t.test('a repository is imported by a form, runs again and is switched over', async (t) => {
  const port = await freePort();
  const forge = await startGiteaStub(t, { port, pageSize: 50 });
  forge.world.repository['description'] = 'A <b>tool</b>';
  const number = forge.addIssue({ title: '' });
  forge.addComment(number, 'A comment');
  const here = await startHearth(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: forge.host } });
  const [alice, bob] = [await here.addPerson('alice'), await here.addPerson('bob')];
  const web = { port: Number(new URL(here.url).port) };
  const get = (session: string, path: string): Promise<PageResponse> =>
    sendRequest(web, path, { headers: { Cookie: `hearth_session=${session}` } });
  const post = (session: string, path: string, form: Record<string, string>): Promise<PageResponse> =>
    sendRequest(web, path, { form, headers: { Origin: here.url, Cookie: `hearth_session=${session}` } });

  t.match((await get(alice.session, '/repos/new')).body, /href="\/repos\/import"/);
  t.match((await get(alice.session, '/repos/import')).body, /name="address"[^]*name="token"[^]*name="name"/);
  const address = `${forge.url}/bob/tool`;
  const refused = await post(alice.session, '/repos/import', { address, token: 'not-this-one', name: '' });
  t.equal(refused.status, 422);
  t.match(refused.body, /does not accept the token/);
  t.match(refused.body, new RegExp(`value="${address}"`));
  t.notMatch(refused.body, /not-this-one/, 'a token does not travel back');

  // The first question of the run has no answer yet: the page shows the run.
  forge.fail({ pattern: /\/labels/, hangs: true, times: 1 });
  const begun = await post(alice.session, '/repos/import', {
    address,
    token: forge.world.token,
    name: '',
    watch: 'yes',
  });
  t.equal(begun.status, 303);
  const page = begun.headers.location!.replace(/\?.*/, '');
  t.equal(page, '/repos/alice/tool/settings/import');
  const found = await here.modules.repositories.find({ kind: 'anonymous' } as never, 'alice', 'tool').catch(() => null);
  t.equal(found, null, 'it is private until all is here');
  const shown = await get(alice.session, page);
  t.match(shown.body, /http-equiv="refresh"/);
  t.match(shown.body, /<ol class="rows">[^]*aria-current="step"/, 'its steps are rows, and one of them is now');
  t.match(
    shown.body,
    /aria-current="page" href="\/repos\/alice\/tool\/settings\/import"|settings\/import" aria-current="page"/,
  );
  t.match((await get(alice.session, page.replace(/import$/, 'mirror'))).body, new RegExp(`href="${page}"`));
  t.equal((await get(bob.session, page)).status, 404);

  const located = await here.modules.repositories.find(
    {
      kind: 'person',
      id: alice.id,
      username: 'alice',
      isAdministrator: false,
      via: 'session',
      scope: 'admin',
      repositoryIds: null,
    },
    'alice',
    'tool',
  );
  await waitUntil(() => forge.requests.some(({ path }) => path.includes('/labels')));
  forge.cut();
  await here.modules.imports.runDue();
  const { state } = (await here.modules.imports.find(located.repository.id))!;
  t.equal(state, 'done');
  const done = await get(alice.session, page);
  t.notMatch(done.body, /http-equiv="refresh"/);
  t.match(done.body, /Up to date[^]*#1[^]*it had no title/);
  t.equal((await get(bob.session, '/repos/alice/tool/settings/import')).status, 404);

  forge.addComment(number, 'Another one');
  t.equal((await post(alice.session, `${page}/run`, { token: '' })).status, 303);
  await here.modules.imports.runDue();
  t.match((await get(alice.session, `/repos/alice/tool/issues/${number}`)).body, /Another one/);
  t.equal((await post(bob.session, `${page}/switch-over`, {})).status, 404);
  t.equal((await post(alice.session, `${page}/switch-over`, {})).status, 303);
  await here.modules.imports.runDue();
  const over = await get(alice.session, page);
  t.match(over.body, /Switched over[^]*The import ended: <time[^]*Nothing more comes from the source/);
  t.notMatch(over.body, /<button[^>]*>Run again/);
  const again = await post(alice.session, `${page}/run`, {});
  t.match([again.status, /no longer follows the source/.test(again.body)], [409, true]);

  // An address without the name of a repository means all that the account has.
  forge.addRepository('bob/shed').addIssue();
  const all = { address: `${forge.url}/bob`, token: forge.world.token, name: '', watch: '' };
  const order = await post(alice.session, '/repos/import', all);
  t.equal(order.status, 303);
  const orderPage = order.headers.location!.replace(/\?.*/, '');
  t.match(orderPage, /^\/repos\/import\/[0-9a-f-]{36}$/);
  await here.modules.imports.runDue();
  const listed = await get(alice.session, orderPage);
  t.match(listed.body, /2 of 2 repositories are here[^]*href="\/repos\/alice\/shed\/settings\/import"[^]*bob\/shed/);
  t.match((await get(alice.session, '/repos/import')).body, new RegExp(`href="${orderPage}"[^]*2 of 2`));
  t.equal((await get(bob.session, orderPage)).status, 404);
  for (const path of ['run', 'switch-over']) t.equal((await post(bob.session, `${orderPage}/${path}`, {})).status, 404);
  t.equal((await post(alice.session, `${orderPage}/switch-over`, {})).status, 303);
  await here.modules.imports.runDue();
  const whole = await post(alice.session, '/repos/import', { ...all, address: forge.url });
  t.match([whole.status, /Only an administrator can import/.test(whole.body)], [422, true]);

  // One that was ended by hand says so, with what can be done next.
  const mine = await post(alice.session, '/repos/import', { address, token: forge.world.token, name: 'mine' });
  const minePage = mine.headers.location!.replace(/\?.*/, '');
  await here.modules.imports.runDue();
  const { repository } = await here.modules.repositories.find(localAdministrator, 'alice', 'mine');
  t.notMatch((await get(alice.session, minePage)).body, /The import ended/);
  await here.modules.imports.end(localAdministrator, repository.id);
  const ended = (await get(alice.session, minePage)).body;
  t.match(ended, /Ended\s*<[^]*The import ended: <time[^]*import it as a new repository/);
  t.notMatch(ended, /Switched over|<button[^>]*>Run again/);
});
