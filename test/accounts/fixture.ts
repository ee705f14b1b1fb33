import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { EntitySchema } from 'typeorm';
import { migrations } from '../../migrations/index.ts';
import { accountEntities, createAccounts } from '../../src/accounts/index.ts';
import type { AccountSettings } from '../../src/accounts/index.ts';
import { createDatabase } from '../../src/db/index.ts';
import { isDomainError, silentLogger, systemRandom } from '../../src/kernel/index.ts';
import { createOwners, handleSchema } from '../../src/owners/index.ts';

export const minuteMs = 60_000;
export const dayMs = 24 * 60 * minuteMs;
export const password = 'a long enough password';
export const origin = { address: '192.0.2.1', userAgent: 'Test Browser 1.0' };

/** Cheap enough to run by the hundred, and argon2id all the same. */
export const cheapCost = { memoryKib: 8, passes: 1, parallelism: 1 };

interface Test {
  teardown(done: () => unknown): void;
}

/** The rooms on a real, migrated SQLite file in a folder of its own, at a time that tests move. */
export async function openAccounts(t: Test, settings: Partial<AccountSettings> = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'hearth-accounts-'));
  const clock = { time: Date.UTC(2026, 10, 20), now: () => clock.time };
  const db = await createDatabase({
    file: path.join(folder, 'hearth.db'),
    entities: [handleSchema, ...accountEntities] as unknown as EntitySchema<never>[],
    migrations,
    clock,
    logger: silentLogger,
    snapshotDirectory: path.join(folder, 'snapshots'),
    migrate: 'always',
  });
  const owners = createOwners({ db });
  const tools = { db, owners, clock, random: systemRandom, logger: silentLogger };
  const open = (changed: Partial<AccountSettings> = {}) =>
    createAccounts({ ...tools, settings: { passwordCost: cheapCost, ...settings, ...changed } });
  const accounts = open();
  t.teardown(async () => {
    await accounts.stop();
    await db.close();
    rmSync(folder, { recursive: true, force: true });
  });

  return {
    db,
    owners,
    accounts,
    clock,
    /** The same rooms built again, as after a restart; the database stays. */
    reopen: open,
    /** Everything on disk, the write-ahead log included. */
    storedBytes: () => Buffer.concat(readdirSync(folder)
      .filter((name) => name.startsWith('hearth.db'))
      .map((name) => readFileSync(path.join(folder, name)))),
  };
}

/** The reason of a refusal, or what came instead of one. */
export async function reasonOf(work: Promise<unknown> | (() => unknown)): Promise<string> {
  try {
    await (typeof work === 'function' ? work() : work);
    return 'accepted';
  } catch (error) {
    if (isDomainError(error)) return error.reason;
    throw error;
  }
}

/** How often each outcome came out of several attempts at once. */
export async function outcomes(attempts: Promise<unknown>[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const outcome of await Promise.all(attempts.map((attempt) => reasonOf(attempt)))) {
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}
