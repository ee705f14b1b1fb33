import { EntitySchema } from 'typeorm';

/** Purpose of a key: to sign in over SSH, to sign commits and tags, or both. */
export const sshKeyUses = ['authentication', 'signing', 'both'] as const;
export type SshKeyUse = (typeof sshKeyUses)[number];

/** A row of `ssh_keys`. */
export interface SshKeyRow {
  id: string;
  userId: string;
  title: string;
  /** The algorithm name in the key, for example `ssh-ed25519`. */
  type: string;
  /** The public key in wire form (RFC 4253 §6.6). */
  blobBase64: string;
  /** `SHA256:…` as OpenSSH prints it; unique among sign-in keys, and per user. */
  fingerprint: string;
  uses: SshKeyUse;
  createdAt: number;
  lastUsedAt: number | null;
  lastUsedAddress: string | null;
}

export const sshKeySchema = new EntitySchema<SshKeyRow>({
  name: 'SshKey',
  tableName: 'ssh_keys',
  columns: {
    id: { type: 'text', primary: true },
    userId: { name: 'user_id', type: 'text' },
    title: { type: 'text' },
    type: { type: 'text' },
    blobBase64: { name: 'blob_base64', type: 'text' },
    fingerprint: { type: 'text' },
    uses: { type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
    lastUsedAt: { name: 'last_used_at', type: 'integer', nullable: true },
    lastUsedAddress: { name: 'last_used_address', type: 'text', nullable: true },
  },
});
