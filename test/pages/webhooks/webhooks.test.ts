// The pages, the API and the command of webhooks, on a whole Hearth with a receiver beside it.
import t from 'tap';
import { startHearth } from '../../fixtures/start-hearth.ts';
import { startReceiver } from '../../webhooks/receiver.ts';
import { sendRequest } from '../../fixtures/web-fixture.ts';
import type { PageResponse } from '../../fixtures/web-fixture.ts';

t.setTimeout(120_000);

t.test('an owner adds, tries, looks at, changes and removes a webhook in the browser', async (t) => {
  const target = await startReceiver(t);
  const hearth = await startHearth(t, {
    env: { SERVICE_WEBHOOKS_ALLOWED_HOSTS: target.host },
  });
  const [alice, bob] = [await hearth.addPerson('alice'), await hearth.addPerson('bob')];
  const { repositories, organisations, webhooks, owners } = hearth.modules;
  const viewer = {
    kind: 'person',
    id: alice.id,
    username: 'alice',
    isAdministrator: false,
    via: 'session',
    scope: 'admin',
    repositoryIds: null,
  } as const;
  await repositories.create(viewer, { name: 'kiln', visibility: 'PUBLIC' });
  await organisations.create(viewer, { name: 'guild' });
  const port = Number(new URL(hearth.url).port);
  const get = (session: string, path: string): Promise<PageResponse> =>
    sendRequest({ port }, path, { headers: { Cookie: `hearth_session=${session}` } });
  const post = (session: string, path: string, form: Record<string, string | string[]> = {}): Promise<PageResponse> =>
    sendRequest({ port }, path, { form, headers: { Origin: hearth.url, Cookie: `hearth_session=${session}` } });
  const list = '/repos/alice/kiln/settings/webhooks';

  t.equal((await get(bob.session, list)).status, 404);
  t.match((await get(alice.session, '/repos/alice/kiln/settings')).body, /settings\/webhooks/);
  const refused = await post(alice.session, list, {
    url: 'https://127.0.0.1/',
    secret: 'not to be seen',
    events: ['push', 'run'],
    active: 'yes',
  });
  t.match(refused, { status: 422, body: /webhooks\.allowed_hosts/ });
  t.match(refused.body, /value="https:\/\/127\.0\.0\.1\/"[^]*value="run" checked/, 'what was typed stays');
  t.notMatch(refused.body, /not to be seen/);
  t.match(await post(alice.session, list, { url: target.url, active: 'yes' }), {
    status: 422,
    body: /Choose at least one event/,
  });

  const added = await post(alice.session, list, {
    url: target.url,
    secret: 'not to be seen',
    events: ['push', 'run'],
    active: 'yes',
  });
  t.equal(added.status, 303);
  const page = added.headers.location!.replace(/\?.*/, '');
  const risk = /Without TLS, anyone on the network path can read each message/;
  t.match((await get(alice.session, list)).body, risk, 'beside the field');
  t.equal((await get(alice.session, page)).body.split(risk).length, 3, 'and at the head of one that uses http');
  t.match((await get(alice.session, list)).body, new RegExp(`${target.host}[^]*push, run finished`));
  t.equal((await post(bob.session, `${page}/test`)).status, 404);
  t.equal((await post(alice.session, `${page}/test`)).status, 303);
  await webhooks.drain();
  t.equal(target.got.length, 1);
  t.match((await get(alice.session, page)).body, /Delivered, 200[^]*It works\.[^]*thanks/);
  const [, delivery] = /deliveries\/(\d+)\/redeliver/.exec((await get(alice.session, page)).body)!;
  await post(alice.session, `${page}/deliveries/${delivery}/redeliver`);
  await webhooks.drain();
  t.match((await get(alice.session, page)).body, /Redelivery/);
  t.equal((await post(alice.session, `${page}/deliveries/x/redeliver`)).status, 404);
  t.match((await post(alice.session, page, { url: target.url, events: ['create'] })).headers.location, /webhook-saved/);
  t.match((await get(alice.session, list)).body, />Inactive</);
  t.match((await post(alice.session, `${page}/delete`)).headers.location, /webhook-removed/);
  t.equal((await get(alice.session, page)).status, 404);

  const ofGuild = await post(alice.session, '/orgs/guild/settings/webhooks', {
    url: target.url,
    events: ['push'],
    active: 'yes',
  });
  t.match(ofGuild.headers.location, /^\/orgs\/guild\/settings\/webhooks\//);
  t.equal((await get(bob.session, '/orgs/guild/settings/webhooks')).status, 404);
  const guild = (await owners.resolve('guild'))!;
  const [hook] = await webhooks.list({ kind: 'organisation', id: guild.id });
  t.equal((await get(alice.session, `${list}/${hook!.id}`)).status, 404, 'not through another place');

  const call = (token: string | null, method: string, path: string, body?: object): Promise<PageResponse> =>
    sendRequest({ port }, `/api/v1${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', ...(token === null ? {} : { Authorization: `Bearer ${token}` }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const json = ({ body }: PageResponse): never => JSON.parse(body) as never;
  const made = await call(alice.token, 'POST', '/repos/alice/kiln/webhooks', {
    url: target.url,
    events: ['push'],
    secret: 'not to be seen',
  });
  t.match([made.status, json(made)], [201, { hasSecret: true, active: true, events: ['push'] }]);
  t.notMatch(made.body, /not to be seen/);
  const { id } = json(made) as { id: string };
  t.equal((await call(bob.token, 'GET', '/repos/alice/kiln/webhooks')).status, 404);
  t.equal((await call(null, 'GET', '/repos/alice/kiln/webhooks')).status, 401);
  t.match(json(await call(alice.token, 'GET', '/orgs/guild/webhooks')), [{ id: hook!.id }]);
  const queued = json(await call(alice.token, 'POST', `/repos/alice/kiln/webhooks/${id}/test`)) as { id: number };
  await webhooks.drain();
  t.match(json(await call(alice.token, 'GET', `/repos/alice/kiln/webhooks/${id}/deliveries`)), [
    { id: queued.id, state: 'DELIVERED', status: 200, response: 'thanks' },
  ]);
  t.equal(
    (await call(alice.token, 'POST', `/repos/alice/kiln/webhooks/${id}/deliveries/${queued.id}/redeliver`)).status,
    200,
  );
  t.match(
    json(
      await call(alice.token, 'PUT', `/repos/alice/kiln/webhooks/${id}`, {
        url: target.url,
        events: ['run'],
        active: false,
      }),
    ),
    { events: ['run'], active: false, hasSecret: true },
  );
  t.equal((await call(alice.token, 'DELETE', `/repos/alice/kiln/webhooks/${id}`)).status, 204);
  t.equal((await call(alice.token, 'DELETE', `/repos/alice/kiln/webhooks/${id}`)).status, 404);
});
