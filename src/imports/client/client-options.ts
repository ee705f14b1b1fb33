import type { ImportDeps } from '../deps.ts';

/** Dependencies of the client. */
export type ClientDeps = Pick<ImportDeps, 'outbound' | 'clock' | 'logger' | 'requests' | 'settings'>;

export interface ClientOptions {
  /** Root of the API, without a trailing slash; only its origin gets the credentials. */
  api: string;
  /** `Authorization` and other request headers. */
  headers: Readonly<Record<string, string>>;
  signal: AbortSignal;
  /** Time until which the host must not be contacted, known from other clients. */
  blockedUntil(): Promise<number>;
  /** Called for each request that is sent. */
  count(): void;
  /** Whether the same requests have failed for minutes: what can be left out is left out, with a line in the report. */
  hasWaited?(): boolean;
}
