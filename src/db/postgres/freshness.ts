import { databaseUnavailable } from './faults.ts';

/** Queries PostgreSQL for the visible transactions; two equal results mean exactly the same ones. */
export interface Freshness {
  /** The result of a query sent after the call. Throws `database_unavailable` after a second. */
  ask(): Promise<string>;
}

/** Milliseconds. */
const patienceMs = 1_000;

/**
 * Callers share a query that has not been sent yet: one runs, one waits.
 * @param question sends one query; its result also names the connection
 */
export function createFreshness(question: () => Promise<string>): Freshness {
  let running: Promise<unknown> | null = null;
  let waiting: Promise<string> | null = null;

  function send(): Promise<string> {
    const asked = withPatience(question());
    const done = asked.then(
      () => {},
      () => {},
    );
    running = done;
    void done.then(() => {
      if (running === done) running = null;
    });
    return asked;
  }

  return {
    ask() {
      if (running === null) return send();
      waiting ??= running.then(() => {
        waiting = null;
        return send();
      });
      return waiting;
    },
  };
}

async function withPatience<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    // A reply that arrived while this process was busy is read first.
    timer = setTimeout(() => setImmediate(() => setImmediate(() => reject(databaseUnavailable()))), patienceMs);
  });
  try {
    return await Promise.race([work, tooLate]);
  } catch (error) {
    throw databaseUnavailable(error);
  } finally {
    clearTimeout(timer);
  }
}
