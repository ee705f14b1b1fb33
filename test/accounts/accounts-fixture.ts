// openAccounts(t, settings?) → the modules owners and accounts on a migrated database, with cheap password hashes.
// openWithAlice(t, settings?) → the same with alice in it, and signIn(). refusalOf(work), reasonOf(work),
// outcomes(attempts) → what was refused, by reason.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { accountEntities, createAccounts } from '../../src/accounts/index.ts';
import type { AccountMail, AccountSettings } from '../../src/accounts/index.ts';
import { isDomainError, silentLogger, systemRandom } from '../../src/kernel/index.ts';
import type { DomainError } from '../../src/kernel/index.ts';
import { createOwners, handleSchema } from '../../src/owners/index.ts';
import { InstanceKey } from '../../src/sealing/index.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { expectSession } from '../fixtures/expect-session.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';

export const minuteMs = 60_000;
export const dayMs = 24 * 60 * minuteMs;
export const password = 'a long enough password';
export const origin = { address: '192.0.2.1', userAgent: 'Test Browser 1.0' };

/** A cheap cost for many hashes, still argon2id. */
export const cheapCost = { memoryKib: 8, passes: 1, parallelism: 1 };

export async function openAccounts(t: Owner, settings: Partial<AccountSettings> = {}, mail?: AccountMail) {
  const { db, folder, clock } = await openTestDatabase(t, { entities: [handleSchema, ...accountEntities] });
  const owners = createOwners({ db });
  const instanceKey = new InstanceKey(path.join(folder, 'instance.key'), systemRandom, 'accounts');
  const tools = { db, owners, clock, random: systemRandom, logger: silentLogger, instanceKey, ...(mail && { mail }) };
  const open = (changed: Partial<AccountSettings> = {}) =>
    createAccounts({ ...tools, settings: { passwordCost: cheapCost, ...settings, ...changed } });
  const accounts = open();
  t.teardown(() => accounts.stop());

  return {
    db,
    owners,
    accounts,
    clock,
    /** The same modules built again, as after a restart; the database stays. */
    reopen: open,
    /** All bytes of the database on disk, the write-ahead log included. */
    storedBytes: () => {
      const files = readdirSync(folder).filter((name) => name.startsWith('hearth.db'));
      return Buffer.concat(files.map((name) => readFileSync(path.join(folder, name))));
    },
  };
}

/** The same with one person in it, who signs in. */
export async function openWithAlice(t: Owner, settings: Partial<AccountSettings> = {}, mail?: AccountMail) {
  const modules = await openAccounts(t, settings, mail);
  const alice = await modules.accounts.addPerson({ username: 'Alice', password });
  const signIn = (
    given: Partial<{ username: string; password: string; address: string; previousSecret: string }> = {},
  ) => expectSession(modules.accounts.signIn({ username: 'alice', password, ...origin, ...given }));
  return { ...modules, alice, signIn };
}

/** A refusal, or `null` when there was none. Other errors are rethrown. */
export async function refusalOf(work: Promise<unknown> | (() => unknown)): Promise<DomainError | null> {
  try {
    await (typeof work === 'function' ? work() : work);
    return null;
  } catch (error) {
    if (isDomainError(error)) return error;
    throw error;
  }
}

/** The reason of a refusal, or `accepted`. */
export async function reasonOf(work: Promise<unknown> | (() => unknown)): Promise<string> {
  return (await refusalOf(work))?.reason ?? 'accepted';
}

/** The outcomes of concurrent attempts, counted. */
export async function outcomes(attempts: Promise<unknown>[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const outcome of await Promise.all(attempts.map((attempt) => reasonOf(attempt)))) {
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}
