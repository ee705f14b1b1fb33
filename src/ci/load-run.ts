import type { Accounts } from '../accounts/index.ts';
import type { Database } from '../db/index.ts';
import type { Git } from '../git/index.ts';
import { notFound } from '../kernel/index.ts';
import type { Owner } from '../owners/index.ts';
import type { Repositories, Repository } from '../repositories/index.ts';
import { callMatricesOf } from './schema/call-matrix-schema.ts';
import { hasPendingCalls, withCallMatrices } from './workflows/expand-call.ts';
import type { ParsedWorkflow } from './workflows/parse-workflow.ts';
import { folderOfWorkflows } from './workflows/find-workflows.ts';
import type { WorkflowReader, WorkflowSource } from './workflows/workflow-reader.ts';
import { runSchema, workflowFileSchema } from './schema/run-schema.ts';
import type { RunRow } from './schema/run-schema.ts';

/** A run with the data that its jobs and pages need. */
export interface LoadedRun {
  run: RunRow;
  repository: Repository;
  owner: Owner;
  /** Usernames of the users who started the run and this attempt; `ghost` for deleted accounts. */
  actor: string;
  attemptActor: string;
  parsed: ParsedWorkflow;
  /** Whether a rule protects a ref of the repository. */
  isProtected(ref: string): boolean;
}

/** Username shown for deleted accounts. */
export const deletedUserName = 'ghost';

interface Sources {
  db: Database;
  repositories: Pick<Repositories, 'locate' | 'rules'>;
  accounts: Pick<Accounts, 'peopleById'>;
  workflows: WorkflowReader;
  git: Git;
}

/** Loads runs before the write that changes them: a write must not read files or look up users. */
export class RunLoader {
  readonly #deps: Sources;

  constructor(deps: Sources) {
    this.#deps = deps;
  }

  /**
   * Throws `run_not_found`, also if its repository is in the trash, and `busy` if no worker is available to parse its
   * file.
   */
  async load(runId: number): Promise<LoadedRun> {
    const { db, repositories, accounts, workflows, git } = this.#deps;
    const run = await db.read.findOneBy(runSchema, { id: runId });
    if (run === null) throw runNotFound();
    const located = (await repositories.locate([run.repositoryId])).get(run.repositoryId);
    if (located === undefined) throw runNotFound();
    // Rows of earlier versions lack the folder.
    if (run.workflowFolder === '') run.workflowFolder = await folderOfWorkflows(git, located.path, run.sha);
    const ids = [run.actorId, run.attemptActorId].filter((id) => id !== null);
    const people = await accounts.peopleById(ids);
    const nameOf = (id: string | null): string => (id === null ? null : people.get(id)?.username) ?? deletedUserName;
    return {
      run,
      repository: located.repository,
      owner: located.owner,
      actor: nameOf(run.actorId),
      attemptActor: nameOf(run.attemptActorId),
      isProtected: await repositories.rules.protectedRefs(located.repository),
      parsed: await this.#expanded(run.id, await workflows.read(this.sourceOf(run))),
    };
  }

  async #expanded(runId: number, parsed: ParsedWorkflow): Promise<ParsedWorkflow> {
    if (!parsed.ok || !hasPendingCalls(parsed.workflow)) return parsed;
    const matrices = await callMatricesOf(this.#deps.db.read, runId);
    return { ...parsed, workflow: withCallMatrices(parsed.workflow, matrices) };
  }

  /** The file of a run. */
  sourceOf({ workflowPath, fileHash, repositoryId, reason }: RunRow): WorkflowSource {
    return {
      path: workflowPath,
      hash: fileHash,
      content: async () => (await this.#deps.db.read.findOneByOrFail(workflowFileSchema, { hash: fileHash })).content,
      client: repositoryId,
      // A run with jobs had a valid file; any other failed with a reason.
      wasRead: reason === null,
    };
  }
}

export const runNotFound = () => notFound('run_not_found', 'There is no such run.');
