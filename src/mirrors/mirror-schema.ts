import { EntitySchema } from 'typeorm';

export type MirrorDirection = 'pull' | 'push';

/** A row of `mirrors`. Times are milliseconds since the epoch. */
export interface MirrorRow {
  repositoryId: string;
  /** `pull`: the repository follows the remote. `push`: the remote follows the repository. */
  direction: MirrorDirection;
  url: string;
  username: string;
  /** Encrypted; null for none. */
  secretCiphertext: string | null;
  /** Private key of a mirror over ssh, encrypted. This and the next three are null for other mirrors. */
  sshKeyCiphertext: string | null;
  /** As one line to add at the remote: `ssh-ed25519 AAAA… comment`. */
  sshPublicKey: string | null;
  /** The only accepted host key, `ssh-ed25519 AAAA…`, trusted on first use. */
  hostKey: string | null;
  /** A different key that the host now presents; null while it presents the trusted one. */
  offeredHostKey: string | null;
  /** Null for an import: one transfer, after which the repository is an ordinary one. */
  intervalMs: number | null;
  /** Whether branches and tags that were deleted at the source are deleted at the target. */
  prune: boolean;
  /** Whether to import releases, from a forge over http. */
  withReleases: boolean;
  isPaused: boolean;
  /** Number of consecutive failures. */
  failures: number;
  lastError: string | null;
  lastStartedAt: number | null;
  lastOkAt: number | null;
  nextAt: number;
  /** Time of the first of these failures; null if there is none. */
  failingSince: number | null;
  /** The default branch's commit at the last complete transfer; null before. */
  completeTo: string | null;
  /**
   * Whether it is a kept copy: fetched at most once a minute, limited in size, never paused by failures of the remote.
   */
  isCopy: boolean;
  /** Until then the row belongs to the process that claimed it. */
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
    withReleases: { name: 'with_releases', type: 'boolean' },
    isPaused: { name: 'is_paused', type: 'boolean' },
    failures: { type: 'integer' },
    lastError: { name: 'last_error', type: 'text', nullable: true },
    lastStartedAt: { name: 'last_started_at', type: 'integer', nullable: true },
    lastOkAt: { name: 'last_ok_at', type: 'integer', nullable: true },
    nextAt: { name: 'next_at', type: 'integer' },
    failingSince: { name: 'failing_since', type: 'integer', nullable: true },
    completeTo: { name: 'complete_to', type: 'text', nullable: true },
    isCopy: { name: 'is_copy', type: 'boolean' },
    lockedUntil: { name: 'locked_until', type: 'integer' },
    createdAt: { name: 'created_at', type: 'integer' },
    updatedAt: { name: 'updated_at', type: 'integer' },
  },
});
