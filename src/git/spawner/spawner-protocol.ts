/**
 * Messages between the server and its spawner, over Node's IPC channel. A handle is sent with a message: `input`
 * carries the child's stdin, `start` its stdout.
 */
export type SpawnRequest =
  | { id: number; kind: 'input' }
  | {
      id: number;
      kind: 'start';
      program: string;
      argv: readonly string[];
      environment: Readonly<Record<string, string>>;
      home: string;
      takesInput: boolean;
      /** The output file, if no handle is sent. */
      file: string | null;
      yields: boolean;
    };

export type SpawnEvent =
  | { kind: 'ready' }
  /** 0 if it could not be started; no message follows then. */
  | { id: number; kind: 'started'; pid: number }
  /** Includes the CPU time of the process and its descendants, in milliseconds. */
  | { id: number; kind: 'exited'; usedMs: number | null }
  /** It has exited and its stderr is closed. */
  | { id: number; kind: 'closed'; code: number | null; errorText: string };
