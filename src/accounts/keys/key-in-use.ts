import { Not } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { conflict } from '../../kernel/index.ts';
import { deployKeySchema } from '../schema/deploy-key-schema.ts';
import { sshKeySchema } from '../schema/ssh-key-schema.ts';

/** The refusal names neither a person nor a repository (security F05). */
export const keyInUse = (cause?: unknown) =>
  conflict('key_in_use', 'This key is already in use.', { field: 'key', cause });

/**
 * Whether a key opens something over SSH already: an account, or a repository as its deploy key. A key that opens one
 * thing says by itself what it is for. Two unique indexes cannot state this over both tables, so every write that adds
 * a key asks.
 */
export async function isKeyInUse(manager: EntityManager, fingerprint: string): Promise<boolean> {
  return (
    (await manager.existsBy(deployKeySchema, { fingerprint })) ||
    (await manager.existsBy(sshKeySchema, { fingerprint, uses: Not('signing') }))
  );
}
