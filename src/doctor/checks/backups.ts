import * as crypto from 'node:crypto';
import { problem, warning } from '../check-result.ts';
import type { CheckResult } from '../check-result.ts';
import { dayMs, rowsOf } from '../deps.ts';
import type { CheckGroup, RecoveryState } from '../deps.ts';

const restoreTestAgeMs = 2 * dayMs;

/** The nightly trial of a recovery from the store; nothing where no repository is there. */
function judgeRecovery(state: RecoveryState | null, isYoung: boolean, now: number): CheckResult[] {
  if (state === null) return [];
  const { newest, succeededAt } = state;
  const remedy = 'hearth recover --drill; what is damaged may be in a backup, or in the folder of another server';
  if (newest !== null && newest.faults.length > 0)
    return [problem('recovery.failed', `Recovery from the object store would fail: ${newest.faults[0]}.`, { remedy })];
  if (isYoung || (succeededAt !== null && now - succeededAt <= restoreTestAgeMs)) return [];
  return [
    warning('recovery.unproven', 'No recovery test from the object store has succeeded for two days.', {
      remedy: 'hearth recover --drill',
    }),
  ];
}

/** Checks that there are current backups with successful restore tests, and that the audit log is intact. */
export const checkBackups: CheckGroup = async (deps) => {
  const findings: CheckResult[] = [];
  const { newest, lastRestoreTest } = await deps.backupState();
  const [first] = await rowsOf(deps, 'SELECT min(created_at) AS at FROM users');
  const isYoung = first?.['at'] == null || deps.now - Number(first['at']) < restoreTestAgeMs;
  if (newest === null) {
    if (!isYoung) findings.push(warning('backup.none', 'No backup exists.', { remedy: 'hearth backup create' }));
  } else if (deps.now - newest.madeAt > restoreTestAgeMs) {
    findings.push(
      warning('backup.old', `The newest backup is from ${new Date(newest.madeAt).toISOString().slice(0, 10)}.`, {
        remedy: 'hearth backup create',
      }),
    );
  }
  if (newest?.proof != null && newest.proof.problems.length > 0) {
    findings.push(
      problem('backup.damaged', `The backup ${newest.name} failed its restore test: ${newest.proof.problems[0]}.`, {
        remedy: 'hearth backup create, then: hearth backup drill',
      }),
    );
  } else if (
    newest !== null &&
    !isYoung &&
    (lastRestoreTest === null || deps.now - Date.parse(lastRestoreTest.at) > restoreTestAgeMs)
  ) {
    findings.push(
      warning('backup.unproven', 'No restore test has succeeded for two days.', {
        remedy: 'hearth backup drill',
      }),
    );
  }
  findings.push(...judgeRecovery((await deps.recovery?.state()) ?? null, isYoung, deps.now));
  const broken = await deps.auditBreak();
  if (broken !== null)
    findings.push(
      problem('audit.broken', `Entry ${broken.id} of the audit log ${broken.why}.`, {
        remedy: 'the database was changed manually; a backup contains the original log',
      }),
    );
  if (!('argon2' in crypto))
    findings.push(
      problem('runtime.argon2', 'This Node version cannot hash passwords.', {
        remedy: 'use the Node version that ships with Hearth',
      }),
    );
  return {
    area: 'safety',
    findings,
    summary:
      lastRestoreTest === null
        ? 'no restore test yet'
        : `last successful restore test ${lastRestoreTest.at.slice(0, 16)}Z`,
  };
};
