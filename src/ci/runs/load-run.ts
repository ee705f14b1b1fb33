import type { Accounts } from '../../accounts/index.ts';
import type { Database } from '../../db/index.ts';
import { notFound } from '../../kernel/index.ts';
import type { Owner } from '../../owners/index.ts';
import type { Repositories, Repository } from '../../repositories/index.ts';
import { parseWorkflow } from '../workflows/parse-workflow.ts';
import type { ParsedWorkflow } from '../workflows/parse-workflow.ts';
import { runSchema, workflowFileSchema } from './run-schema.ts';
import type { RunRow } from './run-schema.ts';

/** A run with everything around it that its jobs and its pages need. */
export interface LoadedRun {
  run: RunRow;
  repository: Repository;
  owner: Owner;
  /** Handle of who started the run, and of who started this attempt; `ghost` when they are gone. */
  actor: string;
  attemptActor: string;
  parsed: ParsedWorkflow;
}

/** The name for people who are gone, and for nobody. */
export const nobody = 'ghost';

const keptFiles = 200;

interface Sources {
  db: Database;
  repositories: Pick<Repositories, 'locate'>;
  accounts: Pick<Accounts, 'peopleById'>;
}

/**
 * Loads runs, before the write that changes them: parsing a file and looking for
 * people have no place inside one. Parsed files are kept by their content, so the
 * copy can never be out of date.
 */
export class RunLoader {
  readonly #room: Sources;
  readonly #parsed = new Map<string, ParsedWorkflow>();

  constructor(room: Sources) {
    this.#room = room;
  }

  /** Refuses `run_not_found`, also when its repository is in the trash. */
  async load(runId: number): Promise<LoadedRun> {
    const { db, repositories, accounts } = this.#room;
    const run = await db.read.findOneBy(runSchema, { id: runId });
    if (run === null) throw runNotFound();
    const located = (await repositories.locate([run.repositoryId])).get(run.repositoryId);
    if (located === undefined) throw runNotFound();
    const ids = [run.actorId, run.attemptActorId].filter((id) => id !== null);
    const people = await accounts.peopleById(ids);
    const nameOf = (id: string | null): string => (id === null ? null : people.get(id)?.username) ?? nobody;
    return {
      run,
      repository: located.repository,
      owner: located.owner,
      actor: nameOf(run.actorId),
      attemptActor: nameOf(run.attemptActorId),
      parsed: await this.#parse(run),
    };
  }

  async #parse({ workflowPath, fileHash }: RunRow): Promise<ParsedWorkflow> {
    const key = `${fileHash} ${workflowPath}`;
    const kept = this.#parsed.get(key);
    if (kept !== undefined) {
      this.#parsed.delete(key);
      this.#parsed.set(key, kept);
      return kept;
    }
    const file = await this.#room.db.read.findOneByOrFail(workflowFileSchema, { hash: fileHash });
    const parsed = parseWorkflow(workflowPath, file.content);
    this.#parsed.set(key, parsed);
    if (this.#parsed.size > keptFiles) this.#parsed.delete(this.#parsed.keys().next().value!);
    return parsed;
  }
}

export const runNotFound = () => notFound('run_not_found', 'There is no such run.');
