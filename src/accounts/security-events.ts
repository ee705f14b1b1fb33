import type { Tx } from '../db/index.ts';
import { emailAddressSchema } from './schema/email-address-schema.ts';
import type { SshKeyUse } from './schema/ssh-key-schema.ts';

/** What could be the act of an attacker, so that the owner of the account is notified. Never with a secret. */
export type SecurityEvent =
  | {
      kind: 'signed_in';
      address: string;
      userAgent: string;
      /** The person's other active sessions. */
      others: readonly { address: string; userAgent: string }[];
      accountCreatedAt: number;
    }
  | { kind: 'ssh_key_added'; title: string; fingerprint: string; uses: SshKeyUse }
  | { kind: 'gpg_key_added'; fingerprint: string }
  | { kind: 'token_added'; name: string; access: string }
  | { kind: 'second_factor_added'; factor: 'totp' | 'passkey'; name: string }
  | { kind: 'second_factor_removed'; factor: 'totp' | 'passkey' | 'all'; by: 'person' | 'administrator' }
  | { kind: 'account_linked'; issuer: string; label: string }
  | { kind: 'recovery_code_used'; left: number }
  | { kind: 'recovery_codes_made' }
  /** All answers to a second step were wrong, after a right password. */
  | { kind: 'wrong_codes'; address: string; userAgent: string }
  | { kind: 'password_changed'; by: 'person' | 'administrator' | 'link' }
  /** `from` was the primary address before; `to` is null when none is left. */
  | { kind: 'primary_address_changed'; from: string; to: string | null };

/** An event of an account. */
export interface AnnouncedEvent {
  personId: string;
  /** The verified primary address as it stands in the write; null without one. */
  primaryAddress: string | null;
  event: SecurityEvent;
}

/** Called inside the write of the event; what it throws undoes the event. */
export type SecurityListener = (tx: Tx, announced: AnnouncedEvent) => Promise<void>;

export async function announceSecurityEvent(
  { securityListeners }: { securityListeners: readonly SecurityListener[] },
  tx: Tx,
  personId: string,
  event: SecurityEvent,
): Promise<void> {
  if (securityListeners.length === 0) return;
  const primary = await tx.manager.findOneBy(emailAddressSchema, { userId: personId, isPrimary: true });
  for (const listener of securityListeners)
    await listener(tx, { personId, primaryAddress: primary?.address ?? null, event });
}
