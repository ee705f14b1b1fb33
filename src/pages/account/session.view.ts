import type { Session } from '../../accounts/index.ts';
import { deviceName } from '../../accounts/index.ts';
import { t, translated } from '../../translation/index.ts';
import { viewTime, type TimeView } from '../app/times.view.ts';

interface SessionView {
  id: string;
  device: string;
  address: string;
  started: TimeView;
  lastSeen: TimeView;
  /** `password and authenticator app`. */
  means: string;
  isCurrent: boolean;
}

const methods = translated({
  password: 'account.session.password',
  passkey: 'account.session.passkey',
  provider: 'account.session.single_sign_on',
  link: 'account.session.sign_in_link',
});
const factors = translated({
  totp: 'account.session.authenticator_app',
  recovery: 'account.session.recovery_code',
  passkey: 'account.session.passkey',
});

/** The method with which a session was signed in. A passkey instead of a password counts as both. */
const describeSignInMethod = ({ method, factor }: Pick<Session, 'method' | 'factor'>): string =>
  factor === null || method === t('account.session.passkey')
    ? methods[method]
    : t('account.session.methods_and_factors', { methods: methods[method], factors: factors[factor] });

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
