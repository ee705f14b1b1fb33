import { checkSshSignature } from '../../accounts/index.ts';
import type { CheckedSshSignature } from '../../accounts/index.ts';
import { openPgpLimits } from '../limits.ts';
import { readIssuer } from './read-issuer.ts';
import type { SignedObject } from './verification.ts';

/** A signature with what can be found out about it without asking anyone. */
export interface ReadSignature extends SignedObject {
  /** Null unless it was made with an SSH key and can be read. */
  ssh: CheckedSshSignature | null;
  /** The id of the OpenPGP key that it names. */
  keyId: string | null;
  isTooLarge: boolean;
}

/** Verifies SSH signatures, a tenth of a millisecond each, and reads which keys OpenPGP signatures name. */
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
