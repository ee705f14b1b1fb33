import type { CommitSignature } from '../../git/index.ts';

/** Result of a verification; the names are GitHub's if it has one. */
export type VerificationReason =
  /** The key is registered by the user whose verified address the committer or tagger has. */
  | 'valid'
  /** Signed by this server. */
  | 'valid_instance'
  /** No account here has registered the key. */
  | 'unknown_key'
  /** The signature does not match the object. */
  | 'invalid'
  | 'malformed_signature'
  | 'unknown_signature_type'
  /** The committer's address does not belong to the owner of the key. */
  | 'bad_email'
  /** The address of the committer is not a verified address of the owner of the key. */
  | 'unverified_email'
  /** No user id of the OpenPGP key is a verified address of the user who registered it. */
  | 'no_user'
  /** The SSH key is registered only for authentication. */
  | 'not_signing_key'
  | 'expired_key'
  | 'revoked_key'
  | 'expired_signature'
  /** Dated before the key was created, or with a hash for which collisions are known. */
  | 'weak_signature'
  | 'too_large'
  /** No worker was free in time; a later attempt verifies it. */
  | 'unavailable';

/** Verification status of a signature of a commit or tag. */
export interface Verification {
  verified: boolean;
  reason: VerificationReason;
  kind: CommitSignature['kind'];
  /** The user who registered the key, also of an unverified signature; null for the server and for an unknown key. */
  signer: { id: string; username: string } | null;
  /** Fingerprint of the signing key as OpenSSH or GnuPG prints it; the key id if only that is known. */
  fingerprint: string | null;
  /** The address of the committer or tagger. */
  address: string;
  /** The user with this verified address. */
  addressOwner: { id: string; username: string } | null;
  /** When the key expired or was revoked, if that is the reason. */
  keyEndedAt: number | null;
}

/** The parts of a commit or tag that are relevant to its signature. */
export interface SignedObject {
  signature: CommitSignature;
  /** E-mail address of the committer or tagger. */
  address: string;
  /** Date of the commit or tag in milliseconds. */
  at: number;
}
