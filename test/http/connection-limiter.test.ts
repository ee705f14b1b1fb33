// Connections that take a place without finishing a request (security I04).
import { EventEmitter } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import t from 'tap';
import { createConnectionLimiter } from '../../src/http/connection-limiter.ts';
import { createHttpServer } from '../../src/http/server.ts';
import type { RunnerListener } from '../../src/http/route-runner-requests.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const flooding = '127.0.0.2';
const other = '127.0.0.3';

interface Started {
  trusted?: readonly string[];
  runners?: RunnerListener;
}

async function start(t: { teardown(work: () => unknown): void }, { trusted = [], runners }: Started = {}) {
  const server = createHttpServer({
    host: '127.0.0.1',
    port: 0,
    trusted,
    runners,
    handle: (request, response) => void request.resume().on('end', () => response.end('ok')),
  });
  t.teardown(() => server.stop({ graceMs: 0 }));
  const { port } = await server.listen();
  const open = new Set<Socket>();
  return {
    open,
    /** A connection that sends something and then waits. */
    async hold(from: string, bytes: string): Promise<Socket> {
      const socket = connect({ port, host: '127.0.0.1', localAddress: from });
      t.teardown(() => socket.destroy());
      socket.on('error', () => {}).on('close', () => open.delete(socket));
      await new Promise<void>((resolve) => socket.on('connect', () => resolve()).on('close', () => resolve()));
      open.add(socket);
      socket.resume().write(bytes);
      return socket;
    },
    get: (from: string) =>
      new Promise<string>((resolve, reject) => {
        const sent = httpRequest({ port, host: '127.0.0.1', localAddress: from, agent: false }, (response) => {
          let text = '';
          response.on('data', (bytes: Buffer) => (text += bytes.toString())).on('end', () => resolve(text));
        });
        sent.on('error', reject).end();
      }),
  };
}

const halfARequest = 'GET / HTTP/1.1\r\nHost: a\r\n';

t.test('security I04 incomplete requests from one address lock no client out, and leave a hundred slots', async (t) => {
  const server = await start(t);
  await Promise.all(Array.from({ length: 1_005 }, () => server.hold(flooding, halfARequest)));
  t.equal(await server.get(other), 'ok');
  t.equal(await server.get(flooding), 'ok', 'a neighbour of theirs is served as well');
  // The neighbour's own connection has displaced one of them.
  await waitUntil(() => server.open.size <= 100);
  t.ok(server.open.size >= 99);
});

t.test('security I04 new clients are served when many addresses or one proxy have taken all places', async (t) => {
  const server = await start(t, { trusted: ['loopback'] });
  await Promise.all(Array.from({ length: 1_005 }, () => server.hold(flooding, halfARequest)));
  await waitUntil(() => server.open.size <= 1_000);
  t.ok(server.open.size >= 990, 'one proxy speaks for many');
  t.equal(await server.get(other), 'ok');
  t.equal(await server.get(flooding), 'ok');
});

t.test('an upload that goes on, and a request that is being served, keep their slot', async (t) => {
  const server = await start(t);
  const upload = await server.hold(flooding, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nfirst');
  const sending = setInterval(() => upload.write('more'), 20);
  t.teardown(() => clearInterval(sending));
  await Promise.all(Array.from({ length: 150 }, () => server.hold(flooding, halfARequest)));
  await waitUntil(() => server.open.size <= 100);
  t.ok(server.open.has(upload));
});

t.test('bodies that do not come, and HTTP/2 that says nothing, count as well', async (t) => {
  const taken: Socket[] = [];
  const runners = { handleRequest: () => false, handleHttp2: (socket: Socket) => void taken.push(socket.resume()) };
  const server = await start(t, { runners });
  t.teardown(() => taken.forEach((socket) => socket.destroy()));
  for (let index = 0; index < 60; index += 1) {
    await server.hold(flooding, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n');
    await server.hold(flooding, 'PRI * HTTP/2.0\r\n\r\n');
    await server.hold(flooding, 'PR');
  }
  await waitUntil(() => server.open.size <= 100);
  t.equal(await server.get(other), 'ok');
});

t.test('the limiter, one connection at a time', async (t) => {
  let time = 1e6;
  const limits = { total: 6, reserved: 2, perNetwork: 3 };
  const dropped: string[] = [];
  const make = (isTrusted: (address: string) => boolean = () => false) => {
    const limiter = createConnectionLimiter({ limits, isTrusted, now: () => time });
    dropped.length = 0;
    return {
      limiter,
      arrive(name: string, remoteAddress: string) {
        const socket = Object.assign(new EventEmitter(), {
          remoteAddress,
          bytesRead: 0,
          destroy() {
            dropped.push(name);
            socket.emit('close');
          },
        });
        limiter.arrived(socket);
        return socket;
      },
    };
  };
  type Arrived = ReturnType<ReturnType<typeof make>['arrive']>;
  const message = (socket: Arrived, headers: Record<string, string> = {}) => {
    const request = Object.assign(new EventEmitter(), { socket, headers, complete: false });
    return { request, response: new EventEmitter() };
  };

  t.test('of one network the one that waits longest gives way, whatever it is called', async (t) => {
    const { arrive } = make();
    for (const [at, address] of ['2001:db8::1', '2001:db8::2', '2001:db8:0:0:f::', '2001:db8::3'].entries())
      arrive(`${at}`, address);
    t.strictSame(dropped, ['0']);
    arrive('another network', '2001:db8:1::1');
    arrive('IPv4', '198.51.100.7');
    t.strictSame(dropped, ['0', '1'], 'four places are for others than this machine');
  });

  t.test('places are left for this machine', async (t) => {
    const { arrive } = make();
    for (let index = 0; index < 6; index += 1) arrive(`far ${index}`, `198.51.100.${index}`);
    t.strictSame(dropped, ['far 0', 'far 1']);
    arrive('here', '127.0.0.1');
    arrive('here too', '::1');
    t.equal(dropped.length, 2);
    arrive('and here', '::ffff:127.0.0.1');
    t.strictSame(dropped.slice(2), ['far 2'], 'from outside goes first');
  });

  t.test('who is served is never dropped; when all are, the newcomer goes', async (t) => {
    const { arrive, limiter } = make();
    const served = Array.from({ length: 4 }, (_, index) => message(arrive(`${index}`, `198.51.100.${index}`)));
    for (const { request, response } of served) limiter.requested(request, response);
    arrive('late', '198.51.100.9');
    t.strictSame(dropped, ['late']);
    served[1]!.response.emit('close');
    arrive('later', '198.51.100.9');
    t.strictSame(dropped, ['late', '1'], 'one that waits for its next request gives way');
  });

  t.test('of those whose body has not come, the one that has been silent longest goes', async (t) => {
    const { arrive, limiter } = make();
    const sockets = Array.from({ length: 4 }, (_, index) => arrive(`${index}`, `198.51.100.${index}`));
    const uploads = sockets.map((socket) => message(socket, { 'content-length': '100' }));
    for (const { request, response } of uploads) limiter.requested(request, response);
    time += 5_000;
    sockets[0]!.bytesRead = 10;
    sockets[2]!.bytesRead = 10;
    limiter.sampleActivity();
    time += 1_000;
    arrive('first', '198.51.100.9');
    t.strictSame(dropped, ['1']);
    uploads[3]!.request.complete = true;
    arrive('second', '198.51.100.10');
    t.strictSame(dropped, ['1', 'first'], 'the third has arrived whole, the newcomer before only waits');
  });

  t.test('a trusted proxy may take all places', async (t) => {
    const { arrive } = make((address) => address === '198.51.100.1');
    for (let index = 0; index < 4; index += 1) arrive(`${index}`, '198.51.100.1');
    t.strictSame(dropped, []);
    arrive('direct', '198.51.100.9');
    t.strictSame(dropped, ['0']);
    arrive('direct again', '198.51.100.10');
    t.strictSame(dropped, ['0', 'direct'], 'who is not trusted goes first');
  });
});
