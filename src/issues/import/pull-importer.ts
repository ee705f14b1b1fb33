import type { Tx } from '../../db/index.ts';
import type { ImportedIssue } from './export-file-schemas.ts';

/**
 * Local ids of reviews and of threads, by those in the export; separate, because a review and a thread may share an id
 * there.
 */
export type PartIds = Readonly<Record<'reviews' | 'threads', ReadonlyMap<string, string>>>;

export const noPartIds: PartIds = { reviews: new Map(), threads: new Map() };

/** The code of a pull request, ready to be written with its log. */
export interface PreparedPull {
  ids: PartIds;
  /**
   * Called in the transaction that has the issue row, after it.
   * @param positions local positions of its entries, by their positions in the export
   */
  write(tx: Tx, positions: ReadonlyMap<number, number>): Promise<void>;
  /** Called once that transaction is durable. */
  written(): Promise<void>;
}

/** Port through which an import of logs gets the code of pull requests; implemented by the pull request module. */
export interface PullImporter {
  /** Null for a pull request that changed here since an earlier import: it stays unchanged, including its log. */
  prepare(
    issue: ImportedIssue,
    context: { id: string; repositoryId: string; isKnown: boolean; text(given: string): string },
  ): Promise<PreparedPull | null>;
}
