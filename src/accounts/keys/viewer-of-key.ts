import type { PersonViewer } from '../../access/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { sshKeySchema } from '../schema/ssh-key-schema.ts';
import { userSchema } from '../schema/user-schema.ts';
import { fingerprintOf } from './ssh-public-key.ts';

export interface KeyViewer {
  viewer: PersonViewer;
  keyId: string;
}

export interface KeyUse {
  address: string | null;
  /**
   * False while a client only asks whether a key would do: that proves nothing
   * (security F01), so it is not a use. True when not given.
   */
  proven?: boolean;
}

/**
 * Whose account a public key opens. `null` when nobody's, or a disabled one's.
 * The caller lets nobody in before a signature by this key was verified.
 * @param blob the key as the SSH protocol carries it
 */
export async function viewerOfKey(
  { db, lastUse }: AccountsDeps,
  blob: Buffer,
  { address, proven = true }: KeyUse,
): Promise<KeyViewer | null> {
  const [key] = await db.lookup(sshKeySchema, { fingerprint: fingerprintOf(blob) });
  if (key === undefined) return null;
  const [user] = await db.lookup(userSchema, { id: key.userId });
  if (user === undefined || user.disabledAt !== null) return null;

  if (proven) lastUse.record({ kind: 'key', id: key.id, personId: user.id, address, lastUsedAt: key.lastUsedAt });
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
