import { Metadata, ServerInterceptingCall, status } from '@grpc/grpc-js';
import type { ServerInterceptor } from '@grpc/grpc-js';
import type { Logger } from '../../kernel/index.ts';
import { toRpcError } from '../rpc-errors.ts';
import { procedures } from '../messages/message-types.ts';
import type { Call, RunnerService } from '../runner-service.ts';

/** Limit of one message in bytes; a backlog of log rows arrives in a single message. */
export const maxMessageBytes = 160 * 1024 * 1024;

/**
 * Limit of concurrent large messages, because grpc-js holds a message in memory until it is complete (security H09).
 */
const maxLargeMessages = 2;
/** Deadline of a large message in milliseconds, so that a slow sender does not block others. */
const largeMessageMs = 60_000;

/** Reads the credentials of a runner from the metadata. */
export function readCredentials(metadata: Metadata): Pick<Call, 'uuid' | 'token'> {
  const read = (name: string): string => {
    const [value] = metadata.get(name);
    return typeof value === 'string' ? value : '';
  };
  return { uuid: read('x-runner-uuid'), token: read('x-runner-token') };
}

/**
 * Authenticates a call before its message is read, so that an unauthenticated client cannot make the server buffer a
 * message. Limits concurrent calls of the one procedure with large messages.
 */
export function authenticateCall(service: RunnerService, logger: Logger): ServerInterceptor {
  const slots = new MessageSlots(maxLargeMessages);
  return (method, call) => {
    const procedure = procedures.get(method.path.replace(/^\/api\/actions/, ''));
    let release = (): void => {};
    return new ServerInterceptingCall(call, {
      start(next) {
        next({
          onReceiveMetadata(metadata, pass) {
            void (async () => {
              try {
                if (procedure !== undefined) await service.authenticate(procedure.name, readCredentials(metadata));
                if (procedure?.name === 'UpdateLog') {
                  release = await slots.acquire();
                  const tooSlow = setTimeout(
                    () =>
                      call.sendStatus({
                        code: status.DEADLINE_EXCEEDED,
                        details: 'The message was not received in time.',
                        metadata: new Metadata(),
                      }),
                    largeMessageMs,
                  );
                  const releaseSlot = release;
                  release = () => {
                    clearTimeout(tooSlow);
                    releaseSlot();
                  };
                }
                pass(metadata);
              } catch (error) {
                const { code, message } = toRpcError(error, logger, method.path);
                call.sendStatus({ code: code.number, details: message, metadata: new Metadata() });
              }
            })();
          },
          onCancel: () => release(),
        });
      },
      sendStatus(ended, next) {
        release();
        next(ended);
      },
    });
  };
}

/** A semaphore with a first-come queue. */
class MessageSlots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves with a function that releases the slot; calling it again has no effect. */
  async acquire(): Promise<() => void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    };
  }
}
