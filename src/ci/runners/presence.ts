import type { Clock } from '../../kernel/index.ts';
import type { Database } from '../../db/index.ts';
import { runnerSchema } from '../schema/runner-schema.ts';
import type { RunnerRow } from '../schema/runner-schema.ts';

interface Contact {
  seenAt: number;
  activeAt: number | null;
  written: boolean;
}

/**
 * When runners were last heard of. Kept in memory, because fifty polling runners
 * would otherwise be twenty writes a second; `write` brings it to the database now
 * and then, and pages take whatever is newer.
 */
export class Presence {
  readonly #clock: Clock;
  readonly #heard = new Map<number, Contact>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param isActive whether the call was about a task */
  record(runnerId: number, isActive: boolean): void {
    const now = this.#clock.now();
    const before = this.#heard.get(runnerId);
    this.#heard.set(runnerId, { seenAt: now, activeAt: isActive ? now : (before?.activeAt ?? null), written: false });
  }

  /** The newer of what the row says and what was heard since. */
  of(runner: Pick<RunnerRow, 'id' | 'lastSeenAt' | 'lastActiveAt'>): {
    lastSeenAt: number | null;
    lastActiveAt: number | null;
  } {
    const heard = this.#heard.get(runner.id);
    return {
      lastSeenAt: latest(heard?.seenAt ?? null, runner.lastSeenAt),
      lastActiveAt: latest(heard?.activeAt ?? null, runner.lastActiveAt),
    };
  }

  /** Writes what is new, all in one write. */
  async write(db: Database): Promise<void> {
    const news = [...this.#heard].filter(([, heard]) => !heard.written);
    if (news.length === 0) return;
    await db.write(async ({ manager }) => {
      for (const [id, { seenAt, activeAt }] of news) {
        await manager.update(
          runnerSchema,
          { id },
          { lastSeenAt: seenAt, ...(activeAt === null ? {} : { lastActiveAt: activeAt }) },
        );
      }
    });
    for (const [, heard] of news) heard.written = true;
  }
}

function latest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}
