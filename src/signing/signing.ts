import { bindDeps } from '../kernel/index.ts';
import type { SigningDeps } from './deps.ts';
import { addGpgKey } from './gpg-keys/add-gpg-key.ts';
import { armoredKeys, listGpgKeys, ownAddresses } from './gpg-keys/list-gpg-keys.ts';
import { removeGpgKey } from './gpg-keys/remove-gpg-key.ts';
import { allowedSigners } from './instance/allowed-signers.ts';
import {
  currentInstanceKey,
  instanceKeys,
  reencryptSigningKeys,
  rotateInstanceKey,
  signCommit,
} from './instance/instance-signer.ts';
import { findSigners } from './verification/find-signers.ts';
import { readSignature } from './verification/read-signatures.ts';
import { verifySignatures } from './verification/verify-signatures.ts';
import type { SignedObject, Verification } from './verification/verification.ts';

/**
 * Signatures of commits and tags: OpenPGP keys of users, verification, and the signing key of the server. Each function
 * documents its effect and its errors.
 */
export function createSigning(deps: SigningDeps) {
  const bind = bindDeps(deps);
  /** Identity of the server as a committer, and principal of its key. */
  const { name, email: address } = deps.accounts.addresses.serverIdentity;
  const identity = { name, address };
  return {
    addGpgKey: bind(addGpgKey),
    listGpgKeys: bind(listGpgKeys),
    removeGpgKey: bind(removeGpgKey),
    armoredKeys: bind(armoredKeys),
    ownAddresses: bind(ownAddresses),

    readSignature,
    findSigners: bind(findSigners),
    verifySignatures: bind(verifySignatures),
    /** Runs all three steps, for callers without a cache. */
    async verify(objects: readonly (SignedObject | null)[], client: string): Promise<(Verification | null)[]> {
      const reads = objects.map((object) => object && readSignature(object));
      const signers = await findSigners(
        deps,
        reads.filter((read) => read !== null),
      );
      return verifySignatures(deps, reads, signers, client);
    },

    identity,
    instanceKeys: bind(instanceKeys),
    currentInstanceKey: bind(currentInstanceKey),
    rotateInstanceKey: bind(rotateInstanceKey),
    /** Re-encrypts the keys after a rotation of the instance key. */
    reencrypt: bind(reencryptSigningKeys),
    signCommit: bind(signCommit),
    /** The keys of the server as a file for `gpg.ssh.allowedSignersFile`. */
    allowedSigners: async (): Promise<string> => allowedSigners(await instanceKeys(deps), identity.address),
  };
}

export type Signing = ReturnType<typeof createSigning>;
