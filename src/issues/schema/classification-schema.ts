import { EntitySchema } from 'typeorm';

export type LinkKind = 'mentions' | 'closes' | 'needs' | 'duplicates';

/** A label of a repository or of an organisation. */
export interface LabelRow {
  id: string;
  repositoryId: string | null;
  organisationId: string | null;
  name: string;
  nameFolded: string;
  /** Six hex digits. */
  colour: string;
  description: string;
  /** Whether an issue has at most one label with the same text before the last `/`. */
  isExclusive: boolean;
}

export const labelSchema = new EntitySchema<LabelRow>({
  name: 'label',
  tableName: 'labels',
  columns: {
    id: { type: 'text', primary: true },
    repositoryId: { name: 'repository_id', type: 'text', nullable: true },
    organisationId: { name: 'organisation_id', type: 'text', nullable: true },
    name: { type: 'text' },
    nameFolded: { name: 'name_folded', type: 'text' },
    colour: { type: 'text' },
    description: { type: 'text' },
    isExclusive: { name: 'is_exclusive', type: 'boolean' },
  },
});

/** A label on an issue. */
interface IssueLabelRow {
  issueId: string;
  labelId: string;
}

export const issueLabelSchema = new EntitySchema<IssueLabelRow>({
  name: 'issueLabel',
  tableName: 'issue_labels',
  columns: {
    issueId: { name: 'issue_id', type: 'text', primary: true },
    labelId: { name: 'label_id', type: 'text', primary: true },
  },
});

/** A milestone, with issue counts maintained by triggers. */
export interface Milestone {
  id: string;
  repositoryId: string;
  title: string;
  titleFolded: string;
  description: string;
  /** `2026-12-31`. */
  dueOn: string | null;
  closedAt: number | null;
  openCount: number;
  closedCount: number;
  createdAt: number;
}

export const milestoneSchema = new EntitySchema<Milestone>({
  name: 'milestone',
  tableName: 'milestones',
  columns: {
    id: { type: 'text', primary: true },
    repositoryId: { name: 'repository_id', type: 'text' },
    title: { type: 'text' },
    titleFolded: { name: 'title_folded', type: 'text' },
    description: { type: 'text' },
    dueOn: { name: 'due_on', type: 'text', nullable: true },
    closedAt: { name: 'closed_at', type: 'integer', nullable: true },
    openCount: { name: 'open_count', type: 'integer' },
    closedCount: { name: 'closed_count', type: 'integer' },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});

/** A link from one issue to another. */
interface IssueLinkRow {
  fromId: string;
  toId: string;
  kind: LinkKind;
  createdAt: number;
}

export const issueLinkSchema = new EntitySchema<IssueLinkRow>({
  name: 'issueLink',
  tableName: 'issue_links',
  columns: {
    fromId: { name: 'from_id', type: 'text', primary: true },
    toId: { name: 'to_id', type: 'text', primary: true },
    kind: { type: 'text', primary: true },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});

/**
 * A file uploaded for issue texts. `issueId` is one of the issues whose texts show it; while it is null, only its
 * uploader can see it.
 */
export interface AttachmentRow {
  id: string;
  repositoryId: string;
  issueId: string | null;
  uploaderId: string | null;
  name: string;
  contentType: string;
  bytes: number;
  sha256: string;
  createdAt: number;
}

export const attachmentSchema = new EntitySchema<AttachmentRow>({
  name: 'attachment',
  tableName: 'attachments',
  columns: {
    id: { type: 'text', primary: true },
    repositoryId: { name: 'repository_id', type: 'text' },
    issueId: { name: 'issue_id', type: 'text', nullable: true },
    uploaderId: { name: 'uploader_id', type: 'text', nullable: true },
    name: { type: 'text' },
    contentType: { name: 'content_type', type: 'text' },
    bytes: { type: 'integer' },
    sha256: { type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});

/** A visible text that shows a file. */
interface AttachmentUseRow {
  attachmentId: string;
  issueId: string;
  position: number;
}

export const attachmentUseSchema = new EntitySchema<AttachmentUseRow>({
  name: 'attachmentUse',
  tableName: 'attachment_uses',
  columns: {
    attachmentId: { name: 'attachment_id', type: 'text', primary: true },
    issueId: { name: 'issue_id', type: 'text', primary: true },
    position: { type: 'integer', primary: true },
  },
});
