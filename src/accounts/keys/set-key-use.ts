import { invalid, notFound } from '../../kernel/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { sshKeySchema, sshKeyUses } from '../schema/ssh-key-schema.ts';
import type { SshKeyUse } from '../schema/ssh-key-schema.ts';
import { toSshKey } from './ssh-key.ts';
import type { SshKey } from './ssh-key.ts';

/**
 * Changes the purpose of a key. A signing-only key cannot become a sign-in key: that would grant access to the account
 * like a new key, so it must be added again. Throws `invalid_key_use`, `key_only_signs`, `unknown_key`.
 */
export async function setKeyUse(
  { db }: AccountsDeps,
  personId: string,
  keyId: string,
  uses: SshKeyUse,
): Promise<SshKey> {
  if (!sshKeyUses.includes(uses)) throw invalid('invalid_key_use', 'Choose what the key is for.', { field: 'uses' });
  return db.write(async ({ manager }) => {
    const key = await manager.findOneBy(sshKeySchema, { id: keyId, userId: personId });
    if (key === null) throw notFound('unknown_key', 'There is no such key.');
    if (key.uses === 'signing' && uses !== 'signing') {
      throw invalid('key_only_signs', 'This key is for signing only. To sign in with it, remove it and add it again.', {
        field: 'uses',
      });
    }
    await manager.update(sshKeySchema, { id: keyId }, { uses });
    return toSshKey({ ...key, uses });
  });
}
