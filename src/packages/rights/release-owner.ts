import { conflict } from '../../kernel/index.ts';
import { packageSchema } from '../schema/package-schema.ts';
import { packageRetentionSchema } from '../schema/retention-schema.ts';
import type { Tx } from '../../db/index.ts';

/**
 * For the write that deletes an account or an organisation: refuses `owner_has_packages` while it has a package with
 * versions, and removes packages whose versions are all in the trash.
 */
export async function releaseOwner({ manager }: Tx, ownerId: string): Promise<void> {
  const left = await manager
    .createQueryBuilder(packageSchema, 'p')
    .where('p.owner_id = :ownerId AND p.versions > 0', { ownerId })
    .limit(4)
    .getMany();
  if (left.length > 0) {
    const names = left.map(({ format, name }) => `${name} (${format})`);
    const shown = names.slice(0, 3).join(', ') + (names.length > 3 ? ' and more' : '');
    throw conflict('owner_has_packages', `The owner still has packages: ${shown}. Delete their versions first.`);
  }
  await manager.delete(packageSchema, { ownerId });
  await manager.delete(packageRetentionSchema, { ownerId });
}
