/**
 * What the server and its spawner say to each other, over Node's own channel between a
 * parent and its child. A handle travels with a message: `input` carries what becomes the
 * child's standard input, `start` what becomes its standard output.
 */
export type SpawnOrder =
  | { id: number; kind: 'input' }
  | {
      id: number;
      kind: 'start';
      program: string;
      argv: readonly string[];
      environment: Readonly<Record<string, string>>;
      home: string;
      takesInput: boolean;
      /** A file that the output goes to, when no handle comes along. */
      file: string | null;
      yields: boolean;
    };

export type SpawnReport =
  | { kind: 'ready' }
  /** 0 when it could not be started; nothing follows then. */
  | { id: number; kind: 'started'; pid: number }
  /** With the processor time that it and its helpers have used, in milliseconds. */
  | { id: number; kind: 'exited'; usedMs: number | null }
  /** It and everything that held its error output are gone. */
  | { id: number; kind: 'closed'; code: number | null; complaint: string };
