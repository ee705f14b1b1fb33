import { createHash } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { conflict } from '../../kernel/index.ts';

/** Kind of an upload: a block that the client orders later, an appended part, or the whole content. */
export type Part = { kind: 'block'; blockId: string } | { kind: 'more' } | { kind: 'whole' };

/** Throws if this many additional bytes are not allowed. */
export type Allowance = (moreBytes: number) => void;

/** The allowance computed from the rows that a manager sees. */
export type AllowanceBy = (manager: EntityManager) => Promise<Allowance>;

/** A complete upload in a local file. */
export interface GatheredUpload {
  file: string;
  bytes: number;
  /** SHA-256 in hex. */
  digest: string;
}

/** Unfinished uploads of archives: in a local folder, or in storage shared by all nodes. */
export interface Uploads {
  /** Called at start: loads the state of unfinished uploads. */
  recover(): Promise<void>;
  /** Bytes received for unfinished artifacts, as the manager sees them or as of this call. */
  staged(manager: EntityManager, ids: readonly number[]): Promise<(id: number) => number>;
  /** Stores one part. A repeated block replaces the first. Throws `too_many_blocks` and the errors of the allowance. */
  receive(id: number, part: Part, body: AsyncIterable<Buffer>, allowance: AllowanceBy): Promise<void>;
  /** Puts blocks into the given order. Throws `missing_block` if one of them was never received. */
  assemble(id: number, blockIds: readonly string[]): Promise<void>;
  /** Returns the upload as one file; null if nothing was uploaded. */
  gather(id: number): Promise<GatheredUpload | null>;
  /** Removes the gathered file if it is a copy. */
  discard(gathered: GatheredUpload): Promise<void>;
  /** Removes an upload. */
  abandon(id: number): Promise<void>;
  /** Ids of artifacts with an unfinished upload. */
  ids(): Promise<number[]>;
}

export const maxBlocks = 50_000;

export const tooManyBlocks = () => conflict('too_many_blocks', `An artifact can have at most ${maxBlocks} blocks.`);
export const missingBlock = () => conflict('missing_block', 'The list references a block that was not uploaded.');

/** Clients choose block ids, so file names are their hashes. */
export const blockName = (blockId: string): string => createHash('sha256').update(blockId).digest('hex').slice(0, 40);
