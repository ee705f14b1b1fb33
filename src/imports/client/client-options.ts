import type { ImportDeps } from '../deps.ts';

/** What the client needs of the module. */
export type ClientDeps = Pick<ImportDeps, 'outbound' | 'clock' | 'logger' | 'requests' | 'settings'>;

export interface ClientOptions {
  /** Root of the API, without a slash at the end; its origin alone gets the credentials. */
  api: string;
  /** `Authorization` and what else goes along. */
  headers: Readonly<Record<string, string>>;
  signal: AbortSignal;
  /** Until when the host wants to be left alone, known from others. */
  blockedUntil(): Promise<number>;
  /** Called for each request that is sent. */
  count(): void;
}
