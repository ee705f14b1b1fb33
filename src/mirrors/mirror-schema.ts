import { EntitySchema } from 'typeorm';

export type MirrorDirection = 'pull' | 'push';

/** A row of `mirrors`. Times are milliseconds since the epoch. */
export interface MirrorRow {
  repositoryId: string;
  /** `pull`: we follow the other side. `push`: it follows us. */
  direction: MirrorDirection;
  url: string;
  username: string;
  /** Sealed; null for none. */
  secretCiphertext: string | null;
  /** Of a mirror by ssh: its private key, sealed. This and the next three are null for any other. */
  sshKeyCiphertext: string | null;
  /** As one line, for the other side: `ssh-ed25519 AAAA… comment`. */
  sshPublicKey: string | null;
  /** The only host key that is accepted: `ssh-ed25519 AAAA…`, as the host showed it first. */
  hostKey: string | null;
  /** What the host shows by now instead; null while it shows the trusted one. */
  offeredHostKey: string | null;
  /** Null for an import: done once, and then the repository is one like any other. */
  intervalMs: number | null;
  /** Whether branches and tags that are gone on the leading side go on the following one. */
  prune: boolean;
  isPaused: boolean;
  /** In a row. */
  failures: number;
  lastError: string | null;
  lastStartedAt: number | null;
  lastOkAt: number | null;
  nextAt: number;
  /** Until then it belongs to whoever claimed it. */
  lockedUntil: number;
  createdAt: number;
  updatedAt: number;
}

export const mirrorSchema = new EntitySchema<MirrorRow>({
  name: 'mirror',
  tableName: 'mirrors',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    direction: { type: 'text' },
    url: { type: 'text' },
    username: { type: 'text' },
    secretCiphertext: { name: 'secret_ciphertext', type: 'text', nullable: true },
    sshKeyCiphertext: { name: 'ssh_key_ciphertext', type: 'text', nullable: true },
    sshPublicKey: { name: 'ssh_public_key', type: 'text', nullable: true },
    hostKey: { name: 'host_key', type: 'text', nullable: true },
    offeredHostKey: { name: 'offered_host_key', type: 'text', nullable: true },
    intervalMs: { name: 'interval_ms', type: 'integer', nullable: true },
    prune: { type: 'boolean' },
    isPaused: { name: 'is_paused', type: 'boolean' },
    failures: { type: 'integer' },
    lastError: { name: 'last_error', type: 'text', nullable: true },
    lastStartedAt: { name: 'last_started_at', type: 'integer', nullable: true },
    lastOkAt: { name: 'last_ok_at', type: 'integer', nullable: true },
    nextAt: { name: 'next_at', type: 'integer' },
    lockedUntil: { name: 'locked_until', type: 'integer' },
    createdAt: { name: 'created_at', type: 'integer' },
    updatedAt: { name: 'updated_at', type: 'integer' },
  },
});
