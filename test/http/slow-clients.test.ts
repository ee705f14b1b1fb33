// Clients that hold a connection and do nothing with it.
import t from 'tap';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { createHttpServer } from '../../src/http/server.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.test('security I04 silent and slow clients are disconnected, and others are served meanwhile', async (t) => {
  const closed = new Set<string>();
  const large = Buffer.alloc(64 * 1024 * 1024, 'x');
  const server = createHttpServer({
    host: '127.0.0.1',
    port: 0,
    patience: { headersMs: 400, checkedEveryMs: 50, silenceMs: 400 },
    handle: (request, response) => {
      // Who does not read does not hear of the end either.
      if (request.url === '/large') response.on('close', () => closed.add('an answer that is not read'));
      request.resume().on('end', () => response.end(request.url === '/large' ? large : 'ok'));
    },
  });
  const { port } = await server.listen();
  t.teardown(() => server.stop({ graceMs: 0 }));

  const timers: NodeJS.Timeout[] = [];
  t.teardown(() => timers.forEach(clearInterval));
  const drip = (socket: Socket, bytes: string) =>
    timers.push(setInterval(() => void (socket.writable && socket.write(bytes)), 50));
  const slow: [what: string, act: (socket: Socket) => void][] = [
    ['not a byte', () => {}],
    ['half a line', (socket) => socket.write('GET / HT')],
    [
      'headers, a byte at a time',
      (socket) => {
        socket.write('GET / HTTP/1.1\r\nHost: a\r\nX: ');
        drip(socket, 'x');
      },
    ],
    [
      'headers without an end',
      (socket) => {
        socket.write('GET / HTTP/1.1\r\nHost: a\r\n');
        drip(socket, 'X: y\r\n');
      },
    ],
    [
      'a body that does not come',
      (socket) => socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc'),
    ],
    [
      'chunks that do not come',
      (socket) => socket.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n'),
    ],
    ['an answer that is not read', (socket) => socket.pause().write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n')],
  ];
  for (const [what, act] of slow) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {}).on('close', () => closed.add(what));
    t.teardown(() => socket.destroy());
    socket.resume();
    act(socket);
  }
  let served = 0;
  await waitUntil(async () => {
    if ((await (await fetch(`http://127.0.0.1:${port}/`)).text()) === 'ok') served += 1;
    return closed.size === slow.length;
  }).catch((error: unknown) =>
    t.fail(String(error), { open: slow.map(([what]) => what).filter((what) => !closed.has(what)) }),
  );
  t.ok(served > 0, 'healthy requests were answered all the while');
});
