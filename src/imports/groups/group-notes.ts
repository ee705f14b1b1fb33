import { In } from 'typeorm';
import { isRefusal } from '../../kernel/index.ts';
import type { ImportDeps } from '../deps.ts';
import { groupLineSchema, groupMarkSchema, groupOwnerSchema } from '../schema/group-schema.ts';
import type { GroupOwnerRow } from '../schema/group-schema.ts';

const mostLines = 500;
const atOnce = 500;
const cut = (item: string): string => item.slice(0, 900);

/** What is recorded of an owner while it is brought: lines of the report, and what was written once. */
export interface OwnerNotes {
  tell(problem: string): void;
  /** Does what was never done before; a refusal becomes a line of the report. */
  once(item: string, what: string, work: () => Promise<unknown>): Promise<void>;
  markOf(item: string): Promise<string | undefined>;
  mark(item: string, fingerprint: string): Promise<void>;
  /** Loads marks in one read, for many calls of `once`. */
  load(items: readonly string[]): Promise<void>;
  /** Replaces the lines of earlier rounds, and ends the round of this owner. */
  end(): Promise<void>;
}

export function openOwnerNotes({ db }: Pick<ImportDeps, 'db'>, { groupId, login }: GroupOwnerRow): OwnerNotes {
  const lines = new Set<string>();
  const known = new Map<string, string | undefined>();
  const tell = (problem: string): void => {
    if (lines.size < mostLines) lines.add(problem.slice(0, 500));
  };
  async function load(items: readonly string[]): Promise<void> {
    const missing = [...new Set(items.map(cut))].filter((item) => !known.has(item));
    for (const item of missing) known.set(item, undefined);
    for (let at = 0; at < missing.length; at += atOnce) {
      const item = In(missing.slice(at, at + atOnce));
      for (const row of await db.read.findBy(groupMarkSchema, { groupId, item })) known.set(row.item, row.fingerprint);
    }
  }
  async function markOf(item: string): Promise<string | undefined> {
    await load([item]);
    return known.get(cut(item));
  }
  async function mark(item: string, fingerprint: string): Promise<void> {
    const row = { groupId, item: cut(item), fingerprint };
    known.set(row.item, fingerprint);
    await db.write(({ manager }) => manager.upsert(groupMarkSchema, row, ['groupId', 'item']));
  }
  return {
    tell,
    load,
    markOf,
    mark,
    async once(item, what, work) {
      if ((await markOf(item)) !== undefined) return;
      try {
        await work();
      } catch (error) {
        if (!isRefusal(error) || error.code === 'unavailable') throw error;
        if (!error.reason.startsWith('already_')) return tell(`${what}: ${error.message}`);
      }
      await mark(item, '');
    },
    async end() {
      await db.write(async ({ manager }) => {
        await manager.delete(groupLineSchema, { groupId, login });
        for (const problem of lines) await manager.insert(groupLineSchema, { groupId, login, problem });
        await manager.update(groupOwnerSchema, { groupId, login }, { isBrought: true });
      });
    },
  };
}
