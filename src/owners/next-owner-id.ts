import type { Tx } from '../db/index.ts';
import type { Random } from '../kernel/index.ts';

/**
 * The id of a new person or organisation, inside the write that inserts it: a UUID of version 4 whose first 48 bits
 * count owners, because clients of Gitea's API know them by an integer. The other 74 random bits are beyond guessing.
 */
export async function nextOwnerId({ manager }: Tx, random: Pick<Random, 'uuid'>): Promise<string> {
  await manager.query('UPDATE owner_numbers SET last = last + 1 WHERE id = 1');
  const [row]: { last: number | string }[] = await manager.query('SELECT last FROM owner_numbers WHERE id = 1');
  const hex = Number(row!.last).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}${random.uuid().slice(13)}`;
}
