import { hash } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { createLru } from '../../kernel/index.ts';
import type { Exchange } from '../context.ts';
import { readSessionCookie } from '../request/session-cookie.ts';

/**
 * Limit of requests of one client that begin in one turn of the event loop. A page takes a dozen turns, and in each of
 * them it waits for all requests of others that begin there: so this limit determines the cost of an overload for a
 * user.
 */
const defaultPerTurn = 8;
/** A client that was dropped from the list waits once with the anonymous ones. */
const maxKnown = 4_096;

/**
 * Fair queue by client: an authenticated client has a queue of its own; all anonymous clients share one. Requests
 * beyond the share of a queue in this turn wait for the next turn. The queue never refuses a request and grants no
 * permissions: it only decides when a request begins.
 */
interface FairQueue {
  enqueue(next: RequestListener): RequestListener;
  /** Must be called when a request begins; remembers valid credentials when it ends. */
  onRequest(exchange: Pick<Exchange, 'req' | 'res' | 'state'>): void;
}

interface ClientQueue {
  begun: number;
  waiting: (() => void)[];
}

const anonymous = '';

export function createFairQueue({ perTurn = defaultPerTurn } = {}): FairQueue {
  /** Digests of valid credentials. */
  const known = createLru<string, true>({ name: 'credentials of the fair queue', maxWeight: maxKnown });
  const queues = new Map<string, ClientQueue>();
  let isTurnScheduled = false;

  function scheduleTurn(): void {
    if (isTurnScheduled) return;
    isTurnScheduled = true;
    setImmediate(beginTurn);
  }

  function beginTurn(): void {
    isTurnScheduled = false;
    for (const [client, queue] of queues) {
      const now = queue.waiting.splice(0, perTurn);
      if (now.length === 0) queues.delete(client);
      queue.begun = now.length;
      for (const begin of now) begin();
    }
    if (queues.size > 0) scheduleTurn();
  }

  return {
    enqueue: (next) => (request, response) => {
      const digest = digestOf(request.headers);
      const client = digest !== null && known.peek(digest) !== undefined ? digest : anonymous;
      let queue = queues.get(client);
      if (queue === undefined) queues.set(client, (queue = { begun: 0, waiting: [] }));
      scheduleTurn();
      if (queue.begun < perTurn) {
        queue.begun += 1;
        next(request, response);
      } else {
        queue.waiting.push(() => {
          // The client may have disconnected meanwhile: nothing was done yet.
          if (!response.destroyed && !request.destroyed) next(request, response);
        });
      }
    },
    onRequest({ req, res, state }) {
      const digest = digestOf(req.headers);
      if (digest === null) return;
      res.once('close', () => {
        if (state.identity.viewer.kind === 'person') known.set(digest, true);
        else known.delete(digest);
      });
    },
  };
}

/** The digest of the credentials in a request; null if it has none. */
function digestOf({
  authorization,
  cookie,
}: {
  authorization?: string | undefined;
  cookie?: string | undefined;
}): string | null {
  const secret =
    authorization ??
    (cookie === undefined ? null : (readSessionCookie(cookie, 'https://') ?? readSessionCookie(cookie, 'http://')));
  return secret === null ? null : hash('sha256', secret, 'base64');
}
