import t from 'tap';
import { readFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { generateDescriptors } from '../../scripts/generate-descriptors.ts';
import { framings, matrixWorkflow, post, rowsOf, startForge } from './rpc-fixture.ts';
import { connectClient } from './runner-client.ts';

t.test('the descriptors are those of proto/: scripts/generate-descriptors.ts', async (t) => {
  t.equal(
    readFileSync(new URL('../../src/http-runner/messages/descriptors.ts', import.meta.url), 'utf8'),
    generateDescriptors(),
  );
});

t.test(
  'SPEC §4.1 register, declare, fetch, log, outputs, done, in every framing, started by a real push',
  async (t) => {
    const forge = await startForge(t);
    const { ci } = forge.modules;
    let number = 0;
    for (const [name, open] of Object.entries(framings(forge))) {
      await t.test(name, async (t) => {
        const unregistered = open({});
        t.match(await unregistered.ping({ data: 'runner' }), { data: 'Hello, runner!' });
        const registration = await ci.runners.resetRegistrationToken({ kind: 'instance' }, null);
        const { runner: registered } = await unregistered.register({
          name,
          token: registration,
          version: 'v1',
          agentLabels: ['linux:host'],
          ephemeral: false,
          capabilities: ['cancelling'],
        });
        t.match(registered, { name, labels: ['linux'], version: 'v1', ephemeral: false, token: /^[0-9a-f]{40}$/ });
        const runner = open({ 'x-runner-uuid': registered.uuid, 'x-runner-token': registered.token });
        t.match(await runner.declare({ version: 'v2', labels: ['linux', 'big'] }), {
          runner: { id: registered.id, version: 'v2', labels: ['linux', 'big'], token: '' },
        });

        const waiting = runner.fetchTask({ tasksVersion: 0n }, { timeoutMs: 10_000 });
        const sha = await forge.push(matrixWorkflow, name);
        number += 1;
        const { task, tasksVersion } = await waiting;
        t.ok(tasksVersion >= 1n);
        t.match(Buffer.from(task.workflowPayload).toString(), /version:\n {10}- (18|"3\.10")\n/);
        t.match(task.context, {
          sha,
          run_number: String(number),
          repository: 'alice/work',
          event: { head_commit: { message: name } },
        });
        t.equal(task.secrets.GITEA_TOKEN, task.context.token);

        const step = (id: bigint, more: object = {}) => ({
          id,
          startedAt: { seconds: 1_767_225_600n },
          logIndex: 0n,
          ...more,
        });
        t.match(
          await runner.updateTask({
            state: { id: task.id, startedAt: { seconds: 1_767_225_600n }, steps: [step(0n)] },
          }),
          { state: { id: task.id, result: 0 }, sentOutputs: [] },
        );
        t.equal(
          (await runner.updateLog({ taskId: task.id, index: 0n, rows: rowsOf('one', 'zwei · 🔥') })).ackIndex,
          2n,
        );
        t.equal(
          (await runner.updateLog({ taskId: task.id, index: 1n, rows: rowsOf('zwei · 🔥', 'three'), noMore: true }))
            .ackIndex,
          3n,
        );
        t.same(
          (
            await runner.updateTask({ state: { id: task.id }, outputs: { file: 'site.tar', more: 'x' } })
          ).sentOutputs.sort(),
          ['file', 'more'],
        );
        const end = {
          state: {
            id: task.id,
            result: 1,
            stoppedAt: { seconds: 1_767_225_605n },
            steps: [step(0n, { result: 1, logLength: 2n }), step(1n, { result: 4, logIndex: 2n, logLength: 1n })],
          },
        };
        t.match(await runner.updateTask(end), { state: { id: task.id, result: 1 } });
        t.match(await runner.updateTask(end), { state: { result: 1 } }, 'and again');

        const second = (await runner.fetchTask({})).task;
        await runner.updateTask({ state: { id: second.id, result: 1 } });
        t.equal(
          (await runner.updateLog({ taskId: second.id, index: 0n, rows: rowsOf('late'), noMore: true })).ackIndex,
          1n,
          'the log may come after the state',
        );
        const deploy = (await runner.fetchTask({})).task;
        t.match(deploy.needs, { build: { result: 1, outputs: { file: 'site.tar', more: 'x' } } });
        await runner.updateTask({ state: { id: deploy.id, result: 1 } });
        t.match(await forge.state(number), {
          run: 'success',
          jobs: { 'build (18)': 'success', 'build (3.10)': 'success', deploy: 'success' },
        });
        t.equal((await runner.fetchTask({}, { timeoutMs: 900 })).task, undefined, 'nothing more');
        for (const client of [unregistered, runner]) client.close?.();
      });
    }
  },
);

t.test('runner-protocol 3.3 Connect to the letter', async (t) => {
  const forge = await startForge(t);
  const { url } = forge;
  const json = { 'Content-Type': 'application/json' };
  const ping = '/api/actions/ping.v1.PingService/Ping';

  t.match(await post(url, ping, { method: 'GET' }), {
    status: 405,
    headers: { allow: 'POST' },
    json: { code: 'unimplemented' },
  });
  t.match(await post(url, '/api/actions/runner.v1.RunnerService/Absent'), {
    status: 404,
    headers: { 'content-type': 'application/json' },
    json: { code: 'unimplemented' },
  });
  t.match(await post(url, '/api/actions/whatever'), { status: 404, json: { code: 'unimplemented' } });
  t.match(await post(url, ping, { headers: { 'Content-Type': 'text/plain' } }), {
    status: 415,
    headers: { 'accept-post': /application\/proto/ },
  });
  t.match(await post(url, ping, { headers: { 'Content-Type': 'application/grpc' } }), { status: 415 });
  t.match(await post(url, ping, { headers: { 'Connect-Protocol-Version': '2' } }), {
    status: 400,
    json: { code: 'invalid_argument' },
  });
  for (const timeout of ['x', '-1', '12345678901', '1.5']) {
    t.match(
      await post(url, ping, { headers: { 'Connect-Timeout-Ms': timeout } }),
      { status: 400, json: { code: 'invalid_argument' } },
      timeout,
    );
  }
  t.match(await post(url, ping, { headers: { 'Connect-Timeout-Ms': '9999999999' } }), { status: 200 });
  t.match(await post(url, ping, { headers: { 'Content-Encoding': 'br' }, body: 'x' }), {
    status: 501,
    json: { code: 'unimplemented' },
  });
  t.match(
    await post(url, ping, { headers: { ...json, 'Content-Encoding': 'gzip' }, body: gzipSync('{"data":"zipped"}') }),
    { status: 200, json: { data: 'Hello, zipped!' } },
  );
  t.match(
    await post(url, ping, { headers: json, body: '' }),
    { status: 200, json: { data: 'Hello, !' } },
    'an empty body is an empty message',
  );
  t.match(await post(url, ping), { status: 200, body: Buffer.from('\n\u0008Hello, !') });
  const long = await post(url, ping, {
    headers: { ...json, 'Accept-Encoding': 'gzip' },
    body: JSON.stringify({ data: 'x'.repeat(2000) }),
  });
  t.equal(long.headers['content-encoding'], 'gzip');
  t.match(JSON.parse(gunzipSync(long.body).toString()).data, /^Hello, x{2000}!$/);
  t.match(long.headers, { 'keep-alive': 'timeout=100', 'cache-control': 'no-store' });
  t.notOk(long.headers['set-cookie']);
  t.equal(long.headers['content-security-policy'], undefined, 'no page’s middleware was here');

  const headers = { ...(await forge.register(['linux'])), ...json };
  const call = (name: string, body: unknown) =>
    post(url, `/runner.v1.RunnerService/${name}`, { headers, body: JSON.stringify(body) });
  t.match(
    (await call('Declare', { version: 'v', labels: ['linux'], unknown: { deep: [1] } })).headers[
      'x-gitea-actions-capabilities'
    ],
    /cancelling/,
  );
  await forge.push(matrixWorkflow);
  const fetched = (await call('FetchTask', { tasks_version: 3 })).json;
  t.match(fetched, {
    task: { id: '1', context: { run_id: '1' }, workflowPayload: /^[A-Za-z0-9+/]+=*$/ },
    tasksVersion: /^\d+$/,
  });
  const one = (handle: unknown) => call('FetchSingleTask', { handle });
  for (const [handle, why] of [
    ['1', 'it is taken'],
    ['-2', 'no id'],
    ['9'.repeat(30), 'no id'],
  ] as const) {
    const nothing = await one(handle);
    t.match(nothing, { status: 200, json: { tasksVersion: /^\d+$/ } });
    t.notOk((nothing.json as { task?: unknown }).task, why);
  }
  t.match(await one(2), { status: 400 });
  t.match((await one('2')).json, { task: { id: '2' }, tasksVersion: /^\d+$/ });
  t.match(
    await call('UpdateLog', {
      taskId: 1,
      index: '0',
      rows: [{ time: '2026-01-01T00:00:00.123456789+01:00', content: 'x' }],
      no_more: false,
    }),
    { json: { ackIndex: '1' } },
  );
  t.match(
    await call('UpdateTask', {
      state: { id: 1, result: 'RESULT_SUCCESS', started_at: '2026-01-01T00:00:00Z' },
      outputs: { a: 'b' },
    }),
    { json: { state: { id: '1', result: 'RESULT_SUCCESS' }, sentOutputs: ['a'] } },
  );
  for (const [name, body] of [
    ['UpdateTask', { state: { id: 'x' } }],
    ['UpdateTask', { state: { id: 1.5 } }],
    ['UpdateTask', { state: { id: '99999999999999999999' } }],
    ['UpdateTask', { state: [] }],
    ['UpdateTask', { outputs: { a: 1 } }],
    ['UpdateTask', { state: { id: 1, result: 'RESULT_NONSENSE' } }],
    ['UpdateTask', { state: { id: 1, startedAt: 'yesterday' } }],
    ['UpdateLog', { rows: {} }],
    ['UpdateLog', []],
    ['Declare', { labels: 'linux' }],
  ] as const)
    t.match(await call(name, body), { status: 400, json: { code: 'invalid_argument' } }, JSON.stringify([name, body]));
  t.match(await post(url, '/runner.v1.RunnerService/UpdateTask', { headers, body: '{' }), {
    status: 400,
    json: { code: 'invalid_argument', message: 'This is not JSON.' },
  });
  t.match(
    await post(url, '/runner.v1.RunnerService/UpdateTask', { headers, body: Buffer.from([0x22, 0xc3, 0x28, 0x22]) }),
    { status: 400, json: { message: 'The message is not UTF-8.' } },
  );
});

t.test('a held call ends when the server goes away, and the runner gets no response that would end it', async (t) => {
  const forge = await startForge(t);
  const runner = connectClient(forge.url, { headers: await forge.register(['linux']) });
  const waiting = runner.fetchTask({}, { timeoutMs: 20_000 });
  await new Promise((resolve) => setTimeout(resolve, 200));
  const startedAt = performance.now();
  const [response] = await Promise.all([waiting.catch((error: unknown) => error), forge.stop()]);
  t.ok(performance.now() - startedAt < 5_000);
  t.not((response as { code?: number }).code, 16);
});

t.test('the token of a task opens git: Basic with any user name, and the address without /git', async (t) => {
  const forge = await startForge(t);
  const sha = await forge.push(matrixWorkflow);
  const runner = connectClient(forge.url, { headers: await forge.register(['linux']) });
  const { task } = await runner.fetchTask({});
  const refs = (address: string, credentials: string) =>
    fetch(new URL(`${address}/info/refs?service=git-upload-pack`, forge.url), {
      headers: { Authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
    });
  for (const address of ['/git/alice/work.git', '/alice/work', '/git/alice/work']) {
    const response = await refs(address, `x-access-token:${task.context.token}`);
    t.equal(response.status, 200, address);
    t.match(await response.text(), sha);
  }
  t.equal((await refs('/git/alice/other.git', `x:${task.context.token}`)).status, 404, 'no other repository');
  await runner.updateTask({ state: { id: task.id, result: 1 } });
  t.equal((await refs('/git/alice/work.git', `x:${task.context.token}`)).status, 401, 'and not after the end');
});

t.test('security C09 the address that jobs are given comes from trusted proxies only', async (t) => {
  const given = async (trusted: string) => {
    const forge = await startForge(t, { env: { SERVICE_PROXY_TRUSTED: trusted } });
    await forge.push(matrixWorkflow);
    const headers = {
      ...(await forge.register(['linux'])),
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'git.example.org',
    };
    const { task } = await connectClient(forge.url, { headers }).fetchTask({});
    return { server: task.context.server_url as string, url: forge.url };
  };
  const direct = await given('192.0.2.0/24');
  t.equal(direct.server, direct.url, 'a runner that is no proxy says nothing about this server');
  t.equal((await given('loopback')).server, 'https://git.example.org', 'a proxy says how it was called');
});
