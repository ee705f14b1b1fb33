import type { Session } from '../../accounts/index.ts';
import { deviceName } from '../../accounts/index.ts';
import { viewTime, type TimeView } from '../app/times.view.ts';

export interface SessionView {
  id: string;
  device: string;
  address: string;
  started: TimeView;
  lastSeen: TimeView;
  isCurrent: boolean;
}

export function viewSession(session: Session, currentId: string, now: number): SessionView {
  return {
    id: session.id,
    device: deviceName(session.userAgent),
    address: session.address,
    started: viewTime(session.createdAt, now),
    lastSeen: viewTime(session.lastSeenAt, now),
    isCurrent: session.id === currentId,
  };
}
