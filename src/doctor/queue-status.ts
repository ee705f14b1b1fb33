import type { Database } from '../db/index.ts';

export type QueueState = 'running' | 'waiting' | 'failing' | 'failed';

/** A queued or failed item of any queue. */
export interface QueuedItem {
  /** The queue and the row: `delivery-17`, `webhook-4`, `message-5`, `mirror-3f2c81aa…`, `ci-9`, `push-…`. */
  id: string;
  kind: 'delivery' | 'webhook' | 'message' | 'mirror' | 'ci' | 'push';
  /** The receiver, or the subject. */
  about: string;
  state: QueueState;
  tries: number;
  /** Epoch milliseconds; null if there is no further attempt, or if it does not wait for a time. */
  nextAt: number | null;
  error: string | null;
}

const repository = `(SELECT coalesce(u.username, o.name) || '/' || r.name FROM repositories r
  LEFT JOIN users u ON u.id = r.owner_user_id LEFT JOIN organisations o ON o.id = r.owner_org_id WHERE r.id =`;

/** The query of each queue; newest first. */
const queues = [
  `SELECT 'delivery-' || id AS id, 'delivery' AS kind, target_inbox AS about, attempts AS tries, last_error AS error,
     CASE WHEN state = 'PENDING' THEN next_attempt_at END AS "nextAt",
     CASE WHEN state = 'FAILED' THEN 'failed' WHEN locked_until > :now THEN 'running' WHEN attempts > 0 THEN 'failing' ELSE 'waiting' END AS state, created_at AS at
   FROM federation_delivery WHERE state IN ('PENDING', 'FAILED') AND cancelled_at IS NULL`,
  `SELECT 'webhook-' || d.id, 'webhook', w.url, d.attempts, coalesce(d.error, CASE WHEN d.status >= 300 THEN 'status ' || d.status END),
     CASE WHEN d.state = 'PENDING' THEN d.next_attempt_at END,
     CASE WHEN d.state = 'FAILED' THEN 'failed' WHEN d.locked_until > :now THEN 'running' WHEN d.attempts > 0 THEN 'failing' ELSE 'waiting' END, d.created_at
   FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id WHERE d.state IN ('PENDING', 'FAILED')`,
  `SELECT 'message-' || id, 'message', kind || ' ' || key, attempts, last_error, CASE WHEN state = 'PENDING' THEN next_at END,
     CASE WHEN state = 'FAILED' THEN 'failed' WHEN lease_until > :now THEN 'running' WHEN attempts > 0 THEN 'failing' ELSE 'waiting' END, created_at
   FROM outbox WHERE state IN ('PENDING', 'FAILED') AND kind <> 'webhook'`,
  `SELECT 'mirror-' || repository_id, 'mirror', ${repository} m.repository_id), failures, last_error, CASE WHEN is_paused = 1 THEN NULL ELSE next_at END,
     CASE WHEN locked_until > :now THEN 'running' WHEN failures > 0 AND is_paused = 1 THEN 'failed' WHEN failures > 0 THEN 'failing' ELSE 'waiting' END, created_at
   FROM mirrors m WHERE locked_until > :now OR failures > 0 OR (next_at <= :now AND NOT is_paused)`,
  `SELECT 'ci-' || j.id, 'ci', ${repository} j.repository_id) || ' ' || n.number || ': ' || j.name, j.losses, j.reason, NULL, j.status, j.created_at
   FROM ci_jobs j JOIN ci_runs n ON n.id = j.run_id WHERE j.status IN ('waiting', 'running')`,
  `SELECT 'push-' || id, 'push', ${repository} p.repository_id), attempts, last_error, NULL,
     CASE WHEN settled_at IS NULL THEN 'running' WHEN parked_at IS NOT NULL THEN 'failed' WHEN last_error IS NOT NULL THEN 'failing' ELSE 'waiting' END, created_at
   FROM pushes p WHERE announced_at IS NULL`,
];

/** The newest items of all queues, at most `limit`; with a state, only those. */
export function listQueuedItems(
  db: Database,
  now: number,
  { state, limit }: { state?: QueueState | undefined; limit: number },
): Promise<QueuedItem[]> {
  const columns = 'id, kind, about, state, tries, "nextAt", error';
  return db.read.query(
    `WITH work (id, kind, about, tries, error, "nextAt", state, at) AS (${queues.join(' UNION ALL ').replaceAll(':now', '?1')})
     SELECT ${columns} FROM work WHERE ?2 IS NULL OR state = ?2 ORDER BY at DESC, id LIMIT ?3`,
    [now, state ?? null, limit],
  ) as Promise<QueuedItem[]>;
}
