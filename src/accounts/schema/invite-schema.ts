import { EntitySchema } from 'typeorm';

/** A row of `invites`: an invitation link for one person. */
export interface InviteRow {
  id: string;
  /** SHA-256 of the secret in the link, hexadecimal. */
  tokenHash: string;
  /** `null` when it was made on the command line. */
  createdBy: string | null;
  createdAt: number;
  expiresAt: number;
  usedAt: number | null;
  usedBy: string | null;
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
  },
});
