import type { Ci, FinalStatus, RowBuffer, Runner, RunnerRow, TaskContent } from '../ci/index.ts';
import { Result, RunnerStatus } from './messages/runner-messages.ts';
import type * as messages from './messages/runner-messages.ts';
import type { ProcedureName } from './messages/message-types.ts';
import { readReport } from './read-report.ts';
import { toNumber } from './to-number.ts';

/** Data of a call in addition to its message. */
export interface Call {
  uuid: string;
  token: string;
  /** `x-runner-request-key`. */
  requestKey: string | null;
  /** Time that the client waits, in milliseconds; null if it does not specify one. */
  deadlineMs: number | null;
  /** Origin at which the client reaches this server; null if the protocol does not transmit it. */
  origin: string | null;
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
}

/** An UpdateLog whose rows are read one by one. */
interface LogMessage {
  taskId: bigint;
  index: bigint;
  rows: RowBuffer;
  noMore: boolean;
}

/** Increases with every response of FetchTask that contains a task; never 0, which means "old server". */
type TasksVersion = { value: bigint };

/** The parts of the ci module that runners use. */
export type RunnerCi = Pick<Ci, 'runners' | 'tasks' | 'logs'>;

/**
 * The operations of the runner protocol (SPEC §4.1), independent of the two framings that call it, gRPC and Connect.
 */
export class RunnerService {
  readonly #ci: RunnerCi;
  readonly #version: TasksVersion;

  /**
   * @param startedAt milliseconds since the epoch, so that versions also increase across restarts
   */
  constructor(ci: RunnerCi, startedAt: number) {
    this.#ci = ci;
    this.#version = { value: BigInt(Math.max(1, startedAt)) };
  }

  /**
   * Identifies the runner before the message is read. Null for the two procedures that need no runner. Throws
   * `unregistered_runner`, `runner_check_failed`.
   */
  async authenticate(
    procedure: ProcedureName,
    { uuid, token }: Pick<Call, 'uuid' | 'token'>,
  ): Promise<RunnerRow | null> {
    if (procedure === 'Ping' || procedure === 'Register') return null;
    const isActive = procedure === 'UpdateTask' || procedure === 'UpdateLog';
    return this.#ci.runners.authenticate({ uuid, token }, { isActive });
  }

  newLogRows(): RowBuffer {
    return this.#ci.logs.newRows();
  }

  /** Handles every procedure except UpdateLog, whose rows are read separately. */
  respond(
    procedure: Exclude<ProcedureName, 'UpdateLog'>,
    runner: RunnerRow | null,
    call: Call,
    request: object,
  ): Promise<object> {
    switch (procedure) {
      case 'Ping':
        return Promise.resolve<messages.PingResponse>({ data: `Hello, ${(request as messages.PingRequest).data}!` });
      case 'Register':
        return this.#register(request as messages.RegisterRequest);
      case 'Declare':
        return this.#declare(runner!, request as messages.DeclareRequest);
      case 'FetchTask':
        return this.#fetchTask(runner!, call, null);
      case 'FetchSingleTask':
        return this.#fetchTask(runner!, call, jobOf((request as messages.FetchSingleTaskRequest).handle));
      case 'UpdateTask':
        return this.#updateTask(runner!, request as messages.UpdateTaskRequest);
    }
  }

  async updateLog(runner: RunnerRow, { taskId, index, rows, noMore }: LogMessage): Promise<messages.UpdateLogResponse> {
    const ack = await this.#ci.logs.receive(runner, { taskId: toNumber(taskId), index: toNumber(index), rows, noMore });
    return { ackIndex: BigInt(ack) };
  }

  /** Must be called if a response could not be sent: then no runner has the task. */
  async undelivered(procedure: ProcedureName, response: object): Promise<void> {
    if (procedure !== 'FetchTask' && procedure !== 'FetchSingleTask') return;
    const { task } = response as messages.FetchTaskResponse;
    if (task !== null) await this.#ci.tasks.return(Number(task.id));
  }

  async #register(request: messages.RegisterRequest): Promise<messages.RunnerResponse> {
    const { name, token, version, ephemeral, capabilities } = request;
    const labels = request.labels.length > 0 ? request.labels : request.agentLabels;
    const registered = await this.#ci.runners.register(token, { name, version, labels, ephemeral, capabilities });
    return { runner: runnerMessage(registered.runner, registered.token) };
  }

  async #declare(runner: RunnerRow, request: messages.DeclareRequest): Promise<messages.RunnerResponse> {
    return { runner: runnerMessage(await this.#ci.runners.declare(runner, request), '') };
  }

  async #fetchTask(
    runner: RunnerRow,
    { requestKey, deadlineMs, origin, signal }: Call,
    jobId: number | null,
  ): Promise<messages.FetchTaskResponse> {
    const content = await this.#ci.tasks.fetch(runner, { requestKey, deadlineMs, origin, signal, jobId });
    if (content !== null) this.#version.value += 1n;
    return { task: content === null ? null : taskMessage(content), tasksVersion: this.#version.value };
  }

  async #updateTask(
    runner: RunnerRow,
    { state, outputs }: messages.UpdateTaskRequest,
  ): Promise<messages.UpdateTaskResponse> {
    const { result, sentOutputs } = await this.#ci.tasks.report(
      runner,
      state === null ? null : readReport(state, outputs),
    );
    return {
      state: { id: state!.id, result: resultNumber(result), startedAt: null, stoppedAt: null, steps: [] },
      sentOutputs,
    };
  }
}

/** The job of a handle, which is its id in the API: null for any, 0 for none. */
const jobOf = (handle: string): number | null =>
  handle === '' ? null : /^[1-9]\d{0,14}$/.test(handle) ? Number(handle) : 0;

function resultNumber(status: FinalStatus | null): number {
  return status === null ? Result.unspecified : Result[status];
}

function runnerMessage(runner: Runner, token: string): messages.Runner {
  return {
    id: BigInt(runner.id),
    uuid: runner.uuid,
    token,
    name: runner.name,
    status: RunnerStatus[runner.status],
    agentLabels: [],
    customLabels: [],
    version: runner.version,
    labels: [...runner.labels],
    ephemeral: runner.ephemeral,
  };
}

function taskMessage({ taskId, payload, context, secrets, needs, variables }: TaskContent): messages.Task {
  return {
    id: BigInt(taskId),
    workflowPayload: Buffer.from(payload),
    context: context as messages.Struct,
    secrets,
    machine: '',
    needs: new Map([...needs].map(([key, { outputs, result }]) => [key, { outputs, result: Result[result] }])),
    vars: variables,
  };
}
