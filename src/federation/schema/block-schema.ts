import { EntitySchema } from 'typeorm';

export type BlockKind = 'host' | 'actor';

/** A blocked server or actor: nothing is accepted from it and nothing is sent to it. */
export interface Block {
  kind: BlockKind;
  /** A host name in lower case, including its subdomains and all ports, or the id of an actor. */
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
