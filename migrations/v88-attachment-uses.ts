import type { Migration } from '../src/db/index.ts';

/**
 * Which texts show a file. `attachments.issue_id` is set as long as one does, and names one of their issues: a file
 * that no text shows any more is removed, and a text that waits for a member shows nothing to anyone yet.
 */
export const attachmentUses: Migration = {
  version: 88,
  name: 'AttachmentUses',
  statements: [
    `CREATE TABLE attachment_uses (
      attachment_id TEXT NOT NULL REFERENCES attachments (id) ON DELETE CASCADE,
      issue_id TEXT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
      position BIGINT NOT NULL,
      PRIMARY KEY (attachment_id, issue_id, position)
    )`,
    `CREATE INDEX attachment_uses_entry ON attachment_uses (issue_id, position)`,
    // With the id, because the job goes through them page by page.
    `DROP INDEX attachments_unused`,
    `CREATE INDEX attachments_unused ON attachments (created_at, id) WHERE issue_id IS NULL`,
  ],
};
