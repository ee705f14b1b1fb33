/**
 * The decoded messages of `runner.v1` and `ping.v1`, the same for every framing: int64 is `bigint`, a map is
 * a `Map`, an absent message is `null`, other absent fields have their proto3 defaults. The meaning of each
 * field is in proto/.
 */

/** A protobuf timestamp; also holds times beyond the range of a `Date`. */
export interface Timestamp {
  seconds: bigint;
  nanos: number;
}

/** google.protobuf.Struct: any JSON object. */
export type Struct = { readonly [key: string]: JsonValue };
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | Struct;

export const RunnerStatus = { unspecified: 0, idle: 1, active: 2, offline: 3 } as const;
export const Result = { unspecified: 0, success: 1, failure: 2, cancelled: 3, skipped: 4 } as const;

export interface PingRequest {
  data: string;
}

export interface PingResponse {
  data: string;
}

export interface RegisterRequest {
  name: string;
  token: string;
  agentLabels: string[];
  customLabels: string[];
  version: string;
  labels: string[];
  ephemeral: boolean;
  capabilities: string[];
}

export interface DeclareRequest {
  version: string;
  labels: string[];
  capabilities: string[];
}

export interface Runner {
  id: bigint;
  uuid: string;
  token: string;
  name: string;
  status: number;
  agentLabels: string[];
  customLabels: string[];
  version: string;
  labels: string[];
  ephemeral: boolean;
}

/** The response of both `Register` and `Declare`. */
export interface RunnerResponse {
  runner: Runner | null;
}

export interface FetchTaskRequest {
  tasksVersion: bigint;
}

export interface FetchSingleTaskRequest {
  tasksVersion: bigint;
  /** Empty for any job. */
  handle: string;
}

export interface TaskNeed {
  outputs: Map<string, string>;
  result: number;
}

export interface Task {
  id: bigint;
  workflowPayload: Buffer | null;
  context: Struct | null;
  secrets: Map<string, string>;
  machine: string;
  needs: Map<string, TaskNeed>;
  vars: Map<string, string>;
}

export interface FetchTaskResponse {
  task: Task | null;
  tasksVersion: bigint;
}

export interface StepState {
  id: bigint;
  result: number;
  startedAt: Timestamp | null;
  stoppedAt: Timestamp | null;
  logIndex: bigint;
  logLength: bigint;
}

export interface TaskState {
  id: bigint;
  result: number;
  startedAt: Timestamp | null;
  stoppedAt: Timestamp | null;
  steps: StepState[];
}

export interface UpdateTaskRequest {
  state: TaskState | null;
  outputs: Map<string, string>;
}

export interface UpdateTaskResponse {
  state: TaskState | null;
  sentOutputs: string[];
}

export interface LogRow {
  time: Timestamp | null;
  content: string;
}

export interface UpdateLogRequest {
  taskId: bigint;
  index: bigint;
  rows: LogRow[];
  noMore: boolean;
}

export interface UpdateLogResponse {
  ackIndex: bigint;
}
