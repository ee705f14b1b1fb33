import type { CommitSignature } from '../../git/index.ts';
import { dependOn } from '../app/dependency.ts';
import type { Dependency } from '../app/dependency.ts';
import { checkSignature, viewSignature } from './signature.view.ts';
import type { SignatureView } from './signature.view.ts';
import type { CodeDeps } from './deps.ts';

interface ReadSignatures {
  /** In the order of the question. */
  views: (SignatureView | null)[];
  /** A key may come to belong to somebody, or be taken away. */
  relied: Dependency;
}

/** Checks the signatures that a page shows, and asks whose keys they are. */
export async function readSignatures(
  { accounts }: Pick<CodeDeps, 'accounts'>,
  seals: readonly (CommitSignature | null | undefined)[],
): Promise<ReadSignatures> {
  const checked = seals.map(checkSignature);
  const fingerprints = checked.flatMap((one) => (one?.ssh?.isGood ? [one.ssh.fingerprint] : []));
  const relied = await dependOn(() => accounts.keyHolders(fingerprints));
  return { views: checked.map((one) => viewSignature(one, relied.value)), relied };
}
