import type { CommitSignature } from '../../git/index.ts';
import { dependOn } from '../app/dependency.ts';
import type { Dependency } from '../app/dependency.ts';
import { checkSignature, viewSignature } from './signature.view.ts';
import type { SignatureView } from './signature.view.ts';
import type { CodeDeps } from './deps.ts';

interface ReadSignatures {
  /** In the order of the question. */
  views: (SignatureView | null)[];
  /** Changes when a key is added to an account or removed. */
  dependency: Dependency;
}

/** Checks the signatures that a page shows, and asks whose keys they are. */
export async function readSignatures(
  { accounts }: Pick<CodeDeps, 'accounts'>,
  signatures: readonly (CommitSignature | null | undefined)[],
): Promise<ReadSignatures> {
  const checked = signatures.map(checkSignature);
  const fingerprints = checked.flatMap((one) => (one?.ssh?.isGood ? [one.ssh.fingerprint] : []));
  const dependency = await dependOn(() => accounts.keyHolders(fingerprints));
  return { views: checked.map((one) => viewSignature(one, dependency.value)), dependency };
}
