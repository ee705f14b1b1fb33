import { outboxSchema } from './schema/outbox-schema.ts';

export { createOutbox } from './outbox.ts';
export type { Outbox } from './outbox.ts';
export type { Handled, Handler, Message } from './handler.ts';
export type { Outcome } from './message-state.ts';
export { backoffMs } from './backoff.ts';
export { createDrain } from './drain.ts';
export type { KeyLimits, Leased, Queue } from './drain.ts';
export type { MessageState } from './schema/outbox-schema.ts';

export const outboxEntities = [outboxSchema];
