import { isUniqueViolation } from '../../db/index.ts';
import { conflict, invalid } from '../../kernel/index.ts';
import { noSuchPerson } from '../people/find-people.ts';
import { cleanText, parseText } from '../validate-text.ts';
import type { AccountsDeps } from '../deps.ts';
import { deployKeySchema } from '../schema/deploy-key-schema.ts';
import { sshKeySchema } from '../schema/ssh-key-schema.ts';
import { sshKeyUses } from '../schema/ssh-key-schema.ts';
import type { SshKeyRow, SshKeyUse } from '../schema/ssh-key-schema.ts';
import { userSchema } from '../schema/user-schema.ts';
import { announceSecurityEvent } from '../security-events.ts';
import { toSshKey } from './ssh-key.ts';
import type { SshKey } from './ssh-key.ts';
import { keyInUse } from './key-in-use.ts';
import { parsePublicKeyLine } from './ssh-public-key.ts';

interface NewSshKey {
  /** If empty: the key's comment, else its type. */
  title?: string;
  /** A full line of a `.pub` file. */
  line: string;
  /** Defaults to both. */
  uses?: SshKeyUse;
}

const titleRule = { field: 'title', called: 'The title', maxCharacters: 100 };

/**
 * Adds a public key with which the user signs in over SSH, signs commits, or both. A sign-in key belongs to only one
 * user, because it identifies the account; the error does not reveal to whom (security F05). A signing key takes
 * nothing from others: a signature counts only with the owner's verified address.
 *
 * Throws what `parsePublicKeyLine` throws; `invalid_text`, `text_too_long`; `invalid_key_use`; `key_in_use`,
 * `too_many_keys` (over 50); `unknown_person`.
 */
export async function addKey(deps: AccountsDeps, personId: string, input: NewSshKey): Promise<SshKey> {
  const { db, random, settings } = deps;
  const title = parseText(input.title ?? '', titleRule);
  const uses = input.uses ?? 'both';
  if (!sshKeyUses.includes(uses)) throw invalid('invalid_key_use', 'Choose what the key is for.', { field: 'uses' });
  const { type, blob, fingerprint, comment } = parsePublicKeyLine(input.line);

  return db.write(async (tx) => {
    const { manager, now } = tx;
    if (!(await manager.existsBy(userSchema, { id: personId }))) throw noSuchPerson();
    if ((await manager.countBy(sshKeySchema, { userId: personId })) >= settings.maxKeysPerPerson) {
      throw conflict('too_many_keys', `You already have ${settings.maxKeysPerPerson} keys. Remove one first.`);
    }
    const row: SshKeyRow = {
      id: random.uuid(),
      userId: personId,
      title: title || cleanText(comment, titleRule.maxCharacters) || type,
      type,
      blobBase64: blob.toString('base64'),
      fingerprint,
      uses,
      createdAt: now,
      lastUsedAt: null,
      lastUsedAddress: null,
    };
    // A deploy key grants access to its repository; a signing key does not interfere with it.
    if (uses !== 'signing' && (await manager.existsBy(deployKeySchema, { fingerprint }))) throw keyInUse();
    try {
      await manager.insert(sshKeySchema, row);
    } catch (error) {
      if (!isUniqueViolation(error, 'ssh_keys_sign_in') && !isUniqueViolation(error, 'ssh_keys_fingerprint_user'))
        throw error;
      throw keyInUse(error);
    }
    const event = { kind: 'ssh_key_added' as const, title: row.title, fingerprint, uses };
    await announceSecurityEvent(deps, tx, personId, event);
    return toSshKey(row);
  });
}
