// The page Activity, its API and its command, with a stock git client that pushes.
import t from 'tap';
import { gitClient } from '../../e2e/git-client.ts';
import { startHearth } from '../../fixtures/start-hearth.ts';
import { sendRequest } from '../../fixtures/web-fixture.ts';
import type { PageResponse } from '../../fixtures/web-fixture.ts';

t.setTimeout(120_000);

t.test('a forced push and a deletion are shown, and undone by a form and through the API', async (t) => {
  const hearth = await startHearth(t);
  const [alice, bob] = [await hearth.addPerson('alice'), await hearth.addPerson('bob')];
  const { modules, folder } = hearth;
  const viewer = {
    kind: 'person',
    id: alice.id,
    username: 'alice',
    isAdministrator: false,
    via: 'session',
    scope: 'admin',
    repositoryIds: null,
  } as const;
  await modules.repositories.create(viewer, { name: 'kiln', visibility: 'PUBLIC' });
  const git = gitClient(folder);
  const work = `${folder}/work`;
  const remote = hearth.url.replace('://', `://x:${alice.token}@`) + '/git/alice/kiln.git';
  await git.expect(folder, 'init', '--quiet', '-b', 'main', work);
  const inWork = (...args: string[]) => git.expect(work, ...args);
  await inWork('commit', '--quiet', '--allow-empty', '-m', 'one');
  await inWork('branch', 'topic');
  await inWork('branch', 'gone');
  await inWork('checkout', '--quiet', 'topic');
  await inWork('commit', '--quiet', '--allow-empty', '-m', 'two');
  const two = await inWork('rev-parse', 'HEAD');
  await inWork('push', '--quiet', remote, 'main', 'topic', 'gone');
  await inWork('commit', '--quiet', '--amend', '--allow-empty', '-m', 'rewritten');
  await inWork('push', '--quiet', '--force', remote, 'topic');
  await inWork('push', '--quiet', remote, ':gone');
  await modules.repositories.pushes.finish();

  const port = Number(new URL(hearth.url).port);
  const get = (session: string | null, path: string): Promise<PageResponse> =>
    sendRequest({ port }, path, { headers: session === null ? {} : { Cookie: `hearth_session=${session}` } });
  const page = await get(alice.session, '/repos/alice/kiln/activity');
  t.equal(page.status, 200);
  t.match(page.body, /gone[^]*Deleted[^]*Restore gone[^]*topic[^]*Forced[^]*Restore topic to/);
  t.match(page.body, /over HTTP/);
  const asReader = await get(null, '/repos/alice/kiln/activity');
  t.match(asReader.body, /Deleted[^]*Forced/);
  t.notMatch(asReader.body, /activity\/restore/, 'who may not write gets no form');

  const fields = (body: string, about: RegExp) => {
    const [, id = '', expected = ''] = about.exec(body) ?? [];
    return { id, expected };
  };
  const form = fields(
    page.body,
    /name="id" value="([^"]+)"><input type="hidden" name="expected" value="([^"]+)"><button[^>]*>Restore gone/,
  );
  const post = (session: string, sent: Record<string, string>): Promise<PageResponse> =>
    sendRequest({ port }, '/repos/alice/kiln/activity/restore', {
      form: sent,
      headers: { Origin: hearth.url, Cookie: `hearth_session=${session}` },
    });
  t.equal((await post(bob.session, form)).status, 404);
  t.same(((response) => [response.status, response.headers.location])(await post(alice.session, form)), [
    303,
    '/repos/alice/kiln/activity?done=push-undone',
  ]);
  t.match(await post(alice.session, form), { status: 409, body: /has changed/ });
  t.match((await get(alice.session, '/repos/alice/kiln/activity')).body, /by restoring/);

  const call = (token: string | null, method: string, path: string, body?: object): Promise<PageResponse> =>
    sendRequest({ port }, `/api/v1/repos/alice/kiln${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', ...(token === null ? {} : { Authorization: `Bearer ${token}` }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  t.equal((await call(null, 'GET', '/lost-tips')).status, 401);
  const tips = JSON.parse((await call(alice.token, 'GET', '/lost-tips')).body) as {
    id: string;
    ref: string;
    oldId: string;
    person: string;
  }[];
  t.match(
    tips.map(({ ref, person }) => [ref, person]),
    [
      ['refs/heads/gone', 'alice'],
      ['refs/heads/topic', 'alice'],
    ],
  );
  const tip = tips[1]!;
  t.equal(tip.oldId, two);
  t.equal((await call(bob.token, 'POST', `/lost-tips/${tip.id}/restore`, {})).status, 404);
  t.match(JSON.parse((await call(alice.token, 'POST', `/lost-tips/${tip.id}/restore`, {})).body), {
    ref: 'refs/heads/topic',
    newId: two,
  });
  t.match(await inWork('ls-remote', remote), new RegExp(`${two}\trefs/heads/topic`));
  const pushes = JSON.parse((await call(null, 'GET', '/activity?limit=2')).body) as { via: string }[];
  t.same(
    pushes.map(({ via }) => via),
    ['undo', 'undo'],
  );
});
