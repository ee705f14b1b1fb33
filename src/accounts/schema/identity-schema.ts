import { EntitySchema } from 'typeorm';

/** A row of `person_identities`: an account of an OpenID Connect provider with which its user signs in. */
export interface IdentityRow {
  id: string;
  userId: string;
  /** Issuer and subject identify the account (OpenID Connect Core 1.0, section 2); the subject is never reassigned. */
  issuer: string;
  subject: string;
  /** The provider's label of the account, for lists. */
  label: string;
  createdAt: number;
  lastUsedAt: number | null;
}

export const identitySchema = new EntitySchema<IdentityRow>({
  name: 'PersonIdentity',
  tableName: 'person_identities',
  columns: {
    id: { type: 'text', primary: true },
    userId: { name: 'user_id', type: 'text' },
    issuer: { type: 'text' },
    subject: { type: 'text' },
    label: { type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
    lastUsedAt: { name: 'last_used_at', type: 'integer', nullable: true },
  },
});
