import { EntitySchema } from 'typeorm';

/** A row of `oauth_applications`. Without a user and an organisation it belongs to the instance. */
export interface ApplicationRow {
  id: string;
  clientId: string;
  userId: string | null;
  organisationId: string | null;
  name: string;
  /** SHA-256 of the secret, hexadecimal; null for a public client, which cannot keep one (RFC 6749, 2.1). */
  secretHash: string | null;
  secretEnding: string | null;
  /** JSON: an array of texts. */
  redirectUris: string;
  createdAt: number;
}

export const applicationSchema = new EntitySchema<ApplicationRow>({
  name: 'OAuthApplication',
  tableName: 'oauth_applications',
  columns: {
    id: { type: 'text', primary: true },
    clientId: { name: 'client_id', type: 'text' },
    userId: { name: 'user_id', type: 'text', nullable: true },
    organisationId: { name: 'organisation_id', type: 'text', nullable: true },
    name: { type: 'text' },
    secretHash: { name: 'secret_hash', type: 'text', nullable: true },
    secretEnding: { name: 'secret_ending', type: 'text', nullable: true },
    redirectUris: { name: 'redirect_uris', type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});
