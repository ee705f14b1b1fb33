import t from 'tap';
import { createHmac } from 'node:crypto';
import type { WebhookScope } from '../../src/webhooks/index.ts';
import { webhookEventNames } from '../../src/cli/commands/webhook.ts';
import { numericId } from '../../src/gitea-shapes/index.ts';
import { webhookEvents } from '../../src/webhooks/index.ts';
import { classifyStatus } from '../../src/webhooks/classify-status.ts';
import { openCi, reasonOf, workflow } from '../ci/ci-fixture.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { push, sampleHistory, zeroId } from '../repositories/repositories-fixture.ts';
import { insertDelivery } from './insert-delivery.ts';
import { startReceiver } from './receiver.ts';

const main = 'refs/heads/main';
const minuteMs = 60_000;

async function openWorld(t: Owner, { alsoAllowed = [] as string[] } = {}) {
  const target = await startReceiver(t);
  const fixture = await openCi(t, {
    env: {
      SERVICE_BASE_URL: 'http://git.example.lan',
      SERVICE_WEBHOOKS_ALLOWED_HOSTS: [target.host, ...alsoAllowed].join(),
    },
  });
  const { webhooks, repositories } = fixture.modules;
  const scope: WebhookScope = { kind: 'repository', id: fixture.found.repository.id };
  const history = sampleHistory(fixture.folder);
  const send = async (...commands: string[]): Promise<void> => {
    const onlyDeletes = commands.every((command) => command.split(' ')[1] === zeroId);
    const { report } = await push(
      fixture.modules,
      fixture.viewer,
      'alice/work',
      commands,
      onlyDeletes ? {} : { pack: history.pack },
    );
    if (!report.every((line) => line.startsWith('ok '))) throw new Error(report.join());
    await repositories.stop();
    await webhooks.drain();
  };
  const add = (input: { url?: string; secret?: string; events?: string[] } = {}) =>
    webhooks.add(fixture.viewer, scope, { url: target.url, events: ['push', 'create', 'delete', 'run'], ...input });
  const list = (id: string) => webhooks.listDeliveries(scope, id, { limit: 50 });
  return { ...fixture, webhooks, target, scope, history, send, add, list };
}

t.test('a push is delivered in Gitea’s form, signed in the forms of Gitea and GitHub', async (t) => {
  const { add, send, target, history, list, alice } = await openWorld(t);
  const { id } = await add({ secret: 'it is a secret', events: ['push'] });
  await send(`${zeroId} ${history.commits[0]} ${main}`);
  await send(`${history.commits[0]} ${history.commits[2]} ${main}`);
  t.equal(target.got.length, 2);
  const { headers, body } = target.got[1]!;
  const signature = createHmac('sha256', 'it is a secret').update(body).digest('hex');
  t.match(headers, {
    'content-type': 'application/json',
    'user-agent': /^Hearth\/\S+ \(\+http:\/\/git\.example\.lan\)$/,
    'x-gitea-event': 'push',
    'x-github-event': 'push',
    'x-gitea-signature': signature,
    'x-hub-signature-256': `sha256=${signature}`,
    'x-gitea-delivery': /^[0-9a-f-]{36}$/,
  });
  t.match(JSON.parse(body.toString()), {
    ref: main,
    before: history.commits[0],
    after: history.commits[2],
    total_commits: 2,
    compare_url: `http://git.example.lan/repos/alice/work/compare/${history.commits[0]}...${history.commits[2]}`,
    commits: [
      { id: history.commits[2], message: 'three\n', added: [], author: { name: /./, email: /@/ } },
      { id: history.commits[1] },
    ],
    head_commit: { id: history.commits[2] },
    repository: {
      name: 'work',
      full_name: 'alice/work',
      private: true,
      default_branch: 'main',
      clone_url: 'http://git.example.lan/git/alice/work.git',
      owner: { login: 'alice' },
    },
    pusher: { login: 'alice', username: 'alice' },
    sender: { id: Number.parseInt(alice.id.replaceAll('-', '').slice(0, 12), 16) },
  });
  t.match(
    JSON.parse(target.got[0]!.body.toString()),
    { before: zeroId, commits: [{ added: ['hello'], modified: [] }] },
    'the names of the files',
  );
  t.match(await list(id), [
    { state: 'DELIVERED', attempts: 1, status: 200, response: 'thanks', error: null },
    { state: 'DELIVERED' },
  ]);
});

t.test('what is made and deleted has events of its own, and each webhook receives the events it chose', async (t) => {
  const { add, send, target, history } = await openWorld(t);
  await add({ events: ['create', 'delete'] });
  await send(`${zeroId} ${history.commits[1]} ${main}`, `${zeroId} ${history.commits[0]} refs/tags/v1`);
  await send(`${history.commits[1]} ${history.commits[2]} ${main}`);
  await send(`${history.commits[0]} ${zeroId} refs/tags/v1`);
  await send(`${zeroId} ${history.commits[0]} refs/notes/review`);
  t.equal(target.got.length, 3, 'notes are no branches or tags');
  t.match(
    target.got.map(({ headers, body }) => [headers['x-gitea-event'], JSON.parse(body.toString())]),
    [
      ['create', { ref: 'main', ref_type: 'branch', sha: history.commits[1] }],
      ['create', { ref: 'v1', ref_type: 'tag' }],
      ['delete', { ref: 'v1', ref_type: 'tag', pusher_type: 'user', repository: { full_name: 'alice/work' } }],
    ],
  );
  t.equal(target.got[0]!.headers['x-gitea-signature'], undefined, 'no secret, no signature');
});

t.test('what does not arrive is tried again, later each time, and given up in the end', async (t) => {
  const { add, send, target, history, list, webhooks, clock } = await openWorld(t);
  const { id } = await add({ events: ['push'] });
  target.responses.splice(0, 1, [500, 'x'.repeat(10_000)]);
  await send(`${zeroId} ${history.commits[0]} ${main}`);
  const [first] = await list(id);
  t.match(first, { state: 'PENDING', attempts: 1, status: 500, error: 'It answered with status 500.' });
  t.equal(first!.response!.length, 4096, 'the answer is trimmed');
  for (const [at, minutes] of [1, 2, 4, 8, 16, 32, 60].entries()) {
    const [row] = await list(id);
    const { nextAttemptAt, triedAt, tookMs } = row!;
    t.equal(nextAttemptAt, triedAt! + tookMs! + minutes * minuteMs, `${minutes} minutes after attempt ${at + 1}`);
    clock.advance(nextAttemptAt - clock.now() - 1);
    t.equal(await webhooks.drain(), 0);
    clock.advance(1);
    t.equal(await webhooks.drain(), 1);
  }
  t.match(await list(id), [{ state: 'FAILED', attempts: 8 }]);
  clock.advance(120 * minuteMs);
  t.equal(await webhooks.drain(), 0);
  const sent = new Set(
    target.got.map(({ body, headers }) => `${String(headers['x-gitea-delivery'])} ${body.toString()}`),
  );
  t.equal(sent.size, 1, 'the same bytes under the same id each time');
});

t.test('a permanent failure is not retried; a redirect is not followed', async (t) => {
  const elsewhere = await startReceiver(t);
  const { add, send, target, history, list } = await openWorld(t, { alsoAllowed: [elsewhere.host] });
  const { id } = await add({ events: ['push'], secret: 'it is a secret' });
  target.responses.splice(0, 1, [404, 'who?'], [302, '']);
  await send(`${zeroId} ${history.commits[0]} ${main}`);
  await send(`${history.commits[0]} ${history.commits[1]} ${main}`);
  t.match(await list(id), [
    { state: 'FAILED', attempts: 1, status: 302, error: /redirect/ },
    { state: 'FAILED', attempts: 1, status: 404, response: 'who?' },
  ]);

  target.elsewhere = elsewhere.url;
  const before = target.got.length;
  for (const status of [301, 303, 307, 308]) {
    target.responses.splice(0, target.responses.length, [status, '']);
    await send(`${zeroId} ${history.commits[0]} refs/heads/moved-${status}`);
    t.match((await list(id))[0], { state: 'FAILED', attempts: 1, status }, `${status}`);
  }
  t.equal(target.got.length - before, 4);
  t.strictSame(elsewhere.got, [], 'neither a payload nor a signature goes anywhere else');
});

t.test('a response that says to come again later is no final one: 408, 429 and all of 5xx', async (t) => {
  const again = [408, 429, 500, 502, 503, 504, 599];
  for (const status of again)
    t.match(classifyStatus(status), { mayRetry: true, error: `status ${status}` }, `${status}`);
  for (const status of [301, 302, 308, 400, 401, 403, 404, 407, 409, 410, 422, 428, 430, 451])
    t.match(classifyStatus(status), { mayRetry: false, error: String }, `${status}`);
  for (const status of [200, 201, 204]) t.strictSame(classifyStatus(status), { mayRetry: false, error: null });

  const { add, send, target, history, list, webhooks, clock } = await openWorld(t);
  const { id } = await add({ events: ['push'] });
  target.responses.splice(0, 1, [429, 'slowly'], [408, 'too slow'], [200, 'thanks']);
  await send(`${zeroId} ${history.commits[0]} ${main}`);
  t.match((await list(id))[0], { state: 'PENDING', attempts: 1, status: 429 });
  clock.advance(2 * minuteMs);
  await webhooks.drain();
  t.match((await list(id))[0], { state: 'PENDING', attempts: 2, status: 408 });
  clock.advance(3 * minuteMs);
  await webhooks.drain();
  t.match((await list(id))[0], { state: 'DELIVERED', attempts: 3, status: 200 });
});

t.test('a redelivery is a delivery of its own; the old one stays', async (t) => {
  const { add, send, target, history, list, webhooks, scope } = await openWorld(t);
  const { id } = await add({ events: ['push'] });
  target.responses.splice(0, 1, [404, ''], [200, 'now']);
  await send(`${zeroId} ${history.commits[0]} ${main}`);
  const [failed] = await list(id);
  await webhooks.redeliver(scope, id, failed!.id);
  await webhooks.drain();
  t.match(await list(id), [{ state: 'DELIVERED', redeliveryOf: failed!.id, response: 'now' }, { state: 'FAILED' }]);
  t.same(target.got[1]!.body, target.got[0]!.body);
  t.equal(await reasonOf(webhooks.redeliver(scope, id, 999)), 'delivery_not_found');
  t.equal(await reasonOf(webhooks.redeliver({ kind: 'organisation', id: 'o' }, id, failed!.id)), 'webhook_not_found');
});

t.test('a test goes out without a push', async (t) => {
  const { add, send, target, history, webhooks, scope } = await openWorld(t);
  const { id } = await add({ events: ['create'] });
  await webhooks.test(scope, id);
  await webhooks.drain();
  t.equal(target.got[0]!.headers['x-gitea-event'], 'ping');
  await send(`${zeroId} ${history.commits[1]} ${main}`);
  await webhooks.test(scope, id);
  await webhooks.drain();
  t.equal(target.got.at(-1)!.headers['x-gitea-event'], 'push');
  t.match(JSON.parse(target.got.at(-1)!.body.toString()), {
    before: history.commits[0],
    after: history.commits[1],
    total_commits: 1,
  });
});

t.test('the end of a run is delivered once, with how it ended', async (t) => {
  const { add, target, push: pushFiles, addRunner, webhooks, ci } = await openWorld(t);
  await add({ events: ['run'] });
  await pushFiles(workflow('name: CI\non: push\njobs:\n  build:\n    runs-on: linux\n    steps: [{run: make}]\n'));
  await webhooks.drain();
  t.same(target.got, [], 'not before its end');
  const runner = await addRunner(['linux']);
  const task = (await runner.fetch())!;
  await runner.finish(task.taskId, 'failure');
  await webhooks.drain();
  t.equal(target.got.length, 1);
  t.equal(target.got[0]!.headers['x-github-event'], 'workflow_run');
  t.match(JSON.parse(target.got[0]!.body.toString()), {
    action: 'completed',
    workflow_run: {
      run_number: 1,
      run_attempt: 1,
      conclusion: 'failure',
      status: 'completed',
      head_branch: 'main',
      name: 'CI',
      html_url: 'http://git.example.lan/repos/alice/work/runs/1',
    },
    repository: { full_name: 'alice/work' },
    sender: { login: 'alice' },
  });
  await ci.sweep();
  await webhooks.drain();
  t.equal(target.got.length, 1);
});

t.test('an organisation’s webhook receives events of all that it owns, and of nothing else', async (t) => {
  const { target, modules, viewer, history, webhooks } = await openWorld(t);
  await modules.organisations.create(viewer, { name: 'guild' });
  await modules.repositories.create(viewer, { owner: 'guild', name: 'tool', visibility: 'PRIVATE' });
  const owner = (await modules.owners.resolve('guild'))!;
  await webhooks.add(viewer, { kind: 'organisation', id: owner.id }, { url: target.url, events: ['push'] });
  await push(modules, viewer, 'guild/tool', [`${zeroId} ${history.commits[0]} ${main}`], { pack: history.pack });
  await push(modules, viewer, 'alice/work', [`${zeroId} ${history.commits[0]} ${main}`], { pack: history.pack });
  await modules.repositories.stop();
  await webhooks.drain();
  t.same(
    target.got.map(
      ({ body }) => (JSON.parse(body.toString()) as { repository: { full_name: string } }).repository.full_name,
    ),
    ['guild/tool'],
  );
});

t.test(
  'security G01 a private address is refused unless an administrator listed it, and the refusal names the setting',
  async (t) => {
    const { add, target } = await openWorld(t);
    const port = Number(target.host.split(':')[1]);
    for (const url of [
      'https://127.0.0.1/',
      'https://10.0.0.1/',
      'https://[::1]/',
      'https://0x7f.1/',
      `https://127.0.0.1:${port + 1}/`,
    ]) {
      const refusal = await add({ url }).then(
        () => null,
        (error: { reason: string; message: string }) => error,
      );
      t.match(
        refusal,
        { reason: 'invalid_webhook_url', message: /not a public address.*webhooks\.allowed_hosts/ },
        url,
      );
    }
    for (const url of [
      'http://hooks.example.org/',
      'ftp://hooks.example.org/',
      'nonsense',
      'https://alice:pw@hooks.example.org/',
    ]) {
      t.equal(await reasonOf(add({ url })), 'invalid_webhook_url', url);
    }
    t.ok(await add({ url: 'https://hooks.example.org/x' }), 'a public name needs no entry');
  },
);

t.test('a name that leads inside is refused when the connection is made', async (t) => {
  const { add, send, history, list, target } = await openWorld(t);
  // The hosts file of any machine knows it.
  const { id } = await add({ url: 'https://localhost/', events: ['push'] });
  await send(`${zeroId} ${history.commits[0]} ${main}`);
  t.match(await list(id), [{ status: null, error: /not public.*webhooks\.allowed_hosts/ }]);
  t.same(target.got, []);
});

t.test('the secret is stored encrypted, never returned, and stays when none is given', async (t) => {
  const { add, webhooks, scope, viewer, db, target, send, history, log } = await openWorld(t);
  const hook = await add({ secret: 'tell nobody', events: ['push'] });
  t.notMatch(
    JSON.stringify([hook, await webhooks.list(scope), log, await db.read.query('SELECT * FROM webhooks')]),
    /tell nobody/,
  );
  t.equal(hook.hasSecret, true);
  await webhooks.edit(viewer, scope, hook.id, { url: hook.url, events: ['push'], secret: '' });
  await send(`${zeroId} ${history.commits[0]} ${main}`);
  t.equal(
    target.got[0]!.headers['x-gitea-signature'],
    createHmac('sha256', 'tell nobody').update(target.got[0]!.body).digest('hex'),
  );
  t.equal(
    (await webhooks.edit(viewer, scope, hook.id, { url: hook.url, events: ['push'], secret: null })).hasSecret,
    false,
  );
});

t.test('one that is switched off receives nothing; one that is removed takes its queue along', async (t) => {
  const { add, webhooks, scope, viewer, send, history, target, db } = await openWorld(t);
  const hook = await add({ events: ['push'] });
  await webhooks.edit(viewer, scope, hook.id, { url: hook.url, events: ['push'], isActive: false });
  await send(`${zeroId} ${history.commits[0]} ${main}`);
  t.same(target.got, []);
  await webhooks.test(scope, hook.id);
  await webhooks.drain();
  const elsewhere = { kind: 'organisation', id: scope.id } as const;
  t.equal(await reasonOf(webhooks.remove(viewer, elsewhere, hook.id)), 'webhook_not_found', 'of another place');
  await webhooks.remove(viewer, scope, hook.id);
  t.same(await db.read.query('SELECT * FROM webhook_deliveries'), []);
  t.equal(await reasonOf(webhooks.find(scope, hook.id)), 'webhook_not_found');
  t.equal(await reasonOf(add({ events: [] })), 'no_events');
  t.equal(await reasonOf(add({ events: ['star'] })), 'unknown_event');
  t.equal(await reasonOf(add({ secret: 'x'.repeat(501) })), 'invalid_webhook_secret');
});

t.test('the claim of a killed process is sent once the claim is over; what is old goes', async (t) => {
  const { add, webhooks, scope, db, clock, target } = await openWorld(t);
  const { id } = await add();
  await db.write((tx) =>
    insertDelivery(tx, {
      uuid: 'u',
      webhook_id: id,
      event: 'ping',
      payload: '{}',
      state: 'PENDING',
      next_attempt_at: tx.now,
      locked_until: tx.now + 600_000,
      created_at: tx.now,
    }),
  );
  t.equal(await webhooks.drain(), 0);
  clock.advance(600_001);
  t.equal(await webhooks.drain(), 1);
  t.equal(target.got.length, 1);
  clock.advance(31 * 24 * 60 * minuteMs);
  t.equal(await webhooks.removeOld(), 1);
  t.same(await webhooks.listDeliveries(scope, id, { limit: 5 }), []);
});

t.test('an organisation’s webhook that is off receives nothing, as one of a repository', async (t) => {
  const { target, modules, viewer, history, webhooks } = await openWorld(t);
  await modules.organisations.create(viewer, { name: 'guild' });
  await modules.repositories.create(viewer, { owner: 'guild', name: 'tool', visibility: 'PRIVATE' });
  const scope: WebhookScope = { kind: 'organisation', id: (await modules.owners.resolve('guild'))!.id };
  const input = { url: target.url, events: ['push', 'create'] };
  const hook = await webhooks.add(viewer, scope, { ...input, isActive: false });
  const pushTo = async (...commands: string[]): Promise<void> => {
    await push(modules, viewer, 'guild/tool', commands, { pack: history.pack });
    await modules.repositories.stop();
    await webhooks.drain();
  };
  await pushTo(`${zeroId} ${history.commits[0]} ${main}`);
  t.strictSame(await webhooks.listDeliveries(scope, hook.id, { limit: 5 }), []);
  t.strictSame(target.got, []);
  await webhooks.edit(viewer, scope, hook.id, { ...input, isActive: true });
  await pushTo(`${history.commits[0]} ${history.commits[1]} ${main}`);
  t.equal(target.got.length, 1, 'switched on it does');
});

t.test('a claimed delivery is left alone, beside one that is free; what is on its way is never old', async (t) => {
  const { add, webhooks, db, clock, target, list } = await openWorld(t);
  const { id } = await add();
  const queue = (uuid: string, lockedUntil: number, nextAt: number) =>
    db.write((tx) =>
      insertDelivery(tx, {
        uuid,
        webhook_id: id,
        event: 'ping',
        payload: '{}',
        state: 'PENDING',
        next_attempt_at: nextAt,
        locked_until: lockedUntil,
        created_at: tx.now,
      }),
    );
  await queue('claimed', clock.now() + 600_000, clock.now());
  await queue('free', 0, clock.now());
  await queue('later', 0, clock.now() + 40 * 24 * 60 * minuteMs);
  t.equal(await webhooks.drain(), 1);
  t.strictSame(
    target.got.map(({ headers }) => headers['x-gitea-delivery']),
    ['free'],
  );
  clock.advance(31 * 24 * 60 * minuteMs);
  t.equal(await webhooks.removeOld(), 1, 'the one that has arrived');
  t.strictSame(
    (await list(id)).map(({ uuid, state }) => [uuid, state]),
    [
      ['later', 'PENDING'],
      ['claimed', 'PENDING'],
    ],
  );
  t.equal(await webhooks.drain(), 1);
  t.equal(target.got.at(-1)!.headers['x-gitea-delivery'], 'claimed');
});

t.test('http is for hosts and ports that an administrator named; the refusal names the entry to write', async (t) => {
  const { add, target, send, history, list } = await openWorld(t, { alsoAllowed: ['ci.lan', 'build.lan:8080'] });
  const refusal = (url: string): Promise<string> =>
    add({ url }).then(
      () => 'taken',
      (error: { reason: string; message: string }) => `${error.reason}: ${error.message}`,
    );
  for (const url of [
    'http://ci.lan/',
    'https://ci.lan/',
    'http://ci.lan:80/x',
    'http://build.lan:8080/',
    'https://build.lan:8080/',
  ])
    t.equal(await refusal(url), 'taken', url);
  for (const [url, entry] of [
    ['http://ci.lan:8080/', 'ci.lan:8080'],
    ['http://ci.lan:443/', 'ci.lan:443'],
    ['http://build.lan/', 'build.lan'],
    ['http://build.lan:8081/', 'build.lan:8081'],
    ['http://hooks.example.org/', 'hooks.example.org'],
    ['http://127.0.0.1/', '127.0.0.1'],
  ] as const)
    t.equal(
      await refusal(url),
      `invalid_webhook_url: Only https is allowed; http is for hosts that an administrator has named. An administrator can allow the host: webhooks.allowed_hosts = ["${entry}"].`,
      url,
    );
  t.equal(
    await refusal('https://127.0.0.1:8443/'),
    'invalid_webhook_url: 127.0.0.1 is not a public address. Hearth only connects to public addresses. An administrator can allow the host: webhooks.allowed_hosts = ["127.0.0.1:8443"].',
  );
  t.match(target.url, /^http:/);
  const { id } = await add({ events: ['push'] });
  await send(`${zeroId} ${history.commits[0]} ${main}`);
  t.match((await list(id))[0], { state: 'DELIVERED', status: 200 });
});

t.test('a bare name opens the default ports only, also when the connection is made', async (t) => {
  // The name of this machine in every hosts file; the receiver listens on another port of it.
  const { add, db, send, history, list, target } = await openWorld(t, { alsoAllowed: ['localhost'] });
  const { id } = await add({ url: 'http://localhost/', events: ['push'] });
  const port = target.host.split(':')[1]!;
  await db.write(({ manager }) =>
    manager.query('UPDATE webhooks SET url = ? WHERE id = ?', [`http://localhost:${port}/hook`, id]),
  );
  await send(`${zeroId} ${history.commits[0]} ${main}`);
  t.match((await list(id))[0], {
    state: 'FAILED',
    attempts: 1,
    error: `webhooks.allowed_hosts = ["localhost:${port}"]`,
  });
  t.strictSame(target.got, []);
});

t.test('the command line names every event', async (t) => {
  t.strictSame(webhookEventNames, webhookEvents);
});

t.test('a webhook gets each status of a commit, from the CI and from others, as it was then', async (t) => {
  const { add, target, modules, webhooks, viewer, history, alice, db, send } = await openWorld(t);
  const { statuses } = modules.repositories;
  await send(`${zeroId} ${history.commits[0]} ${main}`);
  const { id } = await add({ events: ['status'] });
  await add({ events: ['push'] });
  const sha = history.commits[0]!;
  const { repository } = await modules.repositories.find(viewer, 'alice', 'work');
  await statuses.report(viewer, 'alice', 'work', {
    sha,
    context: 'ci/build',
    state: 'pending',
    targetUrl: 'https://ci.example.org/1',
  });
  await statuses.report(viewer, 'alice', 'work', { sha, context: 'ci/build', state: 'warning', description: 'So so' });
  const own = { repositoryId: repository.id, sha, context: 'CI / test', state: 'success', description: '' } as const;
  await db.write((tx) => statuses.set(tx, { ...own, targetUrl: 'runs/3', creatorId: null }));
  const gone = '1'.repeat(40);
  await db.write((tx) => statuses.set(tx, { ...own, sha: gone, targetUrl: null, creatorId: null }));
  await t.rejects(statuses.report(viewer, 'alice', 'work', { sha, context: '', state: 'success' }));
  await webhooks.drain();
  const got = target.got.map(({ headers, body }) => [headers['x-gitea-event'], JSON.parse(body.toString())]);
  t.equal(got.length, 4, 'nothing for the webhook of pushes, nor of what is refused');
  t.match(got, [
    [
      'status',
      {
        context: 'ci/build',
        state: 'pending',
        sha,
        target_url: 'https://ci.example.org/1',
        commit: { id: sha, message: 'one\n' },
        repository: { full_name: 'alice/work', owner: { login: 'alice', visibility: 'public' } },
        sender: { login: 'alice' },
      },
    ],
    ['status', { context: 'ci/build', state: 'warning', description: 'So so', target_url: '' }],
    [
      'status',
      { context: 'CI / test', state: 'success', target_url: 'http://git.example.lan/repos/alice/work/runs/3' },
    ],
    ['status', { sha: gone, commit: null }],
  ]);
  t.equal(got[0]![1].sender.id, numericId(alice.id));
  t.equal((await modules.webhooks.find({ kind: 'repository', id: repository.id }, id)).last?.state, 'DELIVERED');
});

t.test('changed pages of a wiki are told as GitHub and Gitea name them', async (t) => {
  const { add, target, modules, webhooks, viewer } = await openWorld(t);
  const { wikis } = modules.repositories;
  await add({ events: ['gollum'] });
  await add({ events: ['push'] });
  const before = target.got.length;
  await wikis.create(viewer, 'alice', 'work', { title: 'First steps', content: Buffer.from('Hello\n') });
  await wikis.edit(viewer, 'alice', 'work', 'First steps', { title: 'Start', content: Buffer.from('Hello\n') });
  await webhooks.drain();
  t.equal(target.got.length, before + 2);
  const [made, renamed] = target.got.slice(before);
  t.match(made!.headers, { 'x-gitea-event': 'wiki', 'x-gogs-event': 'wiki', 'x-github-event': 'gollum' });
  t.match(JSON.parse(made!.body.toString()), {
    action: 'created',
    page: 'First steps',
    pages: [
      {
        action: 'created',
        title: 'First steps',
        sha: /^[0-9a-f]{40}$/,
        html_url: 'http://git.example.lan/repos/alice/work/wiki/First-steps',
      },
    ],
    repository: { full_name: 'alice/work' },
    sender: { login: 'alice' },
  });
  t.match(JSON.parse(renamed!.body.toString()), {
    pages: [
      { action: 'deleted', title: 'First steps' },
      { action: 'created', title: 'Start' },
    ],
  });
});

t.test('a fork is told to the webhooks of its source, in Gitea’s form, and a private one to nobody', async (t) => {
  const { add, send, target, history, modules, webhooks, viewer } = await openWorld(t);
  await send(`${zeroId} ${history.commits[0]} ${main}`);
  const before = target.got.length;
  await add({ events: ['fork'] });
  await add({ events: ['push'] });
  const { repositories, accounts } = modules;
  await repositories.changeVisibility(viewer, 'alice', 'work', 'PUBLIC');
  const bob = await accounts.addPerson({ username: 'robin' });
  const maker = { ...viewer, id: bob.id, username: 'robin' };
  await repositories.forks.create(maker, 'alice', 'work', { name: 'ours' });
  await webhooks.drain();
  t.equal(target.got.length, before + 1);
  const { headers, body } = target.got.at(-1)!;
  t.match(headers, { 'x-gitea-event': 'fork', 'x-github-event': 'fork' });
  t.match(JSON.parse(body.toString()), {
    forkee: { full_name: 'alice/work', fork: false, forks_count: 1 },
    repository: { full_name: 'robin/ours', fork: true },
    sender: { login: 'robin' },
  });

  const wren = await accounts.addPerson({ username: 'wren' });
  const hider = { ...viewer, id: wren.id, username: 'wren' };
  await repositories.forks.create(hider, 'alice', 'work', { name: 'theirs' });
  await repositories.changeVisibility(hider, 'wren', 'theirs', 'PRIVATE');
  await webhooks.drain();
  t.equal(target.got.length, before + 1, 'nor one that has turned private before it was told');

  await repositories.collaborators.add(viewer, 'alice', 'work', { username: 'robin', role: 'read' });
  await repositories.changeVisibility(viewer, 'alice', 'work', 'PRIVATE');
  await modules.organisations.create(maker, { name: 'potters' });
  await repositories.forks.create(maker, 'alice', 'work', { owner: 'potters' });
  await webhooks.drain();
  t.equal(target.got.length, before + 1, 'a private fork is nobody’s business');
});

t.test('created and deleted repositories are sent to the webhooks of their owner and of the server', async (t) => {
  const { target, modules, webhooks, viewer, alice } = await openWorld(t);
  const { organisations, repositories } = modules;
  const acme = await organisations.create(viewer, { name: 'acme' });
  const scopes: [string, WebhookScope][] = [
    ['user', { kind: 'user', id: alice.id }],
    ['organisation', { kind: 'organisation', id: acme.id }],
    ['server', { kind: 'instance' }],
  ];
  for (const [path, scope] of scopes)
    for (const events of [['repository'], ['release']])
      await webhooks.add(viewer, scope, { url: `${target.url}/${path}`, events });
  const robin = await modules.accounts.addPerson({ username: 'robin' });
  const asRobin = { ...viewer, id: robin.id, username: 'robin' };
  const told = async <Made>(act: () => Promise<Made>) => {
    const before = target.got.length;
    const made = await act();
    await webhooks.drain();
    const got = target.got.slice(before).map(({ headers, path, body }) => {
      t.match(headers, { 'x-gitea-event': 'repository', 'x-gogs-event': 'repository', 'x-github-event': 'repository' });
      const { action, repository, organization, sender } = JSON.parse(body.toString());
      const names = [repository.full_name, organization.username, sender.login];
      return `${path.split('/').at(-1)}: ${action} ${names.join(' ')}${repository.private ? ' private' : ''}`;
    });
    return { got: got.sort(), made };
  };
  const both = (owner: string, text: string) => [`${owner}: ${text}`, `server: ${text}`];

  const secret = await told(() =>
    repositories.create(viewer, { owner: 'acme', name: 'secret', visibility: 'PRIVATE' }),
  );
  t.same(secret.got, both('organisation', 'created acme/secret acme alice private'));
  const site = await told(() => repositories.create(viewer, { name: 'site', visibility: 'PUBLIC', readme: true }));
  t.same(site.got, ['server: created alice/site alice alice', 'user: created alice/site alice alice']);
  const fork = await told(() => repositories.forks.create(asRobin, 'alice', 'site', { name: 'park' }));
  t.same(fork.got, ['server: created robin/park robin robin'], 'the owner of the source is not told');
  const deleted = await told(() => repositories.trash.move(viewer, 'acme', 'secret'));
  t.same(deleted.got, both('organisation', 'deleted acme/secret acme alice private'), 'with the shape it had');
  const restored = await told(() => repositories.trash.restore(viewer, deleted.made.id, 'again'));
  t.same(restored.got, both('organisation', 'created acme/again acme alice private'));
  const discarded = await told(() => repositories.trash.discard(restored.made));
  t.same(discarded.got, both('organisation', 'deleted acme/again acme ghost private'), 'an import that failed');

  const refused = await told(async () => {
    await t.rejects(repositories.create(viewer, { name: 'Site', visibility: 'PUBLIC' }));
    await t.rejects(repositories.trash.move(asRobin, 'alice', 'site'));
    await t.rejects(repositories.trash.restore(viewer, site.made.id));
  });
  t.same(refused.got, []);
});

t.test('a deployment and each of its states are delivered in GitHub’s form', async (t) => {
  const { add, target, push: pushFiles, addRunner, webhooks, modules, viewer, found, scope } = await openWorld(t);
  const { id } = await add({ events: ['deployment', 'deployment_status'] });
  await add({ events: ['push'] });
  const { environments } = modules.ci;
  await environments.set(viewer, found, 'live', { reviewers: ['alice'] });
  await pushFiles(
    workflow(
      'on: push\njobs:\n  deploy:\n    runs-on: linux\n    environment: { name: live, url: https://shop.example.org }\n    steps: [{run: make}]\n',
    ),
  );
  await environments.review(viewer, found, 1, { verdict: 'approved', environments: ['live'], comment: '' });
  const runner = await addRunner(['linux']);
  await runner.finish((await runner.fetch())!.taskId);
  await webhooks.drain();
  const told = target.got
    .map(({ headers, body }) => ({ event: headers['x-github-event'], ...JSON.parse(body.toString()) }))
    .filter(({ event }) => event !== 'push');
  t.strictSame(
    told.map(({ event, deployment_status: status }) => [event, status?.state]),
    [
      ['deployment', undefined],
      ['deployment_status', 'waiting'],
      ['deployment_status', 'queued'],
      ['deployment_status', 'in_progress'],
      ['deployment_status', 'success'],
    ],
  );
  t.match(told.at(-1), {
    action: 'created',
    deployment: { environment: 'live', ref: 'main', sha: /^[0-9a-f]{40}$/, creator: { login: 'alice' } },
    deployment_status: {
      environment_url: 'https://shop.example.org',
      log_url: /^http:\/\/git\.example\.lan\/repos\/alice\/work\/runs\/1\/jobs\/\d+$/,
    },
    workflow_run: { run_number: 1 },
    repository: { full_name: 'alice/work' },
    sender: { login: 'alice' },
  });
  t.equal((await webhooks.listDeliveries(scope, id, { limit: 50 })).length, 5);
  await modules.repositories.create(viewer, { name: 'other', visibility: 'PRIVATE' });
  const elsewhere = await modules.repositories.find(viewer, 'alice', 'other');
  await environments.deployments.create(viewer, elsewhere, {
    ref: 'main',
    sha: 'a'.repeat(40),
    environment: 'live',
    task: 'deploy',
    description: '',
    payload: {},
    isTransient: false,
    isProduction: null,
  });
  await webhooks.drain();
  t.equal((await webhooks.listDeliveries(scope, id, { limit: 50 })).length, 5, 'not of another repository');
});
