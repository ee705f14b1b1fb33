import type { Database, Tx } from '../db/index.ts';
import type { Clock, Logger } from '../kernel/index.ts';
import { accessTokenSchema } from './schema/access-token-schema.ts';
import { deployKeySchema } from './schema/deploy-key-schema.ts';
import { sessionSchema } from './schema/session-schema.ts';
import { sshKeySchema } from './schema/ssh-key-schema.ts';
import { userSchema } from './schema/user-schema.ts';

/** One use of a session, a token, a user's key or a deploy key. */
interface CredentialUse {
  kind: 'session' | 'token' | 'key' | 'deployKey';
  /** Id of the session, token or key. */
  id: string;
  /** Null for a deploy key. */
  personId: string | null;
  /** `null` if unknown; the stored one is kept. */
  address: string | null;
  /** Stored time of last use. */
  lastUsedAt: number | null;
}

/**
 * Writes last uses in the background, so that read-only requests never wait for the disk. Uses recorded during a write
 * share the next one.
 */
export interface LastUseRecorder {
  record(use: CredentialUse): void;
  /** Resolves when everything recorded so far is written. */
  settled(): Promise<void>;
  /** Writes all recorded uses and accepts no more; the database may close afterwards. */
  stop(): Promise<void>;
}

interface LastUseOptions {
  db: Database;
  clock: Clock;
  logger: Logger;
  /** Minimum time between two recorded uses. */
  intervalMs: number;
}

export function createLastUseRecorder({ db, clock, logger, intervalMs }: LastUseOptions): LastUseRecorder {
  let pending = new Map<string, CredentialUse>();
  let writing: Promise<void> | null = null;
  let stopped = false;

  async function writePending(): Promise<void> {
    while (pending.size > 0) {
      const uses = pending;
      pending = new Map();
      try {
        await db.write(async (tx) => {
          for (const use of uses.values()) await record(tx, use);
        });
      } catch (error) {
        // Losing a "last used" is tolerable; failing a request is not.
        logger.warn('accounts.last_use_lost', { uses: uses.size, error });
      }
    }
    writing = null;
  }

  return {
    record(use) {
      // Uses the absolute difference: after the clock was set back, a stored time in the future must not block updates.
      const isRecent = use.lastUsedAt !== null && Math.abs(clock.now() - use.lastUsedAt) < intervalMs;
      if (isRecent || stopped) return;
      pending.set(`${use.kind} ${use.id}`, use);
      writing ??= writePending();
    },
    settled: () => writing ?? Promise.resolve(),
    stop() {
      stopped = true;
      return this.settled();
    },
  };
}

/** The update does not match rows removed in the meantime. */
async function record({ manager, now }: Tx, { kind, id, personId, address }: CredentialUse): Promise<void> {
  if (kind === 'session') {
    await manager.update(sessionSchema, { id }, { lastSeenAt: now, ...(address !== null && { address }) });
  } else if (kind === 'deployKey') {
    await manager.update(deployKeySchema, { id }, { lastUsedAt: now });
  } else {
    const schema = kind === 'token' ? accessTokenSchema : sshKeySchema;
    await manager.update(schema, { id }, { lastUsedAt: now, ...(address !== null && { lastUsedAddress: address }) });
  }
  if (personId !== null) await manager.update(userSchema, { id: personId }, { lastSeenAt: now });
}
