/** A request to the running server. */
export interface ControlRequest {
  /** A control command of the server: `ssh.shell`, `cron.run`. */
  command: string;
  parameters?: ControlParameters;
}

/** What a control command takes; every value is JSON. */
export type ControlParameters = Readonly<Record<string, unknown>>;

/** The JSON of a request frame. Its field `program` names the command, as in every version so far. */
export const encodeRequest = ({ command, parameters }: ControlRequest): string =>
  JSON.stringify({ ...parameters, program: command });

/** Reads what `encodeRequest` made, in this version or an older one. */
export function decodeRequest(json: string): Required<ControlRequest> {
  const { program, ...parameters } = JSON.parse(json) as { program: string };
  return { command: program, parameters };
}
