import { warning, problem } from '../check-result.ts';
import type { CheckResult } from '../check-result.ts';
import { counted, dayMs, hourMs, rowsOf } from '../deps.ts';
import type { CheckGroup, CheckContext } from '../deps.ts';

/** A query for queued work: the number of rows that have waited too long, and the consequence. */
interface Queue {
  check: string;
  sql: string;
  /** The limit, in milliseconds before now. */
  agoMs: number;
  words: (count: number, example: string) => string;
  remedy: string;
  level?: 'problem';
}

const queues: Queue[] = [
  {
    check: 'queues.unsettled_push',
    agoMs: hourMs,
    level: 'problem',
    sql: 'SELECT id AS example FROM pushes WHERE settled_at IS NULL AND created_at < ?',
    words: (count) => `${counted(count, 'push was', 'pushes were')} never completed.`,
    remedy: 'restart the server: it compares pushes with the refs',
  },
  {
    check: 'queues.unannounced_push',
    agoMs: hourMs,
    sql: 'SELECT id AS example FROM pushes WHERE settled_at IS NOT NULL AND announced_at IS NULL AND parked_at IS NULL AND created_at < ? AND NOT EXISTS (SELECT 1 FROM repositories r WHERE r.id = repository_id AND r.deleted_at IS NOT NULL)',
    words: (count) => `${counted(count, 'push is', 'pushes are')} waiting to be announced.`,
    remedy: 'see push.listener_failed in the server log',
  },
  {
    check: 'queues.parked_push',
    agoMs: 0,
    level: 'problem',
    sql: 'SELECT id AS example FROM pushes WHERE parked_at <= ? ORDER BY parked_at DESC',
    words: (count, id) =>
      `${counted(count, 'push was', 'pushes were')} not announced because a listener failed three times, for example push-${id}.`,
    remedy: 'hearth job list --state failed says why; hearth job retry ID tries again',
  },
  {
    check: 'queues.stuck_delivery',
    agoMs: hourMs,
    sql: "SELECT host AS example FROM federation_delivery WHERE state = 'PENDING' AND next_attempt_at < ?",
    words: (count, host) => `${counted(count, 'delivery is', 'deliveries are')} overdue, for example to ${host}.`,
    remedy: 'is the server running and federation enabled? hearth federation status',
  },
  {
    check: 'queues.unanswered_follow',
    agoMs: dayMs,
    sql: "SELECT handle AS example FROM remote_follows WHERE state = 'PENDING' AND created_at < ?",
    words: (count, handle) =>
      `${counted(count, 'follow request was', 'follow requests were')} never answered, for example ${handle}.`,
    remedy: 'has the other server allowed this one? hearth federation peer test HOST',
  },
  {
    check: 'queues.stuck_webhook',
    agoMs: hourMs,
    sql: "SELECT w.url AS example FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id WHERE d.state = 'PENDING' AND d.next_attempt_at < ?",
    words: (count) => `${counted(count, 'webhook message is', 'webhook messages are')} overdue.`,
    remedy: 'is the server running? hearth cron run webhooks.deliver',
  },
  {
    check: 'queues.stuck_message',
    agoMs: hourMs,
    sql: "SELECT kind AS example FROM outbox WHERE state = 'PENDING' AND kind <> 'webhook' AND next_at < ?",
    words: (count, kind) =>
      `${counted(count, 'outbox message is', 'outbox messages are')} overdue, for example of the kind ${kind}.`,
    remedy: 'is the server running? hearth job list --state failing',
  },
  {
    check: 'queues.failing_mirror',
    agoMs: 0,
    sql: 'SELECT url AS example FROM mirrors WHERE failures > 0 AND COALESCE(last_started_at, 0) < ?',
    words: (count, url) => `${counted(count, 'mirror fails', 'mirrors fail')}, for example ${url}.`,
    remedy: 'hearth repo mirror list says why; hearth repo mirror sync OWNER/NAME tries again',
  },
  {
    check: 'queues.overdue_old_tips',
    agoMs: 2 * dayMs,
    sql: 'SELECT ref AS example FROM push_updates WHERE kept_until < ?',
    words: (count) => `${counted(count, 'overwritten tip is', 'overwritten tips are')} past the retention time.`,
    remedy: 'hearth cron run pushes.let-go',
  },
  {
    check: 'queues.overdue_trash',
    agoMs: 0,
    sql: 'SELECT name AS example FROM repositories WHERE deleted_at IS NOT NULL AND deleted_at < ?',
    words: (count) =>
      `${counted(count, 'deleted repository', 'deleted repositories')} should have been removed permanently.`,
    remedy: 'hearth trash empty',
  },
  {
    check: 'queues.waiting_job',
    agoMs: 0,
    sql: "SELECT name AS example FROM ci_jobs WHERE status IN ('waiting', 'queued') AND created_at < ?",
    words: (count, name) =>
      `${counted(count, 'job has', 'jobs have')} been waiting longer than the settings allow, for example ${name}.`,
    remedy: 'the cleanup task is not running: restart the server',
  },
];

/** Work that has waited too long, and failed scheduled tasks. */
export const checkQueues: CheckGroup = async (deps) => {
  const findings: CheckResult[] = [];
  const allowances: Record<string, number> = {
    'queues.overdue_trash': deps.config.repositories.trashKeepMs + 2 * dayMs,
    'queues.waiting_job': deps.config.ci.maxWaitMs + dayMs,
  };
  for (const { check, sql, agoMs, words, remedy, level } of queues) {
    const rows = await rowsOf(deps, `${sql} LIMIT 1000`, [deps.now - (allowances[check] ?? agoMs)]);
    if (rows.length > 0)
      findings.push(
        (level === 'problem' ? problem : warning)(check, words(rows.length, String(rows[0]!['example'])), { remedy }),
      );
  }
  const failed = await rowsOf(
    deps,
    `SELECT host, last_error FROM federation_delivery
      WHERE state = 'FAILED' AND settled_at > ? AND cancelled_at IS NULL
        AND host NOT IN (SELECT host FROM federation_peers WHERE gone_at IS NOT NULL) LIMIT 1000`,
    [deps.now - dayMs],
  );
  for (const [host, rows] of Map.groupBy(failed, (row) => String(row['host']))) {
    findings.push(
      warning(
        'queues.failed_delivery',
        `${counted(rows.length, 'delivery', 'deliveries')} to ${host} failed since yesterday: ${String(rows[0]!['last_error'])}.`,
        {
          remedy: 'hearth delivery retry --state failed',
        },
      ),
    );
  }
  findings.push(...(await checkGonePeers(deps)), ...(await checkJobs(deps)));
  return { area: 'queues', findings, summary: 'nothing is stuck' };
};

/**
 * Time during which an administrator is reminded of a server to which deliveries have ended; it may be permanently
 * gone.
 */
const remindedMs = 30 * dayMs;

async function checkGonePeers(deps: CheckContext): Promise<CheckResult[]> {
  const rows = await rowsOf(
    deps,
    `SELECT p.host, p.silent_since, (SELECT count(*) FROM repository_followers f WHERE f.host = p.host) AS followers
       FROM federation_peers p WHERE p.gone_at > ? ORDER BY p.host LIMIT 1000`,
    [deps.now - remindedMs],
  );
  return rows.map(({ host, silent_since: since, followers }) =>
    warning(
      'queues.gone_peer',
      `${String(host)} has not responded since ${new Date(Number(since)).toISOString().slice(0, 10)} and is considered gone: nothing is queued for it. ${counted(Number(followers), 'follower there is', 'followers there are')} kept.`,
      { remedy: `hearth federation peer test ${String(host)} resumes it when it answers` },
    ),
  );
}

async function checkJobs(deps: CheckContext): Promise<CheckResult[]> {
  const rows = await rowsOf(deps, 'SELECT name, last_error FROM job_runs WHERE last_error IS NOT NULL');
  return rows.map(({ name, last_error: error }) =>
    warning('queues.failing_job', `The last run of the scheduled task ${String(name)} failed: ${String(error)}.`, {
      remedy: `hearth cron run ${String(name)}`,
    }),
  );
}
