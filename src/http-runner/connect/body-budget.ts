import { unavailable } from '../../kernel/index.ts';

/** Bytes of messages in memory at a time, over all clients (security H09). */
const maxBytesInFlight = 256 * 1024 * 1024;

/** Limits the memory for messages, so that many slow senders cannot exhaust it. */
export class BodyBudget {
  #bytes = 0;

  open(): { add(bytes: number): void; close(): void } {
    let own = 0;
    return {
      add: (bytes) => {
        own += bytes;
        this.#bytes += bytes;
        if (this.#bytes > maxBytesInFlight) {
          throw unavailable('too_many_messages', 'Too many messages come at once. Try again in a moment.', {
            retryAfterSeconds: 1,
          });
        }
      },
      close: () => {
        this.#bytes -= own;
        own = 0;
      },
    };
  }
}
