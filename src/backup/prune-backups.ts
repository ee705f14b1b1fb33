import { rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { listBackups } from './list-backups.ts';
import type { ListedBackup } from './list-backups.ts';

/** Numbers of days, weeks and months for which the newest backup is kept. */
export interface KeepRule {
  daily: number;
  weekly: number;
  monthly: number;
}

export const usualRule: KeepRule = { daily: 7, weekly: 4, monthly: 6 };

/**
 * The backups that a rule keeps: the newest of each of the last days, weeks (from Monday) and months with a backup, in
 * UTC. The newest backup, and the newest with a successful restore test, are always kept.
 */
export function retainedBackups<B extends Pick<ListedBackup, 'name' | 'madeAt' | 'proof'>>(
  backups: readonly B[],
  rule: KeepRule,
): Set<string> {
  const newestFirst = backups.toSorted((a, b) => b.madeAt - a.madeAt);
  const retained = new Set<string>(newestFirst.slice(0, 1).map(({ name }) => name));
  const tested = newestFirst.find(({ proof }) => proof !== null && proof.problems.length === 0);
  if (tested !== undefined) retained.add(tested.name);
  const periods: [count: number, of: (at: Date) => string][] = [
    [rule.daily, (at) => at.toISOString().slice(0, 10)],
    [rule.weekly, (at) => mondayOf(at)],
    [rule.monthly, (at) => at.toISOString().slice(0, 7)],
  ];
  for (const [count, periodOf] of periods) {
    const newest = new Map<string, string>();
    for (const { name, madeAt } of newestFirst) {
      const period = periodOf(new Date(madeAt));
      if (!newest.has(period)) newest.set(period, name);
    }
    for (const name of [...newest.values()].slice(0, count)) retained.add(name);
  }
  return retained;
}

function mondayOf(at: Date): string {
  const daysSinceMonday = (at.getUTCDay() + 6) % 7;
  return new Date(at.getTime() - daysSinceMonday * 86_400_000).toISOString().slice(0, 10);
}

/** Removes the backups that the rule does not keep. */
export async function pruneBackups(
  folder: string,
  rule: KeepRule,
  { dryRun = false }: { dryRun?: boolean } = {},
): Promise<{ removed: ListedBackup[]; kept: ListedBackup[] }> {
  const all = await listBackups(folder);
  const keep = retainedBackups(all, rule);
  const removed = all.filter(({ name }) => !keep.has(name));
  if (!dryRun) {
    for (const backup of removed) {
      // Renamed first, so that a partial backup is never listed.
      const doomed = path.join(folder, `.unfinished-${backup.name}`);
      await rename(backup.folder, doomed);
      await rm(doomed, { recursive: true, force: true });
    }
  }
  return { removed, kept: all.filter(({ name }) => keep.has(name)) };
}
