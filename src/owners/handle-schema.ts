import { EntitySchema } from 'typeorm';

/** Kinds of owners. */
export type OwnerKind = 'user' | 'organisation';

/**
 * A row of the shared namespace. A released handle keeps its row: no one may take over a name that links, clones
 * and remote servers still point to.
 */
export interface HandleRow {
  /** The key: the handle in lower case. */
  folded: string;
  /** As its owner wrote it. */
  display: string;
  kind: OwnerKind;
  ownerId: string;
  releasedAt: number | null;
  /** The person who deleted the organisation that had it. */
  releasedBy?: string | null;
}

export const handleSchema = new EntitySchema<HandleRow>({
  name: 'Handle',
  tableName: 'handles',
  columns: {
    folded: { type: 'text', primary: true },
    display: { type: 'text' },
    kind: { type: 'text' },
    ownerId: { name: 'owner_id', type: 'text' },
    releasedAt: { name: 'released_at', type: 'integer', nullable: true },
    releasedBy: { name: 'released_by', type: 'text', nullable: true },
  },
});
