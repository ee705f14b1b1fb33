import { EntitySchema } from 'typeorm';

/** A board of a repository or of an organisation. */
export interface BoardRow {
  id: string;
  repositoryId: string | null;
  organisationId: string | null;
  title: string;
  titleFolded: string;
  description: string;
  /** For organisations: whether everyone can see it, not only members. Readers of a repository see its boards. */
  isPublic: boolean;
  createdAt: number;
}

export const boardSchema = new EntitySchema<BoardRow>({
  name: 'board',
  tableName: 'boards',
  columns: {
    id: { type: 'text', primary: true },
    repositoryId: { name: 'repository_id', type: 'text', nullable: true },
    organisationId: { name: 'organisation_id', type: 'text', nullable: true },
    title: { type: 'text' },
    titleFolded: { name: 'title_folded', type: 'text' },
    description: { type: 'text' },
    isPublic: { name: 'is_public', type: 'boolean' },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});

/** Rule that adds cards automatically: open, closed or merged issues, or those with a label. */
export type ColumnRule = 'open' | 'closed' | 'label';

export interface BoardColumnRow {
  id: string;
  boardId: string;
  name: string;
  nameFolded: string;
  /** Order from left to right. */
  place: number;
  /** Intended limit of cards; null for none. */
  cardLimit: number | null;
  /** Null for a manual column. */
  rule: ColumnRule | null;
  /** Label name, for the rule `label`. */
  label: string;
}

export const boardColumnSchema = new EntitySchema<BoardColumnRow>({
  name: 'boardColumn',
  tableName: 'board_columns',
  columns: {
    id: { type: 'text', primary: true },
    boardId: { name: 'board_id', type: 'text' },
    name: { type: 'text' },
    nameFolded: { name: 'name_folded', type: 'text' },
    place: { type: 'integer' },
    cardLimit: { name: 'card_limit', type: 'integer', nullable: true },
    rule: { type: 'text', nullable: true },
    label: { type: 'text' },
  },
});

/** An issue or pull request on a board. */
export interface BoardCardRow {
  boardId: string;
  issueId: string;
  columnId: string;
  /** Order from the top, ascending; ties by `issueId`. */
  orderKey: number;
}

export const boardCardSchema = new EntitySchema<BoardCardRow>({
  name: 'boardCard',
  tableName: 'board_cards',
  columns: {
    boardId: { name: 'board_id', type: 'text', primary: true },
    issueId: { name: 'issue_id', type: 'text', primary: true },
    columnId: { name: 'column_id', type: 'text' },
    orderKey: { name: 'order_key', type: 'integer' },
  },
});
