import { checkSshSignature } from '../../accounts/index.ts';
import type { CheckedSshSignature, KeyOwner } from '../../accounts/index.ts';
import type { CommitSignature } from '../../git/index.ts';

/** What a badge says of a signature. */
export interface SignatureView {
  label: string;
  /** `good` only for a valid signature by a key of a local account. */
  tone: 'good' | 'plain' | 'bad';
  /** One sentence more. */
  says: string;
}

/** A signature with what can be found out about it without asking anyone. */
export interface CheckedSignature {
  signature: CommitSignature;
  /** Null unless it was made with an SSH key and can be read. */
  ssh: CheckedSshSignature | null;
}

/** Signatures are looked at once: checking takes about a tenth of a millisecond each. */
export const checkSignature = (signature: CommitSignature | null | undefined): CheckedSignature | null =>
  signature
    ? { signature, ssh: signature.kind === 'ssh' ? checkSshSignature(signature.text, signature.signed, 'git') : null }
    : null;

const otherKinds: Readonly<Record<CommitSignature['kind'], string>> = {
  ssh: 'SSH',
  openpgp: 'OpenPGP',
  x509: 'X.509',
  unknown: 'unknown',
};

/** @param holders whose keys the signing ones are */
export function viewSignature(checked: CheckedSignature | null, holders: readonly KeyOwner[]): SignatureView | null {
  if (checked === null) return null;
  const { signature, ssh } = checked;
  if (signature.kind !== 'ssh') {
    return {
      label: 'Signed',
      tone: 'plain',
      says: `It carries an ${otherKinds[signature.kind]} signature. This server does not check those.`,
    };
  }
  if (ssh === null)
    return { label: 'Signed', tone: 'plain', says: 'It carries an SSH signature that this server cannot read.' };
  if (!ssh.isGood)
    return {
      label: 'Bad signature',
      tone: 'bad',
      says: `It was changed after it was signed with the SSH key ${ssh.fingerprint}.`,
    };
  const holder = holders.find(({ fingerprint }) => fingerprint === ssh.fingerprint);
  if (holder === undefined)
    return {
      label: 'Unknown key',
      tone: 'plain',
      says: `It is signed with the SSH key ${ssh.fingerprint}, which no account here has.`,
    };
  return {
    label: 'Verified',
    tone: 'good',
    says: `It is signed with an SSH key of ${holder.username}: ${ssh.fingerprint}.`,
  };
}
