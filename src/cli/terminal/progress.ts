import type { Cli } from '../cli.ts';

/** Progress of a long command. */
interface Step {
  done: number;
  total: number;
  item: string;
}

const redrawMs = 100;
const quietLineMs = 10_000;
const barCells = 20;

/**
 * One redrawn line: `[#####-----] 137/214 name eta 1m10s`. Without a terminal, one line every ten seconds; nothing with
 * --quiet or --json.
 */
export function showProgress({ process: { stderr }, flags, clock }: Pick<Cli, 'process' | 'flags' | 'clock'>): {
  step(step: Step): void;
  end(): void;
} {
  const isSilent = flags.quiet || flags.json;
  const isTerminal = stderr.isTTY === true;
  const startedAt = clock.now();
  let shownAt = isTerminal ? 0 : startedAt;
  let isDrawn = false;
  return {
    step(step) {
      const now = clock.now();
      if (isSilent || now - shownAt < (isTerminal ? redrawMs : quietLineMs)) return;
      shownAt = now;
      const line = progressLine(step, now - startedAt);
      stderr.write(isTerminal ? `\r${line.slice(0, (stderr.columns || 80) - 1)}\u001b[K` : `${line}\n`);
      isDrawn = isTerminal;
    },
    end() {
      if (isDrawn) stderr.write('\r\u001b[K');
    },
  };
}

export function progressLine({ done, total, item }: Step, elapsedMs: number): string {
  const share = total === 0 ? 0 : done / total;
  const filled = Math.round(share * barCells);
  const bar = `[${'#'.repeat(filled)}${'-'.repeat(barCells - filled)}]`;
  const eta = done === 0 ? '' : `   eta ${readableTime((elapsedMs / done) * (total - done))}`;
  return `${bar}  ${done}/${total}  ${item}${eta}`;
}

function readableTime(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes}m${seconds % 60}s` : `${Math.floor(minutes / 60)}h${minutes % 60}m`;
}
