import { EntitySchema } from 'typeorm';

/** An accepted activity. Its primary key deduplicates copies. */
interface InboxRow {
  /** Actor id: an actor can only use up its own activity ids. */
  signer: string;
  activityId: string;
  type: string;
  receivedAt: number;
}

export const inboxSchema = new EntitySchema<InboxRow>({
  name: 'federationInbox',
  tableName: 'federation_inbox',
  columns: {
    signer: { type: 'text', primary: true },
    activityId: { name: 'activity_id', type: 'text', primary: true },
    type: { type: 'text' },
    receivedAt: { name: 'received_at', type: 'integer' },
  },
});
