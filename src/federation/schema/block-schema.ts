import { EntitySchema } from 'typeorm';

export type BlockKind = 'host' | 'actor';

/** A server or an actor from which nothing is accepted and to which nothing is sent. */
export interface Block {
  kind: BlockKind;
  /** A host name in lower case, which stands for its subdomains and all ports too, or the id of an actor. */
  value: string;
  /** For administrators; may be empty. */
  reason: string;
  createdAt: number;
}

export const blockSchema = new EntitySchema<Block>({
  name: 'federationBlock',
  tableName: 'federation_blocks',
  columns: {
    kind: { type: 'text', primary: true },
    value: { type: 'text', primary: true },
    reason: { type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});
