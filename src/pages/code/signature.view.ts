import { dateFormat } from '../../translation/index.ts';
import type { Verification, VerificationReason } from '../../signing/index.ts';
import { personUrl } from '../../http/index.ts';

/** What a badge says of a signature, and what opens below it. */
export interface SignatureView {
  label: string;
  /** `good` only for a valid signature by a key of a local account or of the server. */
  tone: 'good' | 'plain' | 'bad';
  /** One or two sentences more. */
  says: string;
  /** Who registered the key. */
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

const labels: Partial<Record<VerificationReason, string>> = {
  valid: 'Verified',
  valid_instance: 'Verified',
  unknown_key: 'Unknown key',
  invalid: 'Bad signature',
  unknown_signature_type: 'Signed',
  malformed_signature: 'Signed',
};

const day = dateFormat({ dateStyle: 'long' });

/** A sentence for each reason. Addresses are in the commit; a page does not repeat them. */
const sentences: Readonly<
  Record<VerificationReason, (one: Verification, key: string, who: string, role: string) => string>
> = {
  valid: ({ kind, fingerprint }, _key, who, role) =>
    `It is signed with ${kind === 'ssh' ? 'an SSH' : 'an OpenPGP'} key of ${who}: ${fingerprint}. Its ${role} has a verified address of ${who}.`,
  valid_instance: () => 'It was made on this server, which signed it with its own key.',
  unknown_key: (_one, key) => `It is signed with ${key}, which no account here has.`,
  invalid: (_one, key) => `It was changed after it was signed with ${key}.`,
  malformed_signature: ({ kind }) => `It carries an ${kinds[kind]} signature that this server cannot read.`,
  unknown_signature_type: ({ kind }) => `It carries an ${kinds[kind]} signature. This server does not check those.`,
  bad_email: ({ addressOwner }, key, who, role) =>
    `It is signed with ${key} of ${who}, but its ${role} has an address of ${addressOwner?.username}.`,
  unverified_email: (_one, key, who, role) =>
    `It is signed with ${key} of ${who}, but its ${role}’s address is no verified address of ${who}.`,
  no_user: (_one, key, who) =>
    `It is signed with ${key}, which ${who} has added, but none of its user ids is a verified address of ${who}.`,
  not_signing_key: (_one, key, who) =>
    `It is signed with ${key} of ${who}, which is for signing in only. Its owner can allow it for signing commits in the settings.`,
  expired_key: ({ keyEndedAt }, key, who) =>
    who === ''
      ? `It is signed with ${key} of this server, which had been replaced by then${keyEndedAt === null ? '' : `, on ${day(keyEndedAt)}`}.`
      : `It is signed with ${key} of ${who}, which had expired by then${keyEndedAt === null ? '' : `, on ${day(keyEndedAt)}`}.`,
  revoked_key: (_one, key, who) => `It is signed with ${key} of ${who}, which is revoked.`,
  expired_signature: (_one, key, who) => `Its signature with ${key} of ${who} has expired.`,
  weak_signature: (_one, key, who) =>
    `Its signature with ${key} of ${who} is not accepted: it uses a hash that is no longer safe, or is dated before the key.`,
  too_large: () => 'It is too large for its signature to be checked.',
  unavailable: (_one, key) =>
    `It is signed with ${key}. The server is busy and has not checked it; reload the page in a moment.`,
};

/** @param role what the commit or tag calls the person who made it */
export function viewSignature(one: Verification, role: 'committer' | 'tagger'): SignatureView {
  const { kind, reason, fingerprint, signer } = one;
  const key = `the ${kinds[kind]} key ${fingerprint}`;
  return {
    label: labels[reason] ?? 'Unverified',
    tone: one.verified ? 'good' : reason === 'invalid' ? 'bad' : 'plain',
    says: sentences[reason](one, key, signer?.username ?? '', role),
    signer: signer && { username: signer.username, url: personUrl(signer.username) },
    fingerprint,
    keyLabel: kind === 'ssh' ? 'SSH key' : 'OpenPGP key',
  };
}
