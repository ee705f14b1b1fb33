/** Counters since the program started, not broken down by server. */
export interface FederationMetrics {
  /** Results of deliveries: `unreachable` without a response, `forbidden` if cancelled. */
  attempts: Record<'delivered' | 'failed' | 'unreachable' | 'forbidden', number>;
  /** Total duration of attempts in seconds. */
  attemptSeconds: number;
  attemptsInFlight: number;
  /** Results of incoming activities; a `reply` to a note is discarded. */
  inbox: Record<'processed' | 'ignored' | 'reply' | 'repeated' | 'refused' | 'busy', number>;
  /** Fetches of key documents; `busy` if this server's limits refused one. */
  keyFetches: Record<'ok' | 'failed' | 'busy', number>;
}

export const createFederationMetrics = (): FederationMetrics => ({
  attempts: { delivered: 0, failed: 0, unreachable: 0, forbidden: 0 },
  attemptSeconds: 0,
  attemptsInFlight: 0,
  inbox: { processed: 0, ignored: 0, reply: 0, repeated: 0, refused: 0, busy: 0 },
  keyFetches: { ok: 0, failed: 0, busy: 0 },
});
