import { EntitySchema } from 'typeorm';
import type { Json } from '../workflows/json-value.ts';

/** A row of `ci_pending_events`: an event recorded inside a write whose workflows must still be started. */
export interface PendingEventRow {
  id: number;
  repositoryId: string;
  event: 'release' | 'workflow_run';
  /** Activity type: `published`, `completed`. */
  action: string;
  /** Payload of the event except `repository` and `sender`. */
  details: { [key: string]: Json };
  /** Full name of the ref whose workflows are read; null for the default branch. */
  ref: string | null;
  isTrusted: boolean;
  actorId: string | null;
  createdAt: number;
}

export const pendingEventSchema = new EntitySchema<PendingEventRow>({
  name: 'ciPendingEvent',
  tableName: 'ci_pending_events',
  columns: {
    id: { type: 'integer', primary: true, generated: 'increment' },
    repositoryId: { name: 'repository_id', type: 'text' },
    event: { type: 'text' },
    action: { type: 'text' },
    details: { type: 'simple-json' },
    ref: { type: 'text', nullable: true },
    isTrusted: { name: 'is_trusted', type: 'boolean' },
    actorId: { name: 'actor_id', type: 'text', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});
