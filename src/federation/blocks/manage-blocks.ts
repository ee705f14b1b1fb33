import { In, Like, MoreThan } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import { notFound } from '../../kernel/index.ts';
import type { FederationDeps } from '../deps.ts';
import { endFollower } from '../deliveries/end-follower.ts';
import { blockSchema } from '../schema/block-schema.ts';
import type { Block, BlockKind } from '../schema/block-schema.ts';
import { formatBlocks, parseBlock, parseBlocks } from './parse-block.ts';
import type { NewBlock, ReadBlocks } from './parse-block.ts';

const perWrite = 500;

/**
 * Blocks a server with its subdomains, or an actor: their activities are refused, nothing is sent to them, and their
 * followers here are removed. For an existing block, only the reason changes. Throws `invalid_block`.
 * @param value a host name or the URL of an actor
 */
export async function addBlock(deps: FederationDeps, value: string, reason: string): Promise<NewBlock> {
  const block = parseBlock(value, reason);
  await deps.db.write((tx) => record(tx, [block]));
  deps.logger.info('peer.blocked', { kind: block.kind, value: block.value });
  return block;
}

/** Adds the blocks of a list; see `parseBlocks` for its forms. Existing blocks get the reason of the list. */
export async function importBlocks(deps: FederationDeps, text: string): Promise<ReadBlocks & { added: number }> {
  const read = parseBlocks(text);
  const unique = [...new Map(read.blocks.map((block) => [`${block.kind} ${block.value}`, block])).values()];
  let added = 0;
  for (let start = 0; start < unique.length; start += perWrite)
    added += await deps.db.write((tx) => record(tx, unique.slice(start, start + perWrite)));
  deps.logger.info('peer.blocks_imported', { added, skipped: read.skipped.length });
  return { ...read, blocks: unique, added };
}

/**
 * @returns number of new blocks
 */
async function record(tx: Tx, blocks: readonly NewBlock[]): Promise<number> {
  const { manager, now } = tx;
  const before = await manager.countBy(
    blockSchema,
    blocks.map(({ kind, value }) => ({ kind, value })),
  );
  for (const { kind, value, reason } of blocks) {
    await manager.query(
      `INSERT INTO federation_blocks (kind, value, reason, created_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (kind, value) DO UPDATE SET reason = excluded.reason`,
      [kind, value, reason, now],
    );
    if (kind === 'actor') await endFollower(tx, { actorId: value });
    else await endFollowersOn(tx, value);
  }
  return blocks.length - before;
}

/** Hosts of followers are stored with and without a port, and include subdomains of the blocked name. */
async function endFollowersOn(tx: Tx, name: string): Promise<void> {
  const found: { host: string }[] = await tx.manager.query(
    `SELECT host FROM federation_peers WHERE host = ? OR host LIKE ? OR host LIKE ? OR host LIKE ?`,
    [name, `%.${name}`, `${name}:%`, `%.${name}:%`],
  );
  const hosts = new Set([name, ...found.map(({ host }) => host)]);
  for (const host of hosts) await endFollower(tx, { host });
}

/** Removes a block; follows that the block ended are not restored. Throws `unknown_block`. */
export async function removeBlock(deps: FederationDeps, value: string): Promise<void> {
  const names = [value.trim(), value.trim().toLowerCase()];
  const { affected } = await deps.db.write(({ manager }) => manager.delete(blockSchema, { value: In(names) }));
  if (affected === 0) throw notFound('unknown_block', `${value} is not blocked.`);
  deps.logger.info('peer.unblocked', { value });
}

/** A page of the blocks that contain a search text, ordered by name: those after a given name. */
export async function listBlocks(
  { db }: FederationDeps,
  { limit, after, search = '' }: { limit: number; after?: string | null; search?: string },
): Promise<Block[]> {
  const key = /^(host|actor) (.+)$/.exec(after ?? '');
  const part = search === '' ? {} : { value: Like(`%${search.toLowerCase().replace(/[%_]/g, '')}%`) };
  const listed = (kind: BlockKind, from: string | null, take: number): Promise<Block[]> =>
    db.read
      .createQueryBuilder(blockSchema, 'b')
      .where({ kind, ...part })
      .andWhere(from === null ? '1 = 1' : { value: MoreThan(from) })
      .orderBy('b.value', 'ASC')
      .limit(take)
      .getMany();
  const hosts = key?.[1] === 'actor' ? [] : await listed('host', key?.[2] ?? null, limit);
  if (hosts.length >= limit) return hosts;
  return [...hosts, ...(await listed('actor', key?.[1] === 'actor' ? key[2]! : null, limit - hosts.length))];
}

/** All blocks of one kind as a list for `importBlocks`. */
export async function exportBlocks({ db }: FederationDeps, kind: BlockKind): Promise<string> {
  return formatBlocks(await db.read.find(blockSchema, { where: { kind }, order: { value: 'ASC' } }));
}
