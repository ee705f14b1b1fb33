import type { SignedObject } from '../../signing/index.ts';
import { dependOn } from '../app/dependency.ts';
import type { Dependency } from '../app/dependency.ts';
import { viewSignature } from './signature.view.ts';
import type { SignatureView } from './signature.view.ts';
import type { CodeDeps } from './deps.ts';

interface ReadSignatures {
  /** In the order of the request. */
  views: (SignatureView | null)[];
  /** Changes when a key or an address is added to an account or removed. */
  dependency: Dependency;
}

interface Unsigned extends Omit<SignedObject, 'signature'> {
  signature: SignedObject['signature'] | null;
}

/** Verifies the signatures on a page and looks up the owners of their keys. */
export async function readSignatures(
  { signing }: Pick<CodeDeps, 'signing'>,
  objects: readonly (Unsigned | null)[],
  client: string,
  role: 'committer' | 'tagger' = 'committer',
): Promise<ReadSignatures> {
  const reads = objects.map((object) =>
    object?.signature ? signing.readSignature({ ...object, signature: object.signature }) : null,
  );
  const signed = reads.filter((read) => read !== null);
  if (signed.length === 0) return { views: reads.map(() => null), dependency: await dependOn(async () => null) };
  const dependency = await dependOn(() => signing.findSigners(signed));
  const verifications = await signing.verifySignatures(reads, dependency.value, client);
  const isFinal = verifications.every((one) => one?.reason !== 'unavailable');
  return {
    views: verifications.map((one) => one && viewSignature(one, role)),
    // A page that lacks a result is not cached.
    dependency: isFinal ? dependency : { value: false, query: async () => true },
  };
}

/** The fields of a commit that `readSignatures` needs. */
export const signedCommit = ({
  signature,
  committer,
}: {
  signature: SignedObject['signature'] | null;
  committer: { email: string; at: number };
}): Unsigned => ({ signature, address: committer.email, at: committer.at });
