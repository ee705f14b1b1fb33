import { checkSshSignature } from '../../accounts/index.ts';
import type { CheckedSshSignature } from '../../accounts/index.ts';
import { openPgpLimits } from '../limits.ts';
import { readIssuer } from './read-issuer.ts';
import type { SignedObject } from './verification.ts';

/** A signature with the data that can be read without lookups. */
export interface ReadSignature extends SignedObject {
  /** Null unless it is a readable SSH signature. */
  ssh: CheckedSshSignature | null;
  /** Key id named by an OpenPGP signature. */
  keyId: string | null;
  isTooLarge: boolean;
}

/** Verifies SSH signatures, which takes a tenth of a millisecond each, and reads the key ids of OpenPGP signatures. */
export function readSignature(object: SignedObject): ReadSignature {
  const { kind, text, signed } = object.signature;
  const isTooLarge =
    kind === 'openpgp' && (text.length > openPgpLimits.signatureBytes || signed.length > openPgpLimits.signedBytes);
  return {
    ...object,
    ssh: kind === 'ssh' ? checkSshSignature(text, signed, 'git') : null,
    keyId: kind === 'openpgp' && !isTooLarge ? readIssuer(text) : null,
    isTooLarge,
  };
}
