import type { Tx } from '../../db/index.ts';
import type { ImportedIssue } from './export-file-schemas.ts';

/** The code of a pull request, ready to be written with its log. */
export interface PreparedPull {
  /** Ids here of its reviews and threads, by those in the export. */
  ids: ReadonlyMap<string, string>;
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
