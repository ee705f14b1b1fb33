import { EntitySchema } from 'typeorm';

/** Access of a deploy key to its repository. */
export const deployKeyAccesses = ['read', 'write'] as const;
export type DeployKeyAccess = (typeof deployKeyAccesses)[number];

/** A row of `deploy_keys`. */
export interface DeployKeyRow {
  id: string;
  repositoryId: string;
  title: string;
  /** The algorithm name in the key, for example `ssh-ed25519`. */
  type: string;
  /** The public key in wire form (RFC 4253 §6.6). */
  blobBase64: string;
  /** `SHA256:…` as OpenSSH prints it; unique. */
  fingerprint: string;
  access: DeployKeyAccess;
  /** UUID of the user; null for the command line, and once the account is deleted. */
  addedBy: string | null;
  createdAt: number;
  lastUsedAt: number | null;
}

export const deployKeySchema = new EntitySchema<DeployKeyRow>({
  name: 'DeployKey',
  tableName: 'deploy_keys',
  columns: {
    id: { type: 'text', primary: true },
    repositoryId: { name: 'repository_id', type: 'text' },
    title: { type: 'text' },
    type: { type: 'text' },
    blobBase64: { name: 'blob_base64', type: 'text' },
    fingerprint: { type: 'text' },
    access: { type: 'text' },
    addedBy: { name: 'added_by', type: 'text', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
    lastUsedAt: { name: 'last_used_at', type: 'integer', nullable: true },
  },
});
