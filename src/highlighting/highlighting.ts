import type { Embedded } from '../embedded/index.ts';
import { languageOf } from './languages.ts';
import { WorkerSeat } from './worker-seat.ts';
import type { SeatLimits } from './worker-seat.ts';

export interface HighlightRequest {
  /** What the text is known by: the id of its blob. An id never means other bytes. */
  oid: string;
  fileName: string;
  text: string;
}

/** Colours code in threads that can be ended. */
export interface Highlighting {
  /**
   * The text line by line as HTML: escaped, with a span for each token. Null when the
   * language is unknown, the text too large, or the highlighter gave up: then the page
   * shows the text as it is. Never takes longer than about a second.
   */
  highlight(request: HighlightRequest): Promise<string[] | null>;
  /** Whether this text would be coloured if there is time: its language is known and it is not too large. */
  canHighlight(request: HighlightRequest): boolean;
  stop(): void;
}

export interface HighlightingLimits extends SeatLimits {
  seats: number;
  /** How long a text waits for a thread before it is shown plain, in milliseconds. */
  queueMs: number;
  maxBytes: number;
  maxLines: number;
  maxLineLength: number;
  /** After this long a text that the highlighter gave up on is tried again, in milliseconds. */
  retryMs: number;
  /** What is remembered in all, in UTF-16 units. */
  maxRemembered: number;
}

export const defaultLimits: HighlightingLimits = {
  seats: 2,
  // The first thread of a busy machine reads two hundred grammars before it answers.
  readyMs: 1_000,
  deadlineMs: 500,
  idleMs: 60_000,
  queueMs: 500,
  maxBytes: 512 * 1024,
  maxLines: 10_000,
  maxLineLength: 2_000,
  retryMs: 60_000,
  maxRemembered: 24 * 1024 * 1024,
};

export function createHighlighting({
  embedded,
  limits = defaultLimits,
}: {
  embedded: Pick<Embedded, 'startWorker'>;
  limits?: HighlightingLimits;
}): Highlighting {
  const seats = Array.from(
    { length: limits.seats },
    () => new WorkerSeat(() => embedded.startWorker('highlight'), limits),
  );
  const free = [...seats];
  const waiting = new Set<(seat: WorkerSeat) => void>();
  /** Results by blob and grammar, the least recently seen first; null for what the highlighter gave up on. */
  const remembered = new Map<string, { lines: string[] | null; at: number }>();
  let rememberedLength = 0;

  const lengthOf = (lines: string[] | null): number => lines?.reduce((sum, line) => sum + line.length, 0) ?? 0;

  function remember(key: string, lines: string[] | null): void {
    rememberedLength += lengthOf(lines) - lengthOf(remembered.get(key)?.lines ?? null);
    remembered.delete(key);
    remembered.set(key, { lines, at: performance.now() });
    for (const [oldest, old] of remembered) {
      if (rememberedLength <= limits.maxRemembered) break;
      remembered.delete(oldest);
      rememberedLength -= lengthOf(old.lines);
    }
  }

  function takeSeat(): Promise<WorkerSeat | null> {
    // One that runs already, so that the second is started only under load.
    const at = Math.max(
      0,
      free.findIndex((seat) => seat.isRunning),
    );
    const [seat] = free.splice(at, 1);
    if (seat) return Promise.resolve(seat);
    return new Promise((resolve) => {
      const admit = (given: WorkerSeat) => {
        clearTimeout(timer);
        resolve(given);
      };
      const timer = setTimeout(() => {
        waiting.delete(admit);
        resolve(null);
      }, limits.queueMs);
      waiting.add(admit);
    });
  }

  function giveBack(seat: WorkerSeat): void {
    const [next] = waiting;
    if (next) {
      waiting.delete(next);
      next(seat);
    } else free.push(seat);
  }

  return {
    canHighlight: ({ fileName, text }) => Boolean(languageOf(fileName)?.grammar) && fits(text, limits),
    async highlight({ oid, fileName, text }) {
      const grammar = languageOf(fileName)?.grammar;
      if (!grammar || !fits(text, limits)) return null;
      const key = `${oid} ${grammar}`;
      const known = remembered.get(key);
      // A machine that was busy then may have time now.
      if (known !== undefined && (known.lines !== null || performance.now() - known.at < limits.retryMs)) {
        remembered.delete(key);
        remembered.set(key, known);
        return known.lines;
      }
      const seat = await takeSeat();
      if (seat === null) return null;
      try {
        const lines = await seat.run({ grammar, text });
        if (lines === undefined) return null;
        if (!remembered.get(key)?.lines) remember(key, lines);
        return lines;
      } finally {
        giveBack(seat);
      }
    },
    stop() {
      for (const seat of seats) seat.end();
    },
  };
}

function fits(text: string, { maxBytes, maxLines, maxLineLength }: HighlightingLimits): boolean {
  if (text.length > maxBytes) return false;
  const lines = text.split('\n');
  return lines.length <= maxLines && lines.every((line) => line.length <= maxLineLength);
}
