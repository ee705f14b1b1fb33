import type { SshKey, SshKeyUse } from '../../accounts/index.ts';
import { translated } from '../../translation/index.ts';
import { viewTime, type TimeView } from '../app/times.view.ts';

interface SshKeyView {
  id: string;
  title: string;
  type: string;
  fingerprint: string;
  /** Its uses, as values and as text. */
  uses: SshKeyUse;
  usesText: string;
  worksHere: boolean;
  added: TimeView;
  lastUsed: TimeView | null;
  lastUsedFrom: string | null;
}

const usesTexts: Readonly<Record<SshKeyUse, string>> = translated({
  both: 'account.ssh_key.signing_in_and_signing_commits',
  authentication: 'account.ssh_key.signing_in_only',
  signing: 'account.ssh_key.signing_commits_only',
});

/**
 * @param systemSshd whether OpenSSH is the SSH server, which supports keys on security tokens
 */
export function viewSshKey(key: SshKey, now: number, systemSshd = false): SshKeyView {
  return {
    id: key.id,
    title: key.title,
    type: key.type,
    fingerprint: key.fingerprint,
    uses: key.uses,
    usesText: usesTexts[key.uses],
    // Keys on security tokens can always verify signatures.
    worksHere: key.worksWithBuiltInServer || systemSshd || key.uses === 'signing',
    added: viewTime(key.createdAt, now),
    lastUsed: key.lastUsedAt === null ? null : viewTime(key.lastUsedAt, now),
    lastUsedFrom: key.lastUsedAddress,
  };
}
