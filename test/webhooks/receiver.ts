// receiver(t) → an HTTP server on this machine that takes deliveries: what it got, and what it responds with.
import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Owner } from '../fixtures/temporary-folder.ts';

interface Received {
  /** With the query. */
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface Receiver {
  host: string;
  url: string;
  got: Received[];
  /** Status and body of the next responses; the last one stays. */
  responses: [status: number, body: string][];
  /** Where answers of 3xx point to; nobody is there by default. */
  elsewhere: string;
}

export async function startReceiver(t: Owner): Promise<Receiver> {
  const got: Received[] = [];
  const responses: Receiver['responses'] = [[200, 'thanks']];
  const receiver: Receiver = { host: '', url: '', got, responses, elsewhere: 'http://127.0.0.1:1/' };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      got.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(parts) });
      const [status, body] = responses.length > 1 ? responses.shift()! : responses[0]!;
      response.writeHead(status, status >= 300 && status < 400 ? { Location: receiver.elsewhere } : {}).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(receiver, { host, url: `http://${host}/hook` });
}
