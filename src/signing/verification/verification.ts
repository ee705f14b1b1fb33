import type { CommitSignature } from '../../git/index.ts';

/** Why a signature is verified or not; the names are GitHub's where it has one. */
export type VerificationReason =
  /** The key is registered by the person whose verified address the committer or tagger has. */
  | 'valid'
  /** Made by this server. */
  | 'valid_instance'
  /** No account here has registered the key. */
  | 'unknown_key'
  /** The signature does not fit what it is on. */
  | 'invalid'
  | 'malformed_signature'
  | 'unknown_signature_type'
  /** The committer's address does not belong to the owner of the key. */
  | 'bad_email'
  /** The committer's address is no verified address of the key's owner. */
  | 'unverified_email'
  /** No user id of the OpenPGP key is a verified address of the person who registered it. */
  | 'no_user'
  /** The SSH key is registered for signing in only. */
  | 'not_signing_key'
  | 'expired_key'
  | 'revoked_key'
  | 'expired_signature'
  /** Made before the key was, or with a hash for which collisions are found. */
  | 'weak_signature'
  | 'too_large'
  /** No thread was free in time; asked again, it is looked at again. */
  | 'unavailable';

/** What a signature of a commit or tag is worth. */
export interface Verification {
  verified: boolean;
  reason: VerificationReason;
  kind: CommitSignature['kind'];
  /** Who registered the key, also of a signature that is not verified; null for the server and for an unknown key. */
  signer: { id: string; username: string } | null;
  /** Of the key that signed, as OpenSSH or GnuPG prints it; the key id where no more is known. */
  fingerprint: string | null;
  /** The address of the committer or tagger. */
  address: string;
  /** Whose verified address it is. */
  addressOwner: { id: string; username: string } | null;
  /** When the key ceased to be valid, where that is the reason. */
  keyEndedAt: number | null;
}

/** A commit or tag, as far as its signature is concerned. */
export interface SignedObject {
  signature: CommitSignature;
  /** E-mail address of the committer or tagger. */
  address: string;
  /** When it says that it was made, in milliseconds. */
  at: number;
}
