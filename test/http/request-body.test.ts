// Bodies that are watched for silence, as uploads of packages and large files are.
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { openBody } from '../../src/http/index.ts';

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

t.test('no timer outlives a request whose body is not read', async (t) => {
  const server = createServer((req, res) => {
    openBody(req, {
      maxBytes: 1_000,
      tooLarge: () => new Error('too large'),
      stall: { ms: 60_000, error: () => new Error('stalled') },
    });
    res.writeHead(req.url === '/refused' ? 403 : 200, { Connection: 'close' }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const before = timers();
  for (const [path, body] of [
    ['/refused', 'some bytes'],
    ['/refused', ''],
    ['/taken', 'some bytes'],
  ] as const) {
    const sent = request({ port, path, method: 'PUT' });
    sent.end(body);
    const [response] = await once(sent, 'response');
    response.resume();
    await once(response, 'close');
  }
  server.close();
  await once(server, 'close');
  t.equal(timers(), before);
});
