/** What has happened since the program started, for whoever watches the instance; nothing is told of single servers. */
export interface FederationMetrics {
  /** How deliveries ended: `unreachable` when no answer came, `forbidden` when it was not to be sent any more. */
  attempts: Record<'delivered' | 'failed' | 'unreachable' | 'forbidden', number>;
  /** Time that attempts took, all together, in seconds. */
  attemptSeconds: number;
  attemptsInFlight: number;
  /** What became of activities that came in. */
  inbox: Record<'processed' | 'ignored' | 'repeated' | 'refused' | 'busy', number>;
  /** Documents with keys that were asked for; `busy` when the request for one was put off by our own limits. */
  keyFetches: Record<'ok' | 'failed' | 'busy', number>;
}

export const createFederationMetrics = (): FederationMetrics => ({
  attempts: { delivered: 0, failed: 0, unreachable: 0, forbidden: 0 },
  attemptSeconds: 0,
  attemptsInFlight: 0,
  inbox: { processed: 0, ignored: 0, repeated: 0, refused: 0, busy: 0 },
  keyFetches: { ok: 0, failed: 0, busy: 0 },
});
