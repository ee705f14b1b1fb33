import { createHash } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { conflict } from '../../kernel/index.ts';

/** What a client sends: a block that it orders later, an appended part, or the whole content at once. */
export type Part = { kind: 'block'; blockId: string } | { kind: 'more' } | { kind: 'whole' };

/** Throws when that many more bytes are not allowed. */
export type Allowance = (moreBytes: number) => void;

/** What is allowed as of the rows that a manager sees. */
export type AllowanceBy = (manager: EntityManager) => Promise<Allowance>;

/** A complete upload in a file of this machine. */
export interface GatheredUpload {
  file: string;
  bytes: number;
  /** SHA-256 in hex. */
  digest: string;
}

/** What of archives is still coming: in a folder of this machine, or where each node finds it. */
export interface Uploads {
  /** At start: reads what unfinished uploads have received. */
  recover(): Promise<void>;
  /**
   * Bytes received for artifacts that are not finished yet, as the rows of a manager say or up to the moment of
   * asking.
   */
  staged(manager: EntityManager, ids: readonly number[]): Promise<(id: number) => number>;
  /** Stores one part. A repeated block replaces the first. Refuses `too_many_blocks`, and what the allowance throws. */
  receive(id: number, part: Part, body: AsyncIterable<Buffer>, allowance: AllowanceBy): Promise<void>;
  /** Puts blocks in the given order. Refuses `missing_block` when one of them was never received. */
  assemble(id: number, blockIds: readonly string[]): Promise<void>;
  /** The upload as one file; null when nothing was uploaded. */
  gather(id: number): Promise<GatheredUpload | null>;
  /** Removes what was gathered, where that is a copy. */
  discard(gathered: GatheredUpload): Promise<void>;
  /** Removes an upload. */
  abandon(id: number): Promise<void>;
  /** Ids of artifacts with an unfinished upload. */
  ids(): Promise<number[]>;
}

export const maxBlocks = 50_000;

export const tooManyBlocks = () => conflict('too_many_blocks', `An artifact has at most ${maxBlocks} blocks.`);
export const missingBlock = () => conflict('missing_block', 'The list names a block that was not uploaded.');

/** Block ids come from the client, so the file name is their hash. */
export const blockName = (blockId: string): string => createHash('sha256').update(blockId).digest('hex').slice(0, 40);
