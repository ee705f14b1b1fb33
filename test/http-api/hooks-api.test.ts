import t from 'tap';
import { sendRequest, startWeb } from '../fixtures/web-fixture.ts';

t.setTimeout(240_000);

t.test('webhooks in Gitea’s form', async (t) => {
  const web = await startWeb(t);
  const { accounts } = web.modules;
  const callerOf = async (username: string) => {
    const { id } = await accounts.addPerson({ username });
    const token = { name: 't', access: 'admin', repositoryIds: null, expiresAt: null } as const;
    const { secret } = await accounts.addToken(id, token);
    return async (method: string, path: string, body?: object) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const response = await sendRequest(web, `/api/v1${path}`, {
        method,
        headers: {
          Authorization: `token ${secret}`,
          ...(text && { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(text)) }),
        },
        ...(text && { body: text }),
      });
      return { ...response, json: response.body === '' ? null : JSON.parse(response.body) };
    };
  };
  const alice = await callerOf('alice');
  const bob = await callerOf('bob');
  await alice('POST', '/user/repos', { name: 'site', private: false });
  await alice('POST', '/orgs', { username: 'guild' });

  for (const at of ['/repos/alice/site/hooks', '/orgs/guild/hooks']) {
    t.same((await alice('GET', at)).json, []);
    const config = { url: 'https://ci.example.org/hook', content_type: 'form', secret: 'it is a secret' };
    const made = await alice('POST', at, {
      type: 'gitea',
      config,
      events: ['push', 'pull_request', 'issues_only', 'repository'],
      active: true,
      branch_filter: 'release/*',
      authorization_header: 'Bearer x',
    });
    t.match(made, {
      status: 201,
      json: {
        type: 'gitea',
        active: true,
        branch_filter: 'release/*',
        authorization_header: '***',
        config: { url: config.url, content_type: 'form' },
      },
    });
    t.notMatch(made.body, /it is a secret|Bearer x/);
    const { id, events } = made.json;
    t.ok(Number.isSafeInteger(id));
    t.ok(['push', 'issues', 'pull_request', 'pull_request_sync'].every((event) => events.includes(event)));
    t.notOk(events.includes('issue_comment') || events.includes('issue_label'), 'issues_only is issues alone');
    t.match((await alice('GET', `${at}/${id}`)).json, { id });
    const edited = await alice('PATCH', `${at}/${id}`, { active: false, events: ['issues'] });
    t.match(edited.json, { active: false, branch_filter: 'release/*', config: { content_type: 'form' } });
    t.ok(edited.json.events.includes('issue_comment'), 'issues stands for all about them');
    t.equal((await alice('POST', `${at}/${id}/tests`)).status, 204);
    for (const [method, path] of [
      ['GET', at],
      ['POST', at],
      ['GET', `${at}/${id}`],
      ['PATCH', `${at}/${id}`],
      ['DELETE', `${at}/${id}`],
      ['POST', `${at}/${id}/tests`],
    ] as const)
      t.match(
        (await bob(method, path, method === 'GET' || method === 'DELETE' ? undefined : { type: 'gitea', config }))
          .status,
        404,
        `${method} ${path} of somebody else`,
      );
    t.equal((await alice('GET', `${at}/99`)).status, 404);
    t.equal((await alice('DELETE', `${at}/${id}`)).status, 204);
    t.equal((await alice('DELETE', `${at}/${id}`)).status, 404);
  }

  const at = '/repos/alice/site/hooks';
  const url = 'https://chat.example.org/';
  t.match((await alice('POST', at, { type: 'slack', config: { url, channel: '#a' } })).json, {
    type: 'slack',
    events: ['push'],
    config: { channel: '#a', content_type: 'json' },
  });
  for (const body of [
    { type: 'unheard-of', config: { url } },
    { type: 'gitea', config: {} },
    { type: 'gitea', config: { url: 'file:///etc/passwd' } },
    { type: 'gitea', config: { url }, branch_filter: 'a b' },
    { type: 'gitea', config: { url }, authorization_header: 'a\nb' },
    { type: 'gitea', config: { url }, events: ['unheard-of'] },
  ])
    t.equal((await alice('POST', at, body)).status, 422, JSON.stringify(body));
});
