import { isUniqueViolation } from '../../db/index.ts';
import { conflict } from '../../kernel/index.ts';
import { noSuchPerson } from '../people/find-people.ts';
import { cleanText, parseText } from '../validate-text.ts';
import type { AccountsDeps } from '../deps.ts';
import { sshKeySchema } from '../schema/ssh-key-schema.ts';
import type { SshKeyRow } from '../schema/ssh-key-schema.ts';
import { userSchema } from '../schema/user-schema.ts';
import { toSshKey } from './ssh-key.ts';
import type { SshKey } from './ssh-key.ts';
import { parsePublicKeyLine } from './ssh-public-key.ts';

export interface NewSshKey {
  /** When empty: the key's comment, else its type. */
  title?: string;
  /** A whole line of a `.pub` file. */
  line: string;
}

const titleRule = { field: 'title', called: 'The title', maxCharacters: 100 };

/**
 * Adds a public key with which the person signs in over SSH. A key belongs to one person only, because it identifies
 * the account; the refusal does not say to whom it belongs (security F05).
 *
 * Refuses as `parsePublicKeyLine` does; `invalid_text`, `text_too_long`; `key_in_use`, `too_many_keys` (over 50);
 * `unknown_person`.
 */
export async function addKey(
  { db, random, settings }: AccountsDeps,
  personId: string,
  input: NewSshKey,
): Promise<SshKey> {
  const title = parseText(input.title ?? '', titleRule);
  const { type, blob, fingerprint, comment } = parsePublicKeyLine(input.line);

  return db.write(async ({ manager, now }) => {
    if (!(await manager.existsBy(userSchema, { id: personId }))) throw noSuchPerson();
    if ((await manager.countBy(sshKeySchema, { userId: personId })) >= settings.maxKeysPerPerson) {
      throw conflict('too_many_keys', `You have ${settings.maxKeysPerPerson} keys already. Remove one first.`);
    }
    const row: SshKeyRow = {
      id: random.uuid(),
      userId: personId,
      title: title || cleanText(comment, titleRule.maxCharacters) || type,
      type,
      blobBase64: blob.toString('base64'),
      fingerprint,
      createdAt: now,
      lastUsedAt: null,
      lastUsedAddress: null,
    };
    try {
      await manager.insert(sshKeySchema, row);
    } catch (error) {
      if (!isUniqueViolation(error, 'ssh_keys_fingerprint')) throw error;
      throw conflict('key_in_use', 'This key is already in use.', { field: 'key', cause: error });
    }
    return toSshKey(row);
  });
}
