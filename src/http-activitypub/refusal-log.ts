import type { Clock, LogFields, Logger } from '../kernel/index.ts';

/**
 * Lines of one reason per minute that are written in full: enough to see who and what, and under a
 * flood of a thousand refusals a second the log stays readable and the disk free.
 */
const linesPerMinute = 20;
const minuteMs = 60_000;

interface Minute {
  startedAt: number;
  lines: number;
  left: number;
}

/** One line per refused request; of many with the same reason, the rest of a minute is a number. */
export interface RefusalLog {
  record(reason: string, fields: LogFields): void;
}

export function createRefusalLog({ logger, clock }: { logger: Logger; clock: Clock }): RefusalLog {
  /** By reason, of which there are a few dozen. */
  const minutes = new Map<string, Minute>();
  let isCounting = false;

  function writeCounts(): void {
    for (const [reason, { left }] of minutes) {
      if (left > 0) logger.info('federation.refused_more', { reason, count: left });
    }
    minutes.clear();
    isCounting = false;
  }

  return {
    record(reason, fields) {
      const now = clock.now();
      let minute = minutes.get(reason);
      if (minute !== undefined && Math.abs(now - minute.startedAt) >= minuteMs) {
        if (minute.left > 0) logger.info('federation.refused_more', { reason, count: minute.left });
        minute = undefined;
      }
      if (minute === undefined) minutes.set(reason, (minute = { startedAt: now, lines: 0, left: 0 }));
      if (minute.lines < linesPerMinute) {
        minute.lines += 1;
        logger.info('federation.refused', { ...fields, reason });
        return;
      }
      minute.left += 1;
      // The number that would not be logged because no further refusal comes.
      if (isCounting) return;
      isCounting = true;
      setTimeout(writeCounts, minuteMs).unref();
    },
  };
}
