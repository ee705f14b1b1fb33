import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { IsNull } from 'typeorm';
import { ownerIdOf } from './find-repository.ts';
import { pushSchema } from './pushes/push-schema.ts';
import { repositorySchema } from './repository-schema.ts';
import type { RepositoryRoom } from './room.ts';

/** As git counts for its own `gc --auto`: loose objects in one of 256 folders, and packs. */
const maxLooseInOneFolder = 27;
const maxPacks = 50;

/**
 * Packs anew the repositories that need it, one at a time; one with a push under way
 * waits for another night. What nothing leads to stays a month, for whoever pushed wrongly.
 * @param mayGoOn asked before each: the window may be over, or a backup under way
 * @returns how many were packed
 */
export async function maintainRepositories(room: RepositoryRoom, mayGoOn: () => Promise<boolean>): Promise<number> {
  let packed = 0;
  for (const row of await room.db.read.findBy(repositorySchema, { deletedAt: IsNull() })) {
    if (!(await mayGoOn())) break;
    const folder = room.git.repositoryPath(ownerIdOf(row), row.id);
    if (!(await needsPacking(folder))) continue;
    // Until it is announced, nobody has kept what a forced push left behind.
    if (await room.db.read.existsBy(pushSchema, { repositoryId: row.id, announcedAt: IsNull() })) continue;
    try {
      await room.git.pack(folder);
      packed += 1;
      room.logger.info('repository.packed', { repositoryId: row.id });
    } catch (error) {
      // A damaged one must not keep the others from their turn.
      room.logger.error('repository.pack_failed', { repositoryId: row.id, error });
    }
  }
  return packed;
}

async function needsPacking(folder: string): Promise<boolean> {
  const names = async (place: string): Promise<string[]> => readdir(path.join(folder, 'objects', place)).catch(() => []);
  // Any folder is as full as the others, because names are hashes; 17 is git's choice.
  if ((await names('17')).length > maxLooseInOneFolder) return true;
  return (await names('pack')).filter((name) => name.endsWith('.pack')).length > maxPacks;
}
