/** Counters since the program started; without data of single servers. */
export interface FederationMetrics {
  /** Results of deliveries: `unreachable` without a response, `forbidden` when it was cancelled. */
  attempts: Record<'delivered' | 'failed' | 'unreachable' | 'forbidden', number>;
  /** Total time of attempts in seconds. */
  attemptSeconds: number;
  attemptsInFlight: number;
  /** Results of incoming activities; a `reply` to a note is kept out. */
  inbox: Record<'processed' | 'ignored' | 'reply' | 'repeated' | 'refused' | 'busy', number>;
  /** Fetches of key documents; `busy` when one was refused by this server's limits. */
  keyFetches: Record<'ok' | 'failed' | 'busy', number>;
}

export const createFederationMetrics = (): FederationMetrics => ({
  attempts: { delivered: 0, failed: 0, unreachable: 0, forbidden: 0 },
  attemptSeconds: 0,
  attemptsInFlight: 0,
  inbox: { processed: 0, ignored: 0, reply: 0, repeated: 0, refused: 0, busy: 0 },
  keyFetches: { ok: 0, failed: 0, busy: 0 },
});
