import type { Client, PoolConfig } from 'pg';
import type { PoolerMode } from '../database-interface.ts';
import { openConnection } from './pools.ts';

/** Two clients get the same connection of the server within so many turns, unless each has one of its own. */
const turns = 8;

/**
 * PgBouncer forwards statements unread, but numbers connections itself. Null when there is none. Throws the client's
 * errors.
 */
export async function findPooler(config: PoolConfig): Promise<PoolerMode | null> {
  const clients = [openConnection(config), openConnection(config)] as const;
  try {
    for (const client of clients) {
      client.on('error', () => {});
      await client.connect();
    }
    const seen = new Map(clients.map((client) => [client, new Set<number>()]));
    for (let turn = 0; turn < turns; turn += 1)
      for (const [client, numbers] of seen) numbers.add(await serverConnection(client));
    const [first, second] = [...seen.values()] as [Set<number>, Set<number>];
    if (first.size === 1 && first.has(numberOf(clients[0]))) return null;
    const isOwn = first.size === 1 && second.size === 1 && !second.has([...first][0] ?? 0);
    return isOwn ? 'session' : 'transaction';
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})));
  }
}

/** As announced when the connection was opened; the client's types lack it. */
const numberOf = (client: Client): number => (client as unknown as { processID: number }).processID;

async function serverConnection(client: Client): Promise<number> {
  const { rows } = await client.query('SELECT pg_backend_pid() AS number');
  const [{ number }] = rows as [{ number: number }];
  return number;
}
