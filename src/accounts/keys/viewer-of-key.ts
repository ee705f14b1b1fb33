import type { DeployKeyViewer, PersonViewer } from '../../access/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { deployKeySchema } from '../schema/deploy-key-schema.ts';
import { sshKeySchema } from '../schema/ssh-key-schema.ts';
import { userSchema } from '../schema/user-schema.ts';
import { viewerOfRow } from './deploy-keys.ts';
import { fingerprintOf } from './ssh-public-key.ts';

export interface KeyViewer {
  viewer: PersonViewer | DeployKeyViewer;
  keyId: string;
}

interface KeyUse {
  address: string | null;
  /**
   * False while a client only asks whether a key would be accepted: that proves nothing (security F01), so it is not
   * recorded as a use. Defaults to true.
   */
  hasSigned?: boolean;
}

/**
 * The account of a public key, or its deploy key. `null` for an unknown key, a signing-only key, or a disabled account.
 * The caller must verify a signature by this key before granting access.
 * @param blob the key in wire form
 */
export async function viewerOfKey(
  { db, lastUse }: AccountsDeps,
  blob: Buffer,
  { address, hasSigned = true }: KeyUse,
): Promise<KeyViewer | null> {
  const fingerprint = fingerprintOf(blob);
  const keys = await db.lookup(sshKeySchema, { fingerprint });
  const key = keys.find(({ uses }) => uses !== 'signing');
  if (key === undefined) {
    const [deployKey] = await db.lookup(deployKeySchema, { fingerprint });
    if (deployKey === undefined) return null;
    const { id, lastUsedAt } = deployKey;
    if (hasSigned) lastUse.record({ kind: 'deployKey', id, personId: null, address: null, lastUsedAt });
    return { viewer: viewerOfRow(deployKey), keyId: id };
  }
  const [user] = await db.lookup(userSchema, { id: key.userId });
  if (user === undefined || user.disabledAt !== null) return null;

  if (hasSigned) lastUse.record({ kind: 'key', id: key.id, personId: user.id, address, lastUsedAt: key.lastUsedAt });
  return {
    viewer: {
      kind: 'person',
      id: user.id,
      username: user.username,
      isAdministrator: user.isAdministrator,
      via: 'key',
      scope: 'admin',
      repositoryIds: null,
    },
    keyId: key.id,
  };
}
