import type { SshKey } from '../../accounts/index.ts';
import { viewTime, type TimeView } from '../app/times.view.ts';

export interface SshKeyView {
  id: string;
  title: string;
  type: string;
  fingerprint: string;
  worksHere: boolean;
  added: TimeView;
  lastUsed: TimeView | null;
  lastUsedFrom: string | null;
}

/** @param systemSshd whether OpenSSH does the work, which knows keys on security tokens */
export function viewSshKey(key: SshKey, now: number, systemSshd = false): SshKeyView {
  return {
    id: key.id,
    title: key.title,
    type: key.type,
    fingerprint: key.fingerprint,
    worksHere: key.worksWithBuiltInServer || systemSshd,
    added: viewTime(key.createdAt, now),
    lastUsed: key.lastUsedAt === null ? null : viewTime(key.lastUsedAt, now),
    lastUsedFrom: key.lastUsedAddress,
  };
}
