import type { Database, Tx } from '../db/index.ts';
import type { Clock, Logger } from '../kernel/index.ts';
import { accessTokenSchema } from './schema/access-token-schema.ts';
import { sessionSchema } from './schema/session-schema.ts';
import { sshKeySchema } from './schema/ssh-key-schema.ts';
import { userSchema } from './schema/user-schema.ts';

/** That somebody used a session, a token or a key. */
export interface CredentialUse {
  kind: 'session' | 'token' | 'key';
  /** Id of the session, token or key. */
  id: string;
  personId: string;
  /** `null` when unknown; then the last known one stays. */
  address: string | null;
  /** When the row says it was last used. */
  lastUsedAt: number | null;
}

/**
 * Writes down last uses behind the request's back: a request that only reads
 * never waits for a disk. Uses that come while a write runs share the next one.
 */
export interface LastUseRecorder {
  record(use: CredentialUse): void;
  /** Resolves when everything noted so far is written. */
  settled(): Promise<void>;
  /** Writes what is noted and takes no more; the database may close afterwards. */
  stop(): Promise<void>;
}

export interface LastUseOptions {
  db: Database;
  clock: Clock;
  logger: Logger;
  /** A use is left out when the last one is nearer than this. */
  intervalMs: number;
}

export function createLastUseRecorder({ db, clock, logger, intervalMs }: LastUseOptions): LastUseRecorder {
  let noted = new Map<string, CredentialUse>();
  let writing: Promise<void> | null = null;
  let stopped = false;

  async function writeNoted(): Promise<void> {
    while (noted.size > 0) {
      const uses = noted;
      noted = new Map();
      try {
        await db.write(async (tx) => {
          for (const use of uses.values()) await record(tx, use);
        });
      } catch (error) {
        // Losing a "last used" harms nobody; failing the request for it would.
        logger.warn('accounts.last_use_lost', { uses: uses.size, error });
      }
    }
    writing = null;
  }

  return {
    record(use) {
      // The distance counts in both directions: after the clock was set back, a
      // time in the future must not stand until the clock has caught up.
      const isRecent = use.lastUsedAt !== null && Math.abs(clock.now() - use.lastUsedAt) < intervalMs;
      if (isRecent || stopped) return;
      noted.set(`${use.kind} ${use.id}`, use);
      writing ??= writeNoted();
    },
    settled: () => writing ?? Promise.resolve(),
    stop() {
      stopped = true;
      return this.settled();
    },
  };
}

/** A row that was removed meanwhile is simply not found. */
async function record({ manager, now }: Tx, { kind, id, personId, address }: CredentialUse): Promise<void> {
  if (kind === 'session') {
    await manager.update(sessionSchema, { id }, { lastSeenAt: now, ...(address !== null && { address }) });
  } else {
    const schema = kind === 'token' ? accessTokenSchema : sshKeySchema;
    await manager.update(schema, { id }, { lastUsedAt: now, ...(address !== null && { lastUsedAddress: address }) });
  }
  await manager.update(userSchema, { id: personId }, { lastSeenAt: now });
}
