import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Recorded beside the copy from before an upgrade until its last step is applied: a start that continues the upgrade
 * must not take a copy of the half-migrated database, which no program could open.
 */
export interface UnfinishedUpgrade {
  /** The previous versions of the database, which the copy has. */
  from: number[];
  /** The file name of the copy. */
  copy: string;
}

const fileIn = (folder: string): string => path.join(folder, 'upgrade.json');

/** Null if no upgrade was interrupted, or if the file is unreadable. */
export function readUnfinishedUpgrade(folder: string): UnfinishedUpgrade | null {
  try {
    const { from, copy } = JSON.parse(readFileSync(fileIn(folder), 'utf8')) as Partial<UnfinishedUpgrade>;
    return Array.isArray(from) && typeof copy === 'string' && path.basename(copy) === copy ? { from, copy } : null;
  } catch {
    return null;
  }
}

export function writeUnfinishedUpgrade(folder: string, upgrade: UnfinishedUpgrade): void {
  writeFileSync(fileIn(folder), `${JSON.stringify(upgrade)}\n`, { mode: 0o600, flush: true });
}

export function removeUnfinishedUpgrade(folder: string): void {
  rmSync(fileIn(folder), { force: true });
}
