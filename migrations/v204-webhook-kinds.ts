import type { Migration } from '../src/db/index.ts';

/** What the receiver of a webhook is, and how it wants its messages. */
export const webhookKinds: Migration = {
  version: 204,
  name: 'Webhook kinds',
  statements: [
    "ALTER TABLE webhooks ADD COLUMN kind TEXT NOT NULL DEFAULT 'gitea'",
    "ALTER TABLE webhooks ADD COLUMN content_type TEXT NOT NULL DEFAULT 'json'",
    "ALTER TABLE webhooks ADD COLUMN branch_filter TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE webhooks ADD COLUMN channel TEXT NOT NULL DEFAULT ''",
    'ALTER TABLE webhooks ADD COLUMN authorization_ciphertext TEXT',
  ],
};
