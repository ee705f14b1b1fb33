import type { AccountSettings } from '../account-settings.ts';
import type { SecondFactor, SessionRow, SignInMethod } from '../schema/session-schema.ts';

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
  method: SignInMethod;
  /** The second factor that was used; `null` where none was asked for. */
  factor: SecondFactor | null;
  /** When the person last proved in this session who they are. */
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
