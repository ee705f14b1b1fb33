import { EntitySchema } from 'typeorm';

/** A row of `invites`: an invitation link for one person. */
export interface InviteRow {
  id: string;
  /** SHA-256 of the secret in the link, hexadecimal. */
  tokenHash: string;
  /** `null` for the command line. */
  createdBy: string | null;
  createdAt: number;
  expiresAt: number;
  usedAt: number | null;
  usedBy: string | null;
  /** Recipient of the mail; `null` if the administrator hands out the link. */
  address: string | null;
  /** SHA-256 of the separate secret in the mailed link, which proves access to the mailbox. */
  mailedTokenHash: string | null;
  mailedAt: number | null;
  /** The organisation that the new user joins. */
  organisationId: string | null;
  organisationRole: string | null;
}

export const inviteSchema = new EntitySchema<InviteRow>({
  name: 'Invite',
  tableName: 'invites',
  columns: {
    id: { type: 'text', primary: true },
    tokenHash: { name: 'token_hash', type: 'text' },
    createdBy: { name: 'created_by', type: 'text', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
    expiresAt: { name: 'expires_at', type: 'integer' },
    usedAt: { name: 'used_at', type: 'integer', nullable: true },
    usedBy: { name: 'used_by', type: 'text', nullable: true },
    address: { type: 'text', nullable: true },
    mailedTokenHash: { name: 'mailed_token_hash', type: 'text', nullable: true },
    mailedAt: { name: 'mailed_at', type: 'integer', nullable: true },
    organisationId: { name: 'organisation_id', type: 'text', nullable: true },
    organisationRole: { name: 'organisation_role', type: 'text', nullable: true },
  },
});
