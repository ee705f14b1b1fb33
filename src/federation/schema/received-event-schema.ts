import { EntitySchema } from 'typeorm';

/** An event in a followed repository, as sent by its server; all of its texts are untrusted. */
export interface ReceivedEvent {
  id: string;
  /** The repository. */
  actorId: string;
  /** Id of the note with the event; its server may delete it. */
  noteId: string;
  kind: 'release' | 'opened' | 'merged';
  /** Whether it is about a pull request. */
  isPull: boolean;
  /** Of an issue or a pull request; null for a release. */
  number: number | null;
  /** Of a release; otherwise null. */
  tag: string | null;
  title: string;
  /** Name of the user who did it, from their server; null if omitted. */
  author: string | null;
  /** Its page on the sending server; null if omitted. */
  url: string | null;
  /** Time of the event, at most the time of its arrival. */
  happenedAt: number;
  receivedAt: number;
}

export const receivedEventSchema = new EntitySchema<ReceivedEvent>({
  name: 'receivedEvent',
  tableName: 'received_events',
  columns: {
    id: { type: 'text', primary: true },
    actorId: { name: 'actor_id', type: 'text' },
    noteId: { name: 'note_id', type: 'text' },
    kind: { type: 'text' },
    isPull: { name: 'is_pull', type: 'boolean' },
    number: { type: 'integer', nullable: true },
    tag: { type: 'text', nullable: true },
    title: { type: 'text' },
    author: { type: 'text', nullable: true },
    url: { type: 'text', nullable: true },
    happenedAt: { name: 'happened_at', type: 'integer' },
    receivedAt: { name: 'received_at', type: 'integer' },
  },
});
