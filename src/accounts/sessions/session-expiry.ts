import type { AccountSettings } from '../account-settings.ts';
import type { SessionRow } from '../schema/session-schema.ts';

/** A session as its owner sees it. */
export interface Session {
  id: string;
  createdAt: number;
  /** Up to a minute late. */
  lastSeenAt: number;
  /** When it expires if it is not used before. */
  endsAt: number;
  address: string;
  userAgent: string;
}

type ExpirySettings = Pick<AccountSettings, 'sessionIdleMs'>;

/** When a session expires: after its idle time or its maximum lifetime, whichever comes first. */
export function sessionExpiresAt(row: SessionRow, { sessionIdleMs }: ExpirySettings): number {
  return Math.min(row.lastSeenAt + sessionIdleMs, row.expiresAt);
}

export function toSession(row: SessionRow, life: ExpirySettings): Session {
  const { id, createdAt, lastSeenAt, address, userAgent } = row;
  return { id, createdAt, lastSeenAt, endsAt: sessionExpiresAt(row, life), address, userAgent };
}
