import type { SshLimits } from './limits.ts';

/** A new connection, as passed to the limiter. */
interface PendingConnection {
  /** As returned by `networkPrefix`. */
  address: string;
  /** Admitted: start the SSH protocol. */
  begin(): void;
  /** Refused or displaced: close the connection. */
  reject(reason: string): void;
}

/** The slot of a connection, through which it reports its state. */
export interface ConnectionSlot {
  /** Bytes were received. */
  bytesReceived(): void;
  /**
   * @returns false if the account is at its limit; then `reject` was called.
   */
  signedIn(account: string): boolean;
  /** Whether a command is running. Busy connections are never displaced. */
  setBusy(busy: boolean): void;
  /** The connection is closed. */
  leave(): void;
}

interface Entry extends PendingConnection {
  stage: 'waiting' | 'arriving' | 'signed in' | 'gone';
  hasSentBytes: boolean;
  isBusy: boolean;
  account: string | null;
  lastBytesMs: number;
}

const retryMs = 50;

type ConnectionLimits = Pick<SshLimits, 'arriving' | 'perAddress' | 'perAccount' | 'waiting' | 'silentMs' | 'quietMs'>;

/**
 * Limits concurrent connections and decides which ones are served under overload.
 *
 * At most `arriving` connections that have not signed in are served, and at most `perAddress` of one address. Others
 * wait in a queue, so that fifty clones started at once from one office all succeed. While there is a queue, a
 * connection that does not use its slot loses it: first those of the address with the most slots, and among these the
 * one that has been quiet for longest. A real client signs in within a second and is never affected; a flood of silent
 * sockets only displaces itself. If new connections were refused instead, twenty silent sockets could block the server.
 *
 * One account has at most `perAccount` signed-in connections.
 *
 * @param now monotonic milliseconds
 */
export function createConnectionLimiter({ limits, now }: { limits: ConnectionLimits; now: () => number }) {
  const entries = new Set<Entry>();
  let retry: NodeJS.Timeout | undefined;

  const count = (matches: (entry: Entry) => boolean) => [...entries].filter(matches).length;
  const inside = (entry: Entry) => entry.stage === 'arriving' || entry.stage === 'signed in';
  const insideOf = (address: string) => count((entry) => inside(entry) && entry.address === address);
  const arriving = () => count((entry) => entry.stage === 'arriving');
  const waiting = () => [...entries].filter((entry) => entry.stage === 'waiting');

  /** @param share the remaining part of the usual timeout, up to 1 */
  function isIdle(entry: Entry, share = 1): boolean {
    const idleLimitMs = entry.hasSentBytes ? Math.max(limits.silentMs, limits.quietMs * share) : limits.silentMs;
    return inside(entry) && !entry.isBusy && now() - entry.lastBytesMs >= idleLimitMs;
  }

  function remove(entry: Entry): void {
    entry.stage = 'gone';
    entries.delete(entry);
  }

  function reject(entry: Entry, reason: string): void {
    remove(entry);
    entry.reject(reason);
  }

  /**
   * The connection to displace for a new one from `address`; `null` if a slot is free, `undefined` if there is none.
   */
  function connectionToDisplace(address: string): Entry | null | undefined {
    if (insideOf(address) >= limits.perAddress) {
      return longestQuiet([...entries].filter((entry) => isIdle(entry) && entry.address === address));
    }
    if (arriving() < limits.arriving) return null;
    // The more slots an address holds, the shorter its timeout. This only benefits other addresses: the clients of one
    // office must not displace each other.
    const share = (other: string) => (other === address ? 1 : 1 / insideOf(other));
    const idle = [...entries].filter((entry) => entry.stage === 'arriving' && isIdle(entry, share(entry.address)));
    const most = Math.max(...idle.map((entry) => insideOf(entry.address)));
    return longestQuiet(idle.filter((entry) => insideOf(entry.address) === most));
  }

  function fewestSlotsFirst(queue: Entry[]): Entry[] {
    const slots = new Map(queue.map((entry) => [entry.address, insideOf(entry.address)]));
    return queue.sort((one, other) => (slots.get(one.address) ?? 0) - (slots.get(other.address) ?? 0));
  }

  /**
   * Among the connections of an account with too many, closes the one that has been idle longest; if all are busy, the
   * newest.
   */
  function displace(newest: Entry, account: string): void {
    const own = [...entries].filter((entry) => entry.account === account);
    if (own.length <= limits.perAccount) return;
    reject(longestQuiet(own.filter((entry) => entry !== newest && !entry.isBusy)) ?? newest, 'account_full');
  }

  /** Admits waiting connections; those from the address with the fewest slots first. */
  function advance(): void {
    clearTimeout(retry);
    for (const entry of fewestSlotsFirst(waiting())) {
      let displaced = connectionToDisplace(entry.address);
      for (; displaced; displaced = connectionToDisplace(entry.address)) reject(displaced, 'place_needed');
      if (displaced === undefined) continue;
      entry.stage = 'arriving';
      entry.lastBytesMs = now();
      entry.begin();
    }
    // No event reports that a connection has become quiet.
    if (waiting().length > 0) retry = setTimeout(advance, retryMs);
  }

  return {
    arrive(client: PendingConnection): ConnectionSlot {
      const entry: Entry = {
        ...client,
        stage: 'waiting',
        hasSentBytes: false,
        isBusy: false,
        account: null,
        lastBytesMs: now(),
      };
      entries.add(entry);
      advance();
      if (waiting().length > limits.waiting) reject(lastOfTheBusiest(waiting()), 'line_full');
      return {
        bytesReceived() {
          entry.hasSentBytes = true;
          entry.lastBytesMs = now();
        },
        signedIn(account) {
          if (entry.stage === 'arriving') {
            entry.stage = 'signed in';
            entry.account = account;
            displace(entry, account);
            advance();
          }
          return entries.has(entry);
        },
        setBusy(busy) {
          entry.isBusy = busy;
          entry.lastBytesMs = now();
        },
        leave() {
          remove(entry);
          advance();
        },
      };
    },
    close() {
      clearTimeout(retry);
      entries.clear();
    },
  };
}

export type ConnectionLimiter = ReturnType<typeof createConnectionLimiter>;

function longestQuiet(entries: Entry[]): Entry | undefined {
  return entries.sort((one, other) => one.lastBytesMs - other.lastBytesMs)[0];
}

function lastOfTheBusiest(queue: Entry[]): Entry {
  const sizes = Map.groupBy(queue, (entry) => entry.address);
  const busiest = [...sizes.values()].reduce((most, each) => (each.length > most.length ? each : most));
  return busiest[busiest.length - 1] as Entry;
}
