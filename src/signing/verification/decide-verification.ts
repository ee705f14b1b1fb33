import type { Named, SignerKey, Signers } from './find-signers.ts';
import type { ReadSignature } from './read-signatures.ts';
import type { Verification, VerificationReason } from './verification.ts';
import type { OpenPgpResult } from './verify-task.ts';

/** A commit that was being made when the key was replaced may be dated a moment later. */
const retirementLeewayMs = 60_000;

/** The address rule of both kinds: the committer's address must be a verified one of the key's owner. */
function checkAddress(owner: Named, addressOwner: Named | null): VerificationReason {
  if (addressOwner === null) return 'unverified_email';
  return addressOwner.id === owner.id ? 'valid' : 'bad_email';
}

/** Collects the fields of a verdict. */
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

/** Judges a signature that was not made with OpenPGP; null for one that was and whose key is registered here. */
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
  // Of several who registered the key, the one whose address the committer has.
  const addressOwner = ownerOfAddress(read, signers);
  const holder = signing.find(({ personId }) => personId === addressOwner?.id) ?? signing[0] ?? holders[0];
  if (holder === undefined) return verdict(read, signers, 'unknown_key', { fingerprint });
  const signer = { id: holder.personId, username: holder.username };
  const reason = holder.uses === 'authentication' ? 'not_signing_key' : checkAddress(signer, addressOwner);
  return verdict(read, signers, reason, { fingerprint, signer });
}

/**
 * The key that an OpenPGP signature is judged by. Several people may have registered it: the one whose address the
 * committer has comes first, then those whom a user id of the key names.
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

/** Judges an OpenPGP signature by its key. */
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
