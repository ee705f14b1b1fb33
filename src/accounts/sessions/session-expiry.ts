import type { AccountSettings } from '../account-settings.ts';
import type { SessionRow } from '../schema/session-schema.ts';

/** A place where somebody is signed in. */
export interface Session {
  id: string;
  createdAt: number;
  /** At most a minute behind. */
  lastSeenAt: number;
  /** When it ends if it is not used before. */
  endsAt: number;
  address: string;
  userAgent: string;
}

type ExpirySettings = Pick<AccountSettings, 'sessionIdleMs'>;

/** When a session ends: unused for too long, or at the end of its whole life, whichever is first. */
export function sessionExpiresAt(row: SessionRow, { sessionIdleMs }: ExpirySettings): number {
  return Math.min(row.lastSeenAt + sessionIdleMs, row.expiresAt);
}

export function toSession(row: SessionRow, life: ExpirySettings): Session {
  const { id, createdAt, lastSeenAt, address, userAgent } = row;
  return { id, createdAt, lastSeenAt, endsAt: sessionExpiresAt(row, life), address, userAgent };
}
