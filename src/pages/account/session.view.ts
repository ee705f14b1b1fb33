import type { Session } from '../../accounts/index.ts';
import { deviceName } from '../../accounts/index.ts';
import { viewTime, type TimeView } from '../app/times.view.ts';

export interface SessionView {
  id: string;
  device: string;
  address: string;
  started: TimeView;
  lastSeen: TimeView;
  /** `password and authenticator app`. */
  means: string;
  isCurrent: boolean;
}

const methods = { password: 'password', passkey: 'passkey', provider: 'single sign-on', link: 'sign-in link' };
const factors = { totp: 'authenticator app', recovery: 'recovery code', passkey: 'passkey' };

/** By what a session was signed in. A passkey instead of a password is both. */
export const describeSignInMethod = ({ method, factor }: Pick<Session, 'method' | 'factor'>): string =>
  factor === null || method === 'passkey' ? methods[method] : `${methods[method]} and ${factors[factor]}`;

export function viewSession(session: Session, currentId: string, now: number): SessionView {
  return {
    id: session.id,
    device: deviceName(session.userAgent),
    address: session.address,
    started: viewTime(session.createdAt, now),
    lastSeen: viewTime(session.lastSeenAt, now),
    means: describeSignInMethod(session),
    isCurrent: session.id === currentId,
  };
}
