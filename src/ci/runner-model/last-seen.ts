import type { Clock } from '../../kernel/index.ts';
import type { Database } from '../../db/index.ts';
import { runnerSchema } from '../schema/runner-schema.ts';
import type { RunnerRow } from '../schema/runner-schema.ts';

interface LastSeen {
  seenAt: number;
  activeAt: number | null;
  written: boolean;
}

/**
 * Times at which runners were last seen. Kept in memory, because fifty polling runners would otherwise cause twenty
 * writes a second; `write` flushes them to the database occasionally, and pages show the newer value.
 */
export class Presence {
  readonly #clock: Clock;
  readonly #lastSeen = new Map<number, LastSeen>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * @param isActive whether the call concerned a task
   */
  record(runnerId: number, isActive: boolean): void {
    const now = this.#clock.now();
    const before = this.#lastSeen.get(runnerId);
    this.#lastSeen.set(runnerId, {
      seenAt: now,
      activeAt: isActive ? now : (before?.activeAt ?? null),
      written: false,
    });
  }

  /** The newer of the times in the row and in memory. */
  of(runner: Pick<RunnerRow, 'id' | 'lastSeenAt' | 'lastActiveAt'>): {
    lastSeenAt: number | null;
    lastActiveAt: number | null;
  } {
    const lastSeen = this.#lastSeen.get(runner.id);
    return {
      lastSeenAt: latest(lastSeen?.seenAt ?? null, runner.lastSeenAt),
      lastActiveAt: latest(lastSeen?.activeAt ?? null, runner.lastActiveAt),
    };
  }

  /** Flushes all new times in one write. */
  async write(db: Database): Promise<void> {
    const unwritten = [...this.#lastSeen].filter(([, lastSeen]) => !lastSeen.written);
    if (unwritten.length === 0) return;
    await db.write(async ({ manager }) => {
      for (const [id, { seenAt, activeAt }] of unwritten) {
        await manager.update(
          runnerSchema,
          { id },
          { lastSeenAt: seenAt, ...(activeAt === null ? {} : { lastActiveAt: activeAt }) },
        );
      }
    });
    for (const [, lastSeen] of unwritten) lastSeen.written = true;
  }
}

function latest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}
