import { BlockList, isIP } from 'node:net';
import { networkPrefix } from '../kernel/index.ts';

interface ConnectionLimits {
  /** Limit of all connections. */
  total: number;
  /** Number of them reserved for this machine: for health checks, and for an administrator under overload. */
  reserved: number;
  /** Limit of connections of one network whose request has not arrived yet. */
  perNetwork: number;
}

/**
 * A thousand connections cost some tens of megabytes. A browser opens six to one host, so a hundred without a complete
 * request are those of an office that opens pages at the same moment.
 */
const usualLimits: ConnectionLimits = { total: 1_000, reserved: 16, perNetwork: 100 };

/** The properties of sockets, requests and responses that the limiter needs. */
interface Connection {
  readonly remoteAddress?: string | undefined;
  readonly bytesRead: number;
  destroy(): void;
  once(event: 'close', listener: () => void): unknown;
}
interface Request {
  readonly socket: Connection;
  readonly headers: {
    readonly 'content-length'?: string | undefined;
    readonly 'transfer-encoding'?: string | undefined;
  };
  readonly complete: boolean;
}
interface Response {
  once(event: 'close', listener: () => void): unknown;
}

interface Entry {
  readonly connection: Connection;
  readonly network: string;
  readonly isLocal: boolean;
  readonly isTrusted: boolean;
  /**
   * `waiting` for the head of a request; `receiving` its body, or HTTP/2, whose requests are not visible here; being
   * `served`.
   */
  phase: 'waiting' | 'receiving' | 'served';
  /** The request being received; null for HTTP/2. */
  request: Request | null;
  /** Requests without a response yet. */
  pending: number;
  bytesRead: number;
  receivedMs: number;
}

interface ConnectionLimiter {
  /** Finds a slot for a new connection: closes another one, or this one. */
  arrived(connection: Connection): void;
  /** The head of a request has arrived. */
  requested(request: Request, response: Response): void;
  /** The connection turned out to use HTTP/2, whose requests are not visible here. */
  upgradedToHttp2(connection: Connection): void;
  /** Checks which connections have sent data since the last call; must be called every second. */
  sampleActivity(): void;
}

/** For IPv4; IPv6 has the one address `::1`. */
const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');

/**
 * Decides which connection to close if there are too many. Node would refuse the new connection, so that a thousand
 * incomplete requests lock all clients out for as long as they may take to send the rest.
 *
 * If a network has too many incomplete requests, its connection that has waited longest for the head of a request is
 * closed. If all slots are taken, the one that has waited longest of all networks is closed, then the one that has been
 * silent longest within a body. A connection whose request is being served is never closed. Trusted proxies forward
 * requests of many users: the limit of one network does not apply to them, and their connections are closed after all
 * others.
 *
 * @param now monotonic milliseconds
 */
export function createConnectionLimiter({
  limits = usualLimits,
  isTrusted,
  now,
}: {
  limits?: ConnectionLimits;
  isTrusted(address: string): boolean;
  now(): number;
}): ConnectionLimiter {
  const entries = new Map<Connection, Entry>();
  /** Connections without a complete request, in the order in which they began to wait; a Set preserves it. */
  const waiting = new Set<Entry>();
  const receiving = new Set<Entry>();
  const unfinishedOf = new Map<string, Set<Entry>>();
  let localCount = 0;

  function enter(entry: Entry, phase: Entry['phase']): void {
    leavePhase(entry);
    entry.phase = phase;
    if (phase === 'served') return;
    entry.receivedMs = now();
    (phase === 'waiting' ? waiting : receiving).add(entry);
    const neighbours = unfinishedOf.get(entry.network);
    if (neighbours === undefined) unfinishedOf.set(entry.network, new Set([entry]));
    else neighbours.add(entry);
  }

  function leavePhase(entry: Entry): void {
    waiting.delete(entry);
    receiving.delete(entry);
    const neighbours = unfinishedOf.get(entry.network);
    neighbours?.delete(entry);
    if (neighbours?.size === 0) unfinishedOf.delete(entry.network);
  }

  function forget(entry: Entry): void {
    if (!entries.delete(entry.connection)) return;
    leavePhase(entry);
    if (entry.isLocal) localCount -= 1;
  }

  function drop(entry: Entry): void {
    forget(entry);
    entry.connection.destroy();
  }

  /** A body is complete some time before the handler is notified. */
  function settle(some: Iterable<Entry>): void {
    for (const entry of some) if (entry.request?.complete) enter(entry, 'served');
  }

  /** The connection to close when all slots are taken. */
  function victim(mayBeLocal: boolean): Entry | null {
    settle(receiving);
    const may = [(entry: Entry) => !entry.isTrusted && !entry.isLocal, (entry: Entry) => mayBeLocal || !entry.isLocal];
    for (const suits of may) {
      for (const entry of waiting) if (suits(entry)) return entry;
      const silent = [...receiving].filter(suits);
      if (silent.length > 0) return silent.reduce((one, each) => (each.receivedMs < one.receivedMs ? each : one));
    }
    return null;
  }

  /** Within its network; a connection in the middle of a body is closed only if none waits. */
  function neighbourVictim(entry: Entry): Entry {
    const neighbours = unfinishedOf.get(entry.network) ?? new Set();
    for (const each of neighbours) if (each.phase === 'waiting') return each;
    return entry;
  }

  return {
    arrived(connection) {
      const { remoteAddress = '' } = connection;
      const network = networkPrefix(remoteAddress);
      // Addresses with a zone, and of disconnected clients, need no check.
      const isLocal = remoteAddress === '::1' || (isIP(network) === 4 && loopback.check(network));
      const entry: Entry = {
        connection,
        network,
        isLocal,
        isTrusted: isTrusted(remoteAddress),
        phase: 'waiting',
        request: null,
        pending: 0,
        bytesRead: 0,
        receivedMs: now(),
      };
      entries.set(connection, entry);
      if (isLocal) localCount += 1;
      connection.once('close', () => forget(entry));

      const isFullForOthers = !isLocal && entries.size - localCount > limits.total - limits.reserved;
      if (isFullForOthers || entries.size > limits.total) drop(victim(!isFullForOthers) ?? entry);
      if (!entries.has(connection)) return;
      enter(entry, 'waiting');
      if (entry.isTrusted) return;
      const neighbours = unfinishedOf.get(network)!;
      if (neighbours.size > limits.perNetwork) settle(neighbours);
      if (neighbours.size > limits.perNetwork) drop(neighbourVictim(entry));
    },

    requested(request, response) {
      const entry = entries.get(request.socket);
      if (entry === undefined) return;
      const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
      const hasBody = encoding !== undefined || length !== '0';
      entry.pending += 1;
      entry.request = request;
      enter(entry, hasBody ? 'receiving' : 'served');
      response.once('close', () => {
        entry.pending -= 1;
        if (entry.pending === 0 && entries.has(entry.connection)) enter(entry, 'waiting');
      });
    },

    upgradedToHttp2(connection) {
      const entry = entries.get(connection);
      if (entry !== undefined) enter(entry, 'receiving');
    },

    sampleActivity() {
      settle(receiving);
      for (const entry of receiving) {
        const { bytesRead } = entry.connection;
        if (bytesRead === entry.bytesRead) continue;
        entry.bytesRead = bytesRead;
        entry.receivedMs = now();
      }
    },
  };
}
