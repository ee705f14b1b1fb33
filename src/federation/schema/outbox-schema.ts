import { EntitySchema } from 'typeorm';

/** An activity of a local actor, in the exact bytes to send. */
export interface OutboxRow {
  /** UUID; the activity id ends with it. */
  id: string;
  /** The acting and signing actor: `ap_path` of a local actor. */
  actorPath: string;
  /** Set if the activity is about a repository: it is sent only while the repository is public. */
  repositoryId: string | null;
  type: string;
  /** Whether it is public at its id and in the outbox. */
  isPublic: boolean;
  /** Set for a note to other Hearths only; they read its fields. */
  reads: 'event' | null;
  /** JSON. */
  activity: string;
  createdAt: number;
}

export const outboxSchema = new EntitySchema<OutboxRow>({
  name: 'federationOutbox',
  tableName: 'federation_outbox',
  columns: {
    id: { type: 'text', primary: true },
    actorPath: { name: 'actor_path', type: 'text' },
    repositoryId: { name: 'repository_id', type: 'text', nullable: true },
    type: { type: 'text' },
    isPublic: { name: 'is_public', type: 'boolean' },
    reads: { type: 'text', nullable: true },
    activity: { type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});
