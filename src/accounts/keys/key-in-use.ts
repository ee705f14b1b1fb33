import { Not } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { conflict } from '../../kernel/index.ts';
import { deployKeySchema } from '../schema/deploy-key-schema.ts';
import { sshKeySchema } from '../schema/ssh-key-schema.ts';

/** The error reveals neither a user nor a repository (security F05). */
export const keyInUse = (cause?: unknown) =>
  conflict('key_in_use', 'This key is already in use.', { field: 'key', cause });

/**
 * Whether a key already grants SSH access: to an account, or to a repository as its deploy key. A key with a single
 * target identifies it. Two unique indexes cannot enforce this across both tables, so every transaction that adds a key
 * checks it.
 */
export async function isKeyInUse(manager: EntityManager, fingerprint: string): Promise<boolean> {
  return (
    (await manager.existsBy(deployKeySchema, { fingerprint })) ||
    (await manager.existsBy(sshKeySchema, { fingerprint, uses: Not('signing') }))
  );
}
