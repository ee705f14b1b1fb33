import type { Named, SignerKey, Signers } from './find-signers.ts';
import type { ReadSignature } from './read-signatures.ts';
import type { Verification, VerificationReason } from './verification.ts';
import type { OpenPgpResult } from './verify-task.ts';

/** Tolerance in milliseconds: a commit created while the key was replaced may be dated a moment later. */
const retirementLeewayMs = 60_000;

/**
 * Address rule of both kinds of keys: the address of the committer must be a verified address of the owner of the key.
 */
function checkAddress(owner: Named, addressOwner: Named | null): VerificationReason {
  if (addressOwner === null) return 'unverified_email';
  return addressOwner.id === owner.id ? 'valid' : 'bad_email';
}

/** Assembles a verdict. */
function verdict(
  read: ReadSignature,
  signers: Signers,
  reason: VerificationReason,
  fields: Partial<Pick<Verification, 'signer' | 'fingerprint' | 'keyEndedAt'>> = {},
): Verification {
  return {
    verified: reason === 'valid' || reason === 'valid_instance',
    reason,
    kind: read.signature.kind,
    signer: null,
    fingerprint: null,
    keyEndedAt: null,
    address: read.address,
    addressOwner: ownerOfAddress(read, signers),
    ...fields,
  };
}

const ownerOfAddress = ({ address }: ReadSignature, { addresses }: Signers): Named | null =>
  addresses.find(([one]) => one === address)?.[1] ?? null;

/** Verifies a signature by the collected facts; null for an OpenPGP signature by a registered key. */
export function verifyByFacts(read: ReadSignature, signers: Signers): Verification | null {
  if (read.signature.kind === 'ssh') return verifySsh(read, signers);
  if (read.signature.kind !== 'openpgp') return verdict(read, signers, 'unknown_signature_type');
  if (read.isTooLarge) return verdict(read, signers, 'too_large');
  if (read.keyId === null) return verdict(read, signers, 'malformed_signature');
  return keyFor(read, signers) === null ? verdict(read, signers, 'unknown_key', { fingerprint: read.keyId }) : null;
}

function verifySsh(read: ReadSignature, signers: Signers): Verification {
  if (read.ssh === null) return verdict(read, signers, 'malformed_signature');
  const { fingerprint, isGood } = read.ssh;
  if (!isGood) return verdict(read, signers, 'invalid', { fingerprint });
  const own = signers.instance.find((key) => key.fingerprint === fingerprint);
  if (own !== undefined) {
    const hasEnded = own.retiredAt !== null && read.at > own.retiredAt + retirementLeewayMs;
    return hasEnded
      ? verdict(read, signers, 'expired_key', { fingerprint, keyEndedAt: own.retiredAt })
      : verdict(read, signers, 'valid_instance', { fingerprint });
  }
  const holders = signers.ssh.filter((key) => key.fingerprint === fingerprint);
  const signing = holders.filter(({ uses }) => uses !== 'authentication');
  // If several users have registered the key, prefers the one with the address of the committer.
  const addressOwner = ownerOfAddress(read, signers);
  const holder = signing.find(({ personId }) => personId === addressOwner?.id) ?? signing[0] ?? holders[0];
  if (holder === undefined) return verdict(read, signers, 'unknown_key', { fingerprint });
  const signer = { id: holder.personId, username: holder.username };
  const reason = holder.uses === 'authentication' ? 'not_signing_key' : checkAddress(signer, addressOwner);
  return verdict(read, signers, reason, { fingerprint, signer });
}

/**
 * The key for verifying an OpenPGP signature. If several users have registered it, prefers the one with the address of
 * the committer, then those named by a user id of the key.
 */
export function keyFor(read: ReadSignature, signers: Signers): SignerKey | null {
  const { keyId } = read;
  if (keyId === null) return null;
  const candidates = signers.gpg.filter(({ keyIds }) => keyIds.includes(keyId));
  const addressOwner = ownerOfAddress(read, signers);
  return (
    candidates.find(({ owner, isOwn }) => isOwn && owner.id === addressOwner?.id) ??
    candidates.find(({ isOwn }) => isOwn) ??
    candidates[0] ??
    null
  );
}

const reasonsOfStates: Readonly<Record<Exclude<OpenPgpResult['state'], 'good'>, VerificationReason>> = {
  bad: 'invalid',
  malformed: 'malformed_signature',
  weak_hash: 'weak_signature',
  not_signing: 'unknown_key',
  key_expired: 'expired_key',
  key_revoked: 'revoked_key',
  key_too_young: 'weak_signature',
};

/** Verifies an OpenPGP signature with its key. */
export function verifyOpenPgp(
  read: ReadSignature,
  signers: Signers,
  key: SignerKey,
  result: OpenPgpResult | null,
  now: number,
): Verification {
  const fields = { signer: key.owner, fingerprint: result?.fingerprint ?? key.fingerprint };
  if (result === null) return verdict(read, signers, 'unavailable', fields);
  if (result.state === 'key_expired')
    return verdict(read, signers, 'expired_key', { ...fields, keyEndedAt: key.expiresAt });
  if (result.state !== 'good') return verdict(read, signers, reasonsOfStates[result.state], fields);
  if (result.endsAt !== null && result.endsAt <= now) return verdict(read, signers, 'expired_signature', fields);
  if (!key.isOwn) return verdict(read, signers, 'no_user', fields);
  return verdict(read, signers, checkAddress(key.owner, ownerOfAddress(read, signers)), fields);
}
