import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { askDatabaseFile, readUnfinishedUpgrade } from '../db/index.ts';

/** A copy of the database from before an upgrade. */
interface UpgradeCopy {
  /** Absolute path. */
  file: string;
  /** Creation time, epoch milliseconds. */
  at: number;
  /** Whether it was created during an interrupted upgrade: no program supports its schema. */
  isHalf: boolean;
}

interface CopyWithSteps extends UpgradeCopy {
  /** Target schema version of the upgrade, from its name. */
  to: number;
  /** The time of each applied step, by name; undefined in a schema without these times. */
  steps: Map<string, number | null | undefined>;
}

/** For programs without times of steps: a second copy within a day continues the upgrade of the first. */
const continuedWithinMs = 86_400_000;

/**
 * The copies from before upgrades: first the one that a rollback uses, then the newest first. An upgrade that was
 * interrupted and continued by an older program left a second copy, of the half-migrated database.
 * @param folder of the copies
 */
export async function listUpgradeCopies(folder: string): Promise<UpgradeCopy[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => /^V\d+-before-V\d+\.db$/.test(name));
  const copies = await Promise.all(names.map((name) => readCopy(path.join(folder, name))));
  copies.sort((a, b) => b.at - a.at);
  for (const [index, copy] of copies.entries())
    copy.isHalf = copies.slice(index + 1).some((older) => continues(copy, older));
  const unfinished = readUnfinishedUpgrade(folder);
  const wanted =
    copies.find(({ file }) => path.basename(file) === unfinished?.copy) ?? copies.find(({ isHalf }) => !isHalf);
  const sorted = wanted === undefined ? copies : [wanted, ...copies.filter((copy) => copy !== wanted)];
  return sorted.map(({ file, at, isHalf }) => ({ file, at, isHalf }));
}

async function readCopy(file: string): Promise<CopyWithSteps> {
  const [rows = []] = await askDatabaseFile(file, [{ sql: 'SELECT * FROM migrations', parameters: [] }]).catch(
    () => [],
  );
  return {
    file,
    at: (await stat(file)).mtimeMs,
    isHalf: false,
    to: Number(/-before-V(\d+)\.db$/.exec(file)![1]),
    steps: new Map(rows.map((row) => [String(row['name']), row['applied_at'] as number | null | undefined])),
  };
}

/** Whether `copy` was created during an upgrade that began with `older`: its further steps were never completed. */
function continues(copy: CopyWithSteps, older: CopyWithSteps): boolean {
  if (copy.to !== older.to || ![...older.steps.keys()].every((name) => copy.steps.has(name))) return false;
  const further = [...copy.steps].filter(([name]) => !older.steps.has(name));
  if (further.length === 0) return false;
  if (further.some(([, at]) => at === undefined)) return copy.at - older.at < continuedWithinMs;
  return further.every(([, at]) => at === null);
}
