// openConnections(port) → ask(request): a client that keeps its connection, as scripts do; close() ends it.
import { Agent, request as httpRequest } from 'node:http';
import type { ApiRequest } from './api-requests.ts';
import type { PageResponse } from '../fixtures/web-fixture.ts';

interface KeepAliveClient {
  send(request: Pick<ApiRequest, 'method' | 'target' | 'headers' | 'body'>): Promise<PageResponse>;
  close(): void;
}

export function createKeepAliveClient(port: number): KeepAliveClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  return {
    send: ({ method, target, headers, body }) =>
      new Promise((resolve, reject) => {
        const request = httpRequest({ host: '127.0.0.1', port, path: target, method, headers, agent }, (response) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: Buffer.concat(parts).toString(),
            }),
          );
          response.on('error', reject);
        });
        request.on('error', reject);
        request.end(body);
      }),
    close: () => agent.destroy(),
  };
}
