// runs alone: it measures the memory of its process
import t from 'tap';
import { connect } from 'node:net';
import { connect as connectHttp2 } from 'node:http2';
import { gzipSync } from 'node:zlib';
import { authenticateRunner } from '../../src/ci/runners/authenticate-runner.ts';
import { Presence } from '../../src/ci/runner-model/last-seen.ts';
import { systemClock } from '../../src/kernel/index.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { framings, matrixWorkflow, post, rowsOf, startForge } from './rpc-fixture.ts';
import type { Forge } from './rpc-fixture.ts';
import { connectClient, grpcClient } from './runner-client.ts';

t.setTimeout(120_000);

const codeOf = (work: Promise<unknown>): Promise<number | 'fine'> =>
  work.then(
    () => 'fine',
    (error: { code: number }) => error.code,
  );
const codes = { invalid: 3, notFound: 5, exists: 6, exhausted: 8, unimplemented: 12, unauthenticated: 16 };

async function running(t: Parameters<typeof startForge>[0]) {
  const forge = await startForge(t);
  await forge.push(matrixWorkflow);
  const headers = await forge.register(['linux']);
  const client = connectClient(forge.url, { headers });
  const { task } = await client.fetchTask({});
  return { ...forge, headers, client, taskId: task.id as bigint };
}

/** Everything of CI in the database, to see that nothing has changed. */
async function dump({ modules }: Forge): Promise<string> {
  const tables = ['ci_runners', 'ci_runs', 'ci_jobs', 'ci_tasks', 'ci_steps', 'ci_outputs'];
  const rows = await Promise.all(tables.map((table) => modules.db.read.query(`SELECT * FROM ${table}`)));
  return JSON.stringify(rows).replace(/"(last_seen_at|last_active_at|reported_at)":(\d+|null)/g, '');
}

t.test('security H02 wrong credentials open nothing, in every framing', async (t) => {
  const forge = await running(t);
  const other = await forge.register(['linux']);
  const { headers } = forge;
  const wrong: Record<string, string>[] = [
    {},
    { 'x-runner-uuid': headers['x-runner-uuid']! },
    { ...headers, 'x-runner-token': '0'.repeat(40) },
    { ...headers, 'x-runner-token': headers['x-runner-token']!.toUpperCase() },
    { 'x-runner-uuid': headers['x-runner-uuid']!, 'x-runner-token': other['x-runner-token']! },
    { 'x-runner-uuid': "' OR 1=1 --", 'x-runner-token': headers['x-runner-token']! },
  ];
  const before = await dump(forge);
  for (const [name, open] of Object.entries(framings(forge))) {
    for (const given of wrong) {
      const client = open(given);
      for (const call of [
        client.declare({}),
        client.fetchTask({}),
        client.updateTask({ state: { id: forge.taskId, result: 1 } }),
        client.updateLog({ taskId: forge.taskId, rows: rowsOf('x') }),
      ]) {
        const error = await call.then(
          () => null,
          (thrown: { code: number; message: string }) => thrown,
        );
        t.match(error, { code: codes.unauthenticated, message: /unregistered runner/ }, name);
      }
      client.close?.();
    }
  }
  t.equal(await dump(forge), before);
});

t.test('go-gitea/gitea#37586 a fault of ours while a runner is looked up is no "unauthenticated"', async (t) => {
  const db = { read: { findOneBy: () => Promise.reject(new Error('the disk is on fire')) } };
  const credentials = { uuid: '00000000-0000-4000-8000-000000000000', token: '0'.repeat(40) };
  const refused = authenticateRunner({ db: db as never, presence: new Presence(systemClock) }, credentials, {
    isActive: false,
  });
  await t.rejects(refused, { code: 'unavailable', reason: 'runner_check_failed' });
});

t.test('a runner touches its own tasks only; ends are final; numbers of any size are survived', async (t) => {
  const forge = await running(t);
  const { taskId, client } = forge;
  const strange = await forge.register(['mac']);
  const before = await dump(forge);
  const huge = [2n ** 53n, 2n ** 63n - 1n, -1n, -(2n ** 63n), 0n];
  for (const runner of [connectClient(forge.url, { headers: strange }), grpcClient(forge.grpc, { headers: strange })]) {
    t.equal(await codeOf(runner.updateTask({ state: { id: taskId, result: 1 } })), codes.notFound);
    t.equal(await codeOf(runner.updateLog({ taskId, rows: rowsOf('x') })), codes.notFound);
    if ('close' in runner) (runner as { close(): void }).close();
  }
  const grpc = grpcClient(forge.grpc, { headers: forge.headers });
  t.teardown(() => grpc.close());
  for (const own of [client, grpc, connectClient(forge.url, { headers: forge.headers, json: true })]) {
    for (const id of huge) {
      t.equal(await codeOf(own.updateTask({ state: { id, result: 1 } })), codes.notFound, String(id));
      t.equal(await codeOf(own.updateLog({ taskId: id, rows: rowsOf('x') })), codes.notFound);
    }
    t.equal(await codeOf(own.updateTask({})), codes.invalid);
    t.equal(await codeOf(own.updateLog({ taskId, index: -1n, rows: rowsOf('x') })), codes.invalid);
    t.equal(await codeOf(own.updateLog({ taskId, index: -(2n ** 63n), rows: rowsOf('x') })), codes.invalid);
  }
  t.equal(await dump(forge), before, 'nothing has changed');
  for (const own of [client, grpc])
    t.equal((await own.updateLog({ taskId, index: 2n ** 62n, rows: rowsOf('x'), noMore: true })).ackIndex, 0n, 'a gap');
  const wild = {
    id: taskId,
    result: 99,
    startedAt: { seconds: 2n ** 62n, nanos: -1 },
    steps: huge.map((id) => ({ id, result: 77, logIndex: id, logLength: id, startedAt: { seconds: -5n } })),
  };
  t.match(await client.updateTask({ state: wild }), { state: { result: 0 } }, 'an unknown result is none');
  t.equal((await client.updateLog({ taskId, rows: rowsOf('a', 'b'), noMore: true })).ackIndex, 2n);
  for (const own of [client, grpc])
    t.equal(await codeOf(own.updateLog({ taskId, index: 2n, rows: rowsOf('c') })), codes.exists);
  t.match(await client.updateTask({ state: { id: taskId, result: 2 } }), { state: { result: 2 } });
  const ended = await dump(forge);
  for (const own of [client, grpc])
    t.match(await own.updateTask({ state: { id: taskId, result: 1 }, outputs: { late: 'x' } }), {
      state: { result: 2 },
      sentOutputs: [],
    });
  t.equal(await dump(forge), ended, 'a report after the end changes nothing');
});

t.test('registration: what is missing or wrong is said, and counted as the runner’s mistake', async (t) => {
  const { url, modules } = await startForge(t);
  const client = connectClient(url);
  const token = await modules.ci.runners.resetRegistrationToken({ kind: 'instance' }, null);
  for (const [request, message] of [
    [{ name: 'x' }, /missing runner token, name/],
    [{ token }, /missing runner token, name/],
    [{ name: 'x', token: 'y' }, /runner registration token not found/],
  ] as const) {
    t.match(await client.register(request).catch((error: unknown) => error), { code: codes.invalid, message });
  }
  await modules.ci.runners.resetRegistrationToken({ kind: 'instance' }, null);
  t.match(await client.register({ name: 'x', token }).catch((error: unknown) => error), {
    code: codes.invalid,
    message: /has been invalidated, please use the latest one/,
  });
});

t.test('messages that are none: cut short, wrong types, bad text, bad gzip', async (t) => {
  const { url, headers, taskId } = await running(t);
  const send = (name: string, body: Buffer, more: Record<string, string> = {}) =>
    post(url, `/api/actions/runner.v1.RunnerService/${name}`, { body, headers: { ...headers, ...more } });
  const bad = { status: 400, json: { code: 'invalid_argument' } };
  for (const hex of [
    '0a',
    '0a05',
    '0a05ffff',
    '0d0102',
    '0b',
    '0c',
    '00',
    'ffffffffffffffffffffff',
    '0a021801ff',
    '1aff',
  ]) {
    t.match(await send('UpdateTask', Buffer.from(hex, 'hex')), bad, `UpdateTask ${hex}`);
  }
  t.match(await send('Declare', Buffer.from('0a02c328', 'hex')), bad, 'text that is not UTF-8');
  for (const hex of [
    '08',
    '1a05',
    '1a04120',
    '1a041202c328',
    '1a03120561',
    '0b',
    '00',
    '1a0b0a09ffffffffffffffffffff01',
    '08ffffffffffffffffffff01',
    '1affffffffff0f',
  ]) {
    t.match(await send('UpdateLog', Buffer.from(hex.length % 2 ? `${hex}0` : hex, 'hex')), bad, `UpdateLog ${hex}`);
  }
  t.match(await send('UpdateTask', Buffer.from('not gzip'), { 'Content-Encoding': 'gzip' }), bad);
  t.match(await send('UpdateTask', gzipSync(Buffer.alloc(100)).subarray(0, 15), { 'Content-Encoding': 'gzip' }), bad);
  const rows = Buffer.concat([
    Buffer.from([0x08, Number(taskId), 0x1a, 0x03, 0x12, 0x01, 0x61]),
    Buffer.from('fa7f0568656c6c6f', 'hex'),
    Buffer.from([0x95, 0x7f, 1, 2, 3, 4, 0x91, 0x7f, 1, 2, 3, 4, 5, 6, 7, 8, 0x10, 0x00]),
  ]);
  t.match(
    await send('UpdateLog', rows),
    { status: 200, body: Buffer.from([0x08, 0x01]) },
    'fields that nobody knows are passed over, the index may come last',
  );
});

/**
 * One gRPC call with bytes as they are, perhaps said to be compressed; returns `grpc-status`, or the HTTP status when
 * that is no 200.
 */
function callRaw(
  url: string,
  target: string,
  message: Buffer,
  {
    headers = {},
    compressed = false,
    prefix,
  }: { headers?: Record<string, string>; compressed?: boolean; prefix?: Buffer } = {},
): Promise<number> {
  const session = connectHttp2(url);
  const frame =
    prefix ??
    Buffer.concat([
      Buffer.from([compressed ? 1 : 0]),
      Buffer.from(message.length.toString(16).padStart(8, '0'), 'hex'),
    ]);
  return new Promise<number>((resolve) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': target,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...(compressed ? { 'grpc-encoding': 'gzip' } : {}),
      ...headers,
    });
    let status = 0;
    const read = (given: Record<string, unknown>) => {
      if (given['grpc-status'] !== undefined) status = Number(given['grpc-status']);
      else if (given[':status'] !== undefined && given[':status'] !== 200) status = Number(given[':status']);
    };
    stream
      .on('response', read)
      .on('trailers', read)
      .on('error', () => {})
      .on('close', () => resolve(status))
      .resume();
    stream.end(Buffer.concat([frame, message]));
  }).finally(() => session.destroy());
}

t.test(
  'the same over gRPC: malformed, not UTF-8, bad gzip, a bomb, an unknown compression, another type',
  async (t) => {
    const forge = await running(t);
    const { grpc, headers, client } = forge;
    const url = `http://${grpc}`;
    const before = await dump(forge);
    const call = (name: string, message: Buffer, more: Parameters<typeof callRaw>[3] = {}) =>
      callRaw(url, `/runner.v1.RunnerService/${name}`, message, { ...more, headers: { ...headers, ...more.headers } });
    for (const hex of ['0a05', '0a05ffff', '0d0102', '0b', '00', 'ffffffffffffffffffffff', '0a021801ff'])
      t.equal(await call('UpdateTask', Buffer.from(hex, 'hex')), codes.invalid, `UpdateTask ${hex}`);
    t.equal(await call('Declare', Buffer.from('0a02c328', 'hex')), codes.invalid, 'text that is not UTF-8');
    for (const hex of ['08', '1a05', '1a041202c328', '1a03120561', '0b', '00', '1affffffffff0f'])
      t.equal(await call('UpdateLog', Buffer.from(hex, 'hex')), codes.invalid, `UpdateLog ${hex}`);
    t.not(await call('UpdateTask', Buffer.from('not gzip'), { compressed: true }), 0);
    t.equal(
      await call('UpdateTask', gzipSync(Buffer.alloc(200 * 1024 * 1024)), { compressed: true }),
      codes.exhausted,
      'a bomb',
    );
    t.equal(
      await call('UpdateTask', Buffer.alloc(0), { prefix: Buffer.from([0, 0xff, 0xff, 0xff, 0xff]) }),
      codes.exhausted,
      'a message of four gigabytes is announced',
    );
    t.equal(
      await call('Declare', Buffer.from('x'), { compressed: true, headers: { 'grpc-encoding': 'br' } }),
      codes.unimplemented,
    );
    t.equal(await call('Nothing', Buffer.alloc(0)), codes.unimplemented);
    t.equal(await call('Declare', Buffer.alloc(0), { headers: { 'content-type': 'text/plain' } }), 415);
    t.equal(await call('UpdateTask', Buffer.alloc(5 * 1024 * 1024)), codes.exhausted);
    t.match(await client.ping({ data: 'alive' }), { data: 'Hello, alive!' });
    t.equal(await dump(forge), before, 'nothing has changed');
  },
);

t.test('security H09 bombs: too large, gzipped zeros, a sea of empty rows; memory stays', async (t) => {
  const { url, headers, client, grpc } = await running(t);
  const send = (name: string, body: Buffer | readonly Buffer[], more: Record<string, string> = {}) =>
    post(url, `/runner.v1.RunnerService/${name}`, { body, headers: { ...headers, ...more } }).catch(
      (error: NodeJS.ErrnoException) => ({ status: error.code }),
    );
  const tooLarge = { status: 429, json: { code: 'resource_exhausted' } };
  t.match(await send('UpdateTask', Buffer.alloc(5 * 1024 * 1024)), tooLarge);
  const zeros = gzipSync(Buffer.alloc(200 * 1024 * 1024));
  const before = process.memoryUsage().rss;
  for (const name of ['UpdateTask', 'UpdateLog', 'Declare'])
    t.match(
      await send(name, zeros, { 'Content-Encoding': 'gzip' }),
      { status: name === 'UpdateLog' ? 400 : 429 },
      name,
    );
  const grown = process.memoryUsage().rss - before;
  t.ok(grown < 150 * 1024 * 1024, `600 MiB of zeros made the server grow by ${Math.round(grown / 1024 / 1024)} MiB`);
  t.match(
    await send(
      'UpdateLog',
      Buffer.concat([Buffer.from([0x1a, 0xff, 0xff, 0xff, 0x3f]), Buffer.alloc(20 * 1024 * 1024)]),
    ),
    tooLarge,
    'a row of a gigabyte',
  );
  t.match(
    await post(url, '/runner.v1.RunnerService/UpdateLog', { body: Buffer.alloc(8 * 1024 * 1024) }).catch(() => ({
      status: 401,
    })),
    { status: 401 },
    'a message of an unknown runner is not read',
  );
  const big = grpcClient(grpc, { headers });
  t.equal(await codeOf(big.updateTask({ outputs: { a: 'x'.repeat(6 * 1024 * 1024) } })), codes.exhausted);
  big.close();
  t.match(await client.ping({ data: 'alive' }), { data: 'Hello, alive!' });
});

t.test('random bytes in every procedure and framing: a response each, the server alive, nothing changed', async (t) => {
  const forge = await running(t);
  const { url, headers, client } = forge;
  const before = await dump(forge);
  const random = seededRandom(7);
  const procedures = [
    'ping.v1.PingService/Ping',
    ...['Register', 'Declare', 'UpdateTask', 'UpdateLog'].map((name) => `runner.v1.RunnerService/${name}`),
  ];
  const rounds = Number(process.env['HEARTH_FUZZ_ROUNDS'] ?? 400);
  const statuses = new Map<number, number>();
  for (let round = 0; round < rounds; round += 1) {
    const procedure = random.pick(procedures);
    // Half of them begin like messages.
    const start = random.chance(0.5) ? [random.pick([0x08, 0x0a, 0x10, 0x12, 0x1a, 0x20]), random.below(12)] : [];
    const body = Buffer.concat([Buffer.from(start), random.bytes(random.below(60))]);
    const type = random.pick([
      'application/proto',
      'application/json',
      'application/proto; charset=utf-8',
      'application/grpc-web',
    ]);
    const encoding: Record<string, string> = random.chance(0.2)
      ? { 'Content-Encoding': random.pick(['gzip', 'identity', 'br']) }
      : {};
    const { status } = await post(url, `/api/actions/${procedure}`, {
      body,
      headers: { ...headers, 'Content-Type': type, ...encoding },
    });
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  t.ok(
    [...statuses.keys()].every((status) => [200, 400, 404, 415, 429, 501].includes(status)),
    JSON.stringify([...statuses]),
  );
  t.match(await client.ping({ data: 'x' }), { data: 'Hello, x!' });
  // A few random messages are valid ones that declare odd things; the tasks are what must not have changed.
  t.equal((await dump(forge)).replace(/^\[\[.*?\],\[/, ''), before.replace(/^\[\[.*?\],\[/, ''));
});

t.test('what begins like HTTP/2 and is none, and silent connections do no harm', async (t) => {
  const { url } = await startForge(t);
  const { hostname, port } = new URL(url);
  const say = (text: string | Buffer) =>
    new Promise<string>((resolve) => {
      const socket = connect(Number(port), hostname);
      let received = '';
      socket
        .on('data', (bytes) => (received += bytes.toString('latin1')))
        .on('close', () => resolve(received))
        .on('error', () => {});
      socket.write(text);
      setTimeout(() => socket.destroy(), 300);
    });
  t.match(await say('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'), /^HTTP\/1\.1 200/);
  t.match(await say('P'), '');
  await say('PRI nonsense\r\n\r\n');
  await say('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' + '\xff'.repeat(100));
  await say(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), seededRandom(1).bytes(2000)]));
  const slow = new Promise<string>((resolve) => {
    const socket = connect(Number(port), hostname);
    let received = '';
    socket.on('data', (bytes) => (received += bytes.toString('latin1'))).on('close', () => resolve(received));
    const parts = [...'PUT /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'];
    const next = () => {
      const part = parts.shift();
      if (part !== undefined) socket.write(part, () => setTimeout(next, 2));
    };
    next();
  });
  t.match(await slow, /^HTTP\/1\.1 405/, 'one byte at a time');
  const session = connectHttp2(url);
  const response = await new Promise<number>((resolve) => {
    const stream = session.request({ ':path': '/healthz' });
    stream.on('response', (headers) => resolve(Number(headers[':status'])));
    stream.on('error', () => resolve(0));
    stream.end();
  });
  t.equal(response, 415, 'HTTP/2 here is gRPC alone');
  session.destroy();
  t.equal((await fetch(`${url}/healthz`)).status, 200);
});
