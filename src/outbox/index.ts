import { outboxSchema } from './schema/outbox-schema.ts';

export { createOutbox } from './outbox.ts';
export type { NewMessage, Outbox } from './outbox.ts';
export type { Attempt, Handled, Handler, HandlerMetrics, Message } from './handler.ts';
export type { Outcome } from './message-state.ts';
export { backoffMs } from './backoff.ts';
export { createDrain } from './drain.ts';
export type { Drain, Finished, KeyLimits, Leased, Queue, WriteBatch } from './drain.ts';
export type { MessageState } from './schema/outbox-schema.ts';

export const outboxEntities = [outboxSchema];
