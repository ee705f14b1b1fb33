import type { AccountSettings } from '../account-settings.ts';
import type { SecondFactor, SessionRow, SignInMethod } from '../schema/session-schema.ts';

/** A session as its owner sees it. */
export interface Session {
  id: string;
  createdAt: number;
  /** At most a minute late. */
  lastSeenAt: number;
  /** Expiry time if it is not used before. */
  endsAt: number;
  address: string;
  userAgent: string;
  method: SignInMethod;
  /** The second factor that was used; `null` if none was required. */
  factor: SecondFactor | null;
  /** Time when the user last proved their identity in this session. */
  confirmedAt: number;
}

type ExpirySettings = Pick<AccountSettings, 'sessionIdleMs'>;

/** When a session expires: after its idle time or its maximum lifetime, whichever comes first. */
export function sessionExpiresAt(row: SessionRow, { sessionIdleMs }: ExpirySettings): number {
  return Math.min(row.lastSeenAt + sessionIdleMs, row.expiresAt);
}

export function toSession(row: SessionRow, life: ExpirySettings): Session {
  const { userId: _, tokenHash: __, expiresAt: ___, ...shown } = row;
  return { ...shown, endsAt: sessionExpiresAt(row, life) };
}
