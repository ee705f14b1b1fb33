import { Not } from 'typeorm';
import { isDomainError } from '../../kernel/index.ts';
import { repositoryOf } from '../../repositories/index.ts';
import type { Located } from '../../repositories/index.ts';
import type { ImportDeps } from '../deps.ts';
import { problemSchema, importSchema } from '../schema/import-schema.ts';
import type { ImportRow, Phase } from '../schema/import-schema.ts';
import type { Source, SourceRepository } from '../sources/source.ts';
import type { SourceFiles, Transfer } from './transfer.ts';

/** Options chosen by the user who starts an import. */
export interface ImportOptions {
  /** Visibility once everything is imported; null for that of the source. Private until then. */
  visibility: 'PUBLIC' | 'PRIVATE' | null;
  withIssues: boolean;
  withPulls: boolean;
  withReleases: boolean;
  withLfs: boolean;
  withWiki: boolean;
  withReactions: boolean;
  /** Whether deploy keys get access here. */
  withDeployKeys: boolean;
  /** Whether the last run archives the source repository. */
  archivesSource: boolean;
}

/** Options of a row; options added since it was written mean that everything is imported. */
export const readStoredOptions = (text: string): ImportOptions => ({
  withWiki: true,
  withDeployKeys: false,
  ...(JSON.parse(text) as Omit<ImportOptions, 'withWiki' | 'withDeployKeys'>),
});

/** Position and counts of a run; stored in the row with each step. */
export interface Progress {
  /** Cursor of the next page; null for the first one. */
  cursor: string | null;
  /** Number of the last written issue. */
  number: number;
  found: Record<'issues' | 'pulls' | 'comments', number>;
  /** Number of issues and pull requests written because they have changed. */
  written: number;
  unchanged: number;
  described: Pick<
    SourceRepository,
    'isPrivate' | 'isArchived' | 'defaultBranch' | 'hasWiki' | 'pictures' | 'project'
  > | null;
  /** Whether the source had changes. */
  hasChanges: boolean;
  /** Whether a list of this run broke off: what is missing in it is not taken for deleted. */
  isPartial: boolean;
}

export const newProgress: Progress = {
  cursor: null,
  number: 0,
  found: { issues: 0, pulls: 0, comments: 0 },
  written: 0,
  unchanged: 0,
  described: null,
  hasChanges: false,
  isPartial: false,
};

/** Duration of a claim in milliseconds; a live run renews it. */
export const leaseMs = 5 * 60_000;
export const renewMs = 60_000;
/** Number of failures without progress after which what fails is left out, if the rest makes sense without it. */
const patience = 3;
/** Limit of stored report lines. */
const maxProblems = 2_000;

/** The import was ended, or its repository is gone: the run stops, and its remaining steps are not done. */
export class RunOver extends Error {
  constructor() {
    super('this run is over');
  }
}

/** A run of an import. */
export class RunContext {
  readonly deps: ImportDeps;
  readonly row: ImportRow;
  located: Located;
  readonly source: Source;
  readonly signal: AbortSignal;
  readonly options: ImportOptions;
  readonly transfer: Transfer;
  /** Attached files of the source. */
  readonly files: SourceFiles;
  progress: Progress;
  /** Requests since the row was last saved. */
  requests = 0;
  #hasWaited = false;
  #problems: [item: string, problem: string][] = [];
  #renewed: { item: string; isBeginning: boolean }[] = [];

  constructor(
    deps: ImportDeps,
    row: ImportRow,
    found: {
      located: Located;
      source: Source;
      signal: AbortSignal;
      transfer: Transfer;
      files: SourceFiles;
    },
  ) {
    this.deps = deps;
    this.row = row;
    this.located = found.located;
    this.source = found.source;
    this.signal = found.signal;
    this.transfer = found.transfer;
    this.files = found.files;
    this.options = readStoredOptions(row.options);
    this.progress = { ...structuredClone(newProgress), ...(JSON.parse(row.progress) as Partial<Progress>) };
  }

  /**
   * Where the repository is now: while a run takes hours, it may be renamed or transferred, and another one may take
   * its name. Ask right before each use. Throws `RunOver` if it was deleted.
   */
  async at(): Promise<{ owner: string; name: string }> {
    const { id } = this.located.repository;
    const located = (await this.deps.repositories.locate([id])).get(id);
    if (located === undefined) throw new RunOver();
    this.located = located;
    return { owner: located.owner.handle, name: located.repository.name };
  }

  /** Whether a step of this run has failed for minutes. */
  get hasWaited(): boolean {
    return (this.#hasWaited ||= this.row.failures >= patience);
  }

  /** Whether an error can be left out with a line in the report: it has come for minutes, and all else is answered. */
  async mayLeaveOut(error: unknown): Promise<boolean> {
    if (!this.hasWaited || !isDomainError(error) || error.reason !== 'source_failed') return false;
    await this.source.describe();
    return true;
  }

  /** Adds a line to the report; the next step writes it. */
  readonly tell = (item: string, problem: string): void => {
    if (this.#problems.length < maxProblems) this.#problems.push([item.slice(0, 200), problem.slice(0, 500)]);
  };

  /**
   * Lines that earlier runs wrote about an item are outdated, because this run tells again what still holds; the next
   * step removes them.
   */
  readonly renew = (item: string): void => {
    if (this.row.run > 1) this.#renewed.push({ item, isBeginning: false });
  };

  /** As `renew`, for all items with this beginning. */
  readonly renewAll = (beginning: string): void => {
    if (this.row.run > 1) this.#renewed.push({ item: beginning, isBeginning: true });
  };

  /**
   * Writes the results of a step and the position of the next one, in one write. Throws `RunOver`, without writing,
   * once the import was ended or deleted.
   */
  async save(
    step: { phase?: Phase; progress?: Partial<Progress> },
    work: (tx: Parameters<Parameters<ImportDeps['db']['write']>[0]>[0]) => Promise<void> = async () => {},
  ): Promise<void> {
    const { deps, row } = this;
    this.progress = { ...this.progress, ...step.progress };
    const problems = this.#problems.splice(0);
    const renewed = this.#renewed.splice(0);
    const requests = this.requests;
    this.requests = 0;
    await deps.db.write(async (tx) => {
      const { manager, now } = tx;
      if ((await repositoryOf(tx, row.repositoryId)) === null) throw new RunOver();
      await work(tx);
      const phase = step.phase ?? row.phase;
      for (const { item, isBeginning } of renewed)
        await manager.query(
          `DELETE FROM import_problems
           WHERE import_id = ? AND run < ? AND ${isBeginning ? 'substr(item, 1, length(?)) = ?' : 'item = ?'}`,
          [row.id, row.run, ...(isBeginning ? [item] : []), item],
        );
      const kept = problems.length === 0 ? 0 : await manager.countBy(problemSchema, { importId: row.id, run: row.run });
      for (const [item, problem] of problems.slice(0, Math.max(0, maxProblems - kept)))
        await manager.query(
          `INSERT INTO import_problems (import_id, item, problem, run, created_at) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT (import_id, item, problem) DO UPDATE SET run = excluded.run`,
          [row.id, item, problem, row.run, now],
        );
      const { affected } = await manager.update(
        importSchema,
        { id: row.id, state: Not('ended') },
        {
          phase,
          progress: JSON.stringify(this.progress),
          lockedUntil: now + leaseMs,
          waitsUntil: null,
          failures: 0,
          lastError: null,
          requests: row.requests + requests,
          updatedAt: now,
        },
      );
      if (affected === 0) throw new RunOver();
      row.phase = phase;
      row.requests += requests;
    });
    row.failures = 0;
  }
}
