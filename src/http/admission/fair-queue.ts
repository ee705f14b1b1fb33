import { hash } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { readSessionCookie } from '../request/session-cookie.ts';
import type { Exchange } from '../context.ts';

/**
 * How many requests of one lane begin in one turn of the event loop. A page takes a dozen
 * turns, and in each of them it waits for all that others begin there: so their number is
 * what a crowd can cost a person.
 */
const defaultPerTurn = 8;
/** Whoever is forgotten waits once with the strangers. */
const maxKnown = 4_096;

/**
 * Whoever has proven who they are has a lane of their own; all strangers together have one.
 * A lane that asks for more than its share of a turn waits for the next. Nothing is refused
 * here, and nobody gets a right: a lane is only a place in time.
 */
export interface FairQueue {
  before(next: RequestListener): RequestListener;
  /** To be called when a request begins; remembers at its end whose credentials were good. */
  note(exchange: Pick<Exchange, 'req' | 'res' | 'state'>): void;
}

interface ClientQueue {
  begun: number;
  waiting: (() => void)[];
}

const anonymous = '';

export function createFairQueue({ perTurn = defaultPerTurn } = {}): FairQueue {
  /** Digests of credentials; least recently used first. */
  const known = new Set<string>();
  const lanes = new Map<string, ClientQueue>();
  let isTurnAwaited = false;

  function awaitTurn(): void {
    if (isTurnAwaited) return;
    isTurnAwaited = true;
    setImmediate(takeTurn);
  }

  function takeTurn(): void {
    isTurnAwaited = false;
    for (const [name, lane] of lanes) {
      const now = lane.waiting.splice(0, perTurn);
      if (now.length === 0) lanes.delete(name);
      lane.begun = now.length;
      for (const begin of now) begin();
    }
    if (lanes.size > 0) awaitTurn();
  }

  return {
    before: (next) => (request, response) => {
      const digest = digestOf(request.headers);
      const name = digest !== null && known.has(digest) ? digest : anonymous;
      let lane = lanes.get(name);
      if (lane === undefined) lanes.set(name, (lane = { begun: 0, waiting: [] }));
      awaitTurn();
      if (lane.begun < perTurn) {
        lane.begun += 1;
        next(request, response);
      } else {
        lane.waiting.push(() => {
          // Who has left meanwhile is not missed: nothing was done yet.
          if (!response.destroyed && !request.destroyed) next(request, response);
        });
      }
    },
    note({ req, res, state }) {
      const digest = digestOf(req.headers);
      if (digest === null) return;
      res.once('close', () => {
        known.delete(digest);
        if (state.identity.viewer.kind !== 'person') return;
        known.add(digest);
        if (known.size > maxKnown) known.delete(known.values().next().value!);
      });
    },
  };
}

/** Of what a request brings to prove who sends it; null when it brings nothing. */
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
