import type { Tx } from '../../db/index.ts';
import type { ImportedIssue } from './export-file-schemas.ts';

/** Ids here of reviews and of threads, by those in the export: one may have the id of the other there. */
export type PartIds = Readonly<Record<'reviews' | 'threads', ReadonlyMap<string, string>>>;

export const noPartIds: PartIds = { reviews: new Map(), threads: new Map() };

/** The code of a pull request, ready to be written with its log. */
export interface PreparedPull {
  ids: PartIds;
  /**
   * Called in the write that has the row of the issue, behind it.
   * @param positions where its entries are here, by their positions in the export
   */
  write(tx: Tx, positions: ReadonlyMap<number, number>): Promise<void>;
  /** Called once that write is durable. */
  written(): Promise<void>;
}

/** What an import of logs asks for the code of pull requests: the port that the module of pull requests fills. */
export interface PullImporter {
  /** Null for one that went on here since an earlier import: it stays as it is, its log included. */
  prepare(
    issue: ImportedIssue,
    context: { id: string; repositoryId: string; isKnown: boolean; text(given: string): string },
  ): Promise<PreparedPull | null>;
}
