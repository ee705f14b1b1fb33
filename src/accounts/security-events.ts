import type { Tx } from '../db/index.ts';
import { emailAddressSchema } from './schema/email-address-schema.ts';
import type { SshKeyUse } from './schema/ssh-key-schema.ts';

/** A repository or organisation to which a user was given access by another one. */
export type AccessPlace =
  | { kind: 'repository'; id: string; owner: string; name: string }
  | { kind: 'organisation'; id: string; name: string }
  | { kind: 'team'; id: string; organisation: string; name: string };

/**
 * Events that could be an attack, or changes of the account by others, of which its owner is notified. Never contain a
 * secret.
 */
export type SecurityEvent =
  /** `by` is null for the command line; `role` is null for a team, whose repositories have their own. */
  | { kind: 'access_given'; place: AccessPlace; role: string | null; by: { id: string; username: string } | null }
  | {
      kind: 'signed_in';
      address: string;
      userAgent: string;
      /** The user's other active sessions. */
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
  /** All attempts of a second step were wrong, after a right password. */
  | { kind: 'wrong_codes'; address: string; userAgent: string }
  | { kind: 'password_changed'; by: 'person' | 'administrator' | 'link' }
  /** `from` was the previous primary address; `to` is null if none is left. */
  | { kind: 'primary_address_changed'; from: string; to: string | null };

/** An event of an account. */
export interface AnnouncedEvent {
  personId: string;
  /** The verified primary address as the transaction sees it; null without one. */
  primaryAddress: string | null;
  event: SecurityEvent;
}

/** Called inside the event's transaction; its error rolls back the event. */
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
