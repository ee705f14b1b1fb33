import { dateFormat, t, translated } from '../../translation/index.ts';
import type { Verification, VerificationReason } from '../../signing/index.ts';
import { personUrl } from '../../http/index.ts';

/** The text of a signature badge and its details. */
export interface SignatureView {
  label: string;
  /** `good` only for a valid signature by a key of a local account or of the server. */
  tone: 'good' | 'plain' | 'bad';
  /** One or two sentences of detail. */
  says: string;
  /** The user who registered the key. */
  signer: { username: string; url: string } | null;
  fingerprint: string | null;
  /** `SSH key fingerprint`, `OpenPGP key` */
  keyLabel: string;
}

const kinds: Readonly<Record<Verification['kind'], string>> = {
  ssh: 'SSH',
  openpgp: 'OpenPGP',
  x509: 'X.509',
  unknown: 'unknown',
};

const labels: Partial<Record<VerificationReason, string>> = translated({
  valid: 'code.signature.verified',
  valid_instance: 'code.signature.verified',
  unknown_key: 'code.signature.unknown_key',
  invalid: 'code.signature.bad_signature',
  unknown_signature_type: 'code.signature.signed',
  malformed_signature: 'code.signature.signed',
});

const day = dateFormat({ dateStyle: 'long' });

const roleOf = (role: string): string => t(role === 'tagger' ? 'code.signature.tagger' : 'code.signature.committer');

/** A sentence for each reason. It omits addresses: the commit contains them, and a page does not repeat them. */
const sentences: Readonly<
  Record<VerificationReason, (one: Verification, key: string, who: string, role: string) => string>
> = {
  valid: ({ kind, fingerprint }, _key, who, role) =>
    t('code.signature.valid', { kind: kinds[kind], who, who2: who, fingerprint, role: roleOf(role) }),
  valid_instance: () => t('code.signature.created_on_this_server_and_signed'),
  unknown_key: (_one, key) => t('code.signature.it_is_signed_with_key_which', { key }),
  invalid: (_one, key) => t('code.signature.it_was_changed_after_it_was', { key }),
  malformed_signature: ({ kind }) => t('code.signature.it_has_an_kinds_signature_that', { kinds: kinds[kind] }),
  unknown_signature_type: ({ kind }) => t('code.signature.it_has_an_kinds_signature_which', { kinds: kinds[kind] }),
  bad_email: ({ addressOwner }, key, who, role) =>
    t('code.signature.bad_email', { key, who, role: roleOf(role), other: addressOwner?.username ?? '' }),
  unverified_email: (_one, key, who, role) =>
    t('code.signature.unverified_email', { key, who, who2: who, role: roleOf(role) }),
  no_user: (_one, key, who) => t('code.signature.it_is_signed_with_key_which_2', { key, who, who2: who }),
  not_signing_key: (_one, key, who) => t('code.signature.it_is_signed_with_key_of', { key, who }),
  expired_key: ({ keyEndedAt }, key, who) =>
    t(`code.signature.ended.${who === '' ? 'replaced' : 'expired'}${keyEndedAt === null ? '' : '_on'}`, {
      key,
      who,
      day: keyEndedAt === null ? '' : day(keyEndedAt),
    }),
  revoked_key: (_one, key, who) => t('code.signature.it_is_signed_with_key_of_2', { key, who }),
  expired_signature: (_one, key, who) => t('code.signature.its_signature_with_key_of_who', { key, who }),
  weak_signature: (_one, key, who) => t('code.signature.its_signature_with_key_of_who_2', { key, who }),
  too_large: () => t('code.signature.it_is_too_large_to_verify'),
  unavailable: (_one, key) => t('code.signature.it_is_signed_with_key_the', { key }),
};

/**
 * @param role the signer's role in the commit or tag
 */
export function viewSignature(one: Verification, role: 'committer' | 'tagger'): SignatureView {
  const { kind, reason, fingerprint, signer } = one;
  const key = t('code.signature.the_key', { kind: kinds[kind], fingerprint });
  return {
    label: labels[reason] ?? t('code.signature.unverified'),
    tone: one.verified ? 'good' : reason === 'invalid' ? 'bad' : 'plain',
    says: sentences[reason](one, key, signer?.username ?? '', role),
    signer: signer && { username: signer.username, url: personUrl(signer.username) },
    fingerprint,
    keyLabel: kind === 'ssh' ? t('code.signature.ssh_key') : t('code.signature.openpgp_key'),
  };
}
