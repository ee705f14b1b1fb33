import { createHash } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { attachmentKey, attachmentPrefix, compareIssueCounts, recountIssues } from '../../issues/index.ts';
import { incomingFolder } from '../../objects/index.ts';
import { problem, warning } from '../check-result.ts';
import type { CheckResult } from '../check-result.ts';
import { counted, dayMs, hourMs, rowsOf } from '../deps.ts';
import type { CheckContext, CheckGroup } from '../deps.ts';

/** Counts and numbers of issues, entries that were not announced, and attachments with their files. */
export const checkIssues: CheckGroup = async (deps) => {
  const { findings, files } = await checkAttachments(deps);
  return {
    area: 'issues',
    findings: [
      ...(await checkCounts(deps)),
      ...(await checkEntries(deps)),
      ...findings,
      ...(await checkIncoming(deps)),
    ],
    summary: `${counted(files, 'attachment', 'attachments')} checked`,
  };
};

async function checkCounts(deps: CheckContext): Promise<CheckResult[]> {
  const ids = (await rowsOf(deps, compareIssueCounts)).map(({ id }) => String(id));
  if (ids.length === 0) return [];
  return [
    warning('issues.counts', `The issue counts of ${counted(ids.length, 'repository', 'repositories')} are wrong.`, {
      remedy: 'hearth doctor --fix counts anew',
      fix: async () => {
        for (const id of ids) await deps.db.write((tx) => recountIssues(tx, id));
        return `recalculated the issue counts of ${counted(ids.length, 'repository', 'repositories')}`;
      },
    }),
  ];
}

async function checkEntries(deps: CheckContext): Promise<CheckResult[]> {
  const findings: CheckResult[] = [];
  const [waiting] = await rowsOf(
    deps,
    `SELECT count(*) AS n FROM issue_entries
      WHERE announced_at IS NULL AND parked_at IS NULL AND held_at IS NULL AND created_at < ?`,
    [deps.now - hourMs],
  );
  const waits = Number(waiting?.['n'] ?? 0);
  if (waits > 0)
    findings.push(
      warning(
        'issues.unannounced',
        `${counted(waits, 'issue event is', 'issue events are')} waiting to be announced.`,
        {
          remedy: 'see issue.listener_failed in the server log, then: hearth cron run issues.announce',
        },
      ),
    );
  const parked = await rowsOf(
    deps,
    'SELECT issue_id, position, last_error FROM issue_entries WHERE announced_at IS NULL AND parked_at IS NOT NULL LIMIT 1000',
  );
  if (parked.length > 0)
    findings.push(
      problem(
        'issues.parked',
        `${counted(parked.length, 'issue event was', 'issue events were')} not announced because a listener failed three times: ${String(parked[0]!['last_error'])}.`,
        {
          remedy: 'fix the cause, then run hearth doctor --fix so that the server tries again',
          fix: async () => {
            for (const { issue_id: issueId, position } of parked) await unpark(deps, String(issueId), Number(position));
            return `the server will announce ${counted(parked.length, 'event', 'events')} within a minute`;
          },
        },
      ),
    );
  return findings;
}

/** The server's next scheduled run announces it: each listener that failed is called once more. */
async function unpark({ db }: CheckContext, issueId: string, position: number): Promise<void> {
  await db.write(async ({ manager }) => {
    await manager.query(
      'UPDATE entry_listener_attempts SET attempts = attempts - 1 WHERE issue_id = ? AND position = ? AND attempts > 2',
      [issueId, position],
    );
    await manager.query('UPDATE issue_entries SET parked_at = NULL WHERE issue_id = ? AND position = ?', [
      issueId,
      position,
    ]);
  });
}

interface Row {
  bytes: number;
  sha256: string;
  name: string;
}

async function checkAttachments(deps: CheckContext): Promise<{ findings: CheckResult[]; files: number }> {
  // The group `objects` checks buckets, without reading all of their content.
  if (deps.objects.place === 's3') return { findings: [], files: 0 };
  const rows = new Map<string, Row>(
    (await rowsOf(deps, 'SELECT id, name, bytes, sha256 FROM attachments')).map(({ id, name, bytes, sha256 }) => [
      attachmentKey(String(id)),
      { name: String(name), bytes: Number(bytes), sha256: String(sha256) },
    ]),
  );
  const findings: CheckResult[] = [];
  const found = new Set<string>();
  const orphans: string[] = [];
  for await (const { key, storedAt } of deps.objects.list(attachmentPrefix)) {
    found.add(key);
    // The nightly job removes files after a day; one that is two days old was left behind.
    if (!rows.has(key) && deps.now - storedAt > 2 * dayMs) orphans.push(key);
  }
  if (orphans.length > 0)
    findings.push(
      warning(
        'issues.file_orphan',
        `${counted(orphans.length, 'file does', 'files do')} not belong to any attachment.`,
        {
          remedy: 'hearth cron run issues.remove-files',
          fix: async () => {
            for (const key of orphans) await deps.objects.remove(key);
            return `removed ${counted(orphans.length, 'file', 'files')}`;
          },
        },
      ),
    );
  for (const [key, row] of rows) {
    const fault = found.has(key) ? await damageOf(deps, key, row) : 'is gone';
    if (fault !== null)
      findings.push(
        problem(
          fault === 'is gone' ? 'issues.file_missing' : 'issues.file_damaged',
          `The attachment ${row.name} ${fault}.`,
          {
            remedy: `restore objects/${key} from a backup`,
          },
        ),
      );
  }
  return { findings, files: rows.size };
}

async function damageOf({ objects }: CheckContext, key: string, { bytes, sha256 }: Row): Promise<string | null> {
  const opened = await objects.get(key);
  if (opened === null) return 'is gone';
  const hash = createHash('sha256');
  for await (const chunk of opened.stream) hash.update(chunk as Buffer);
  if (opened.bytes !== bytes) return `has ${opened.bytes} bytes instead of ${bytes}`;
  return hash.digest('hex') === sha256 ? null : 'differs from the uploaded file';
}

/** A start removes the files of a killed server; files older than an hour belong to no running one. */
async function checkIncoming({ config, now }: CheckContext): Promise<CheckResult[]> {
  const folder = path.join(config.dataDir, 'objects', incomingFolder);
  const findings: CheckResult[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    const at = path.join(folder, name);
    const found = await stat(at).catch(() => null);
    if (found === null || now - found.mtimeMs < hourMs) continue;
    findings.push(
      warning('issues.file_half_written', `${at} was never completed.`, {
        remedy: `rm ${at}`,
        fix: async () => rm(at, { force: true }).then(() => `removed ${at}`),
      }),
    );
  }
  return findings;
}
