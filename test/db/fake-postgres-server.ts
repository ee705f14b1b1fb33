// startFakePostgres(t, behaviour) → the address of a server that speaks as much of PostgreSQL's protocol as a start
// needs, and is one that a start has to refuse: too old, a standby, a wrong password. For real ones there is
// fixtures/postgres.ts.
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import type { Owner } from '../fixtures/temporary-folder.ts';

export type Behaviour =
  | { kind: 'silent' } // accepts, and never answers
  | { kind: 'closes' }
  | { kind: 'says'; text: string } // another protocol
  | { kind: 'error'; code: string; message: string } // instead of signing in
  | { kind: 'stalls' } // signs in, and never answers a query
  | { kind: 'facts'; facts: Record<string, string | number> }; // each query has this row

const message = (type: string, ...parts: (Buffer | string | number)[]): Buffer => {
  const body = Buffer.concat(
    parts.map((part) => {
      if (typeof part === 'string') return Buffer.from(`${part}\0`);
      if (Buffer.isBuffer(part)) return part;
      const number = Buffer.alloc(4);
      number.writeInt32BE(part);
      return number;
    }),
  );
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
};
const short = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
const ready = message('Z', Buffer.from('I'));

function rowOf(facts: Record<string, string | number>): Buffer {
  const text = 25;
  const integer = 23;
  const entries = Object.entries(facts);
  const columns = entries.flatMap(([name, value]) => [
    name,
    0,
    short(0),
    typeof value === 'number' ? integer : text,
    short(65_535),
    -1,
    short(0),
  ]);
  const values = entries.flatMap(([, value]) => {
    const bytes = Buffer.from(String(value));
    return [bytes.length, bytes];
  });
  return Buffer.concat([
    message('T', short(entries.length), ...columns),
    message('D', short(entries.length), ...values),
    message('C', 'SELECT 1'),
    ready,
  ]);
}

export async function startFakePostgres(t: Owner, behaviour: Behaviour): Promise<string> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => {
      switch (behaviour.kind) {
        case 'silent':
          return;
        case 'closes':
          return void socket.end();
        case 'says':
          return void socket.end(behaviour.text);
        case 'error':
          return void socket.end(
            message('E', 'SFATAL', `C${behaviour.code}`, `M${behaviour.message}`, Buffer.from([0])),
          );
      }
      socket.write(Buffer.concat([message('R', 0), ready]));
      socket.on('data', (bytes: Buffer) => {
        if (behaviour.kind === 'facts' && bytes.toString('latin1', 0, 1) === 'Q') socket.write(rowOf(behaviour.facts));
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `postgres://hearth:hunter2@127.0.0.1:${(server.address() as AddressInfo).port}/hearth`;
}
