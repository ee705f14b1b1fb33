// Side-by-side measurement: every side once per round, in turn, so that noise affects all.

interface Sample {
  /** Seconds from start to end. */
  wallS: number;
  /** CPU seconds of the server's whole process tree, when measurable. */
  cpuS?: number | undefined;
}

export type Measurement = () => Promise<Sample>;

/**
 * Runs each side once as a warm-up and then `rounds` times, alternating. The first side is ours; ratios are ours
 * divided by the other's, per round.
 */
export async function compare(title: string, rounds: number, sides: Record<string, Measurement>): Promise<string[]> {
  const names = Object.keys(sides);
  const samples = new Map<string, Sample[]>(names.map((name) => [name, []]));
  for (let round = -1; round < rounds; round++) {
    for (const name of names) {
      const sample = await sides[name]!();
      if (round >= 0) samples.get(name)!.push(sample);
    }
  }
  const [ours, ...others] = names;
  return others.map((other) =>
    formatRow([
      title,
      other,
      formatSpread(samples.get(ours!)!.map(({ wallS }) => wallS * 1000)),
      formatSpread(samples.get(other)!.map(({ wallS }) => wallS * 1000)),
      ratio(samples.get(ours!)!, samples.get(other)!),
      cpuRatio(samples.get(ours!)!, samples.get(other)!),
    ]),
  );
}

export const comparisonHead = [
  formatRow(['What', 'Peer', 'Hearth ms (min–max)', 'Peer ms (min–max)', 'Wall ratio', 'CPU ratio']),
  formatRow(['---', '---', '---:', '---:', '---:', '---:']),
];

export function formatRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function formatSpread(values: readonly number[], digits = 0): string {
  return `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)})`;
}

/** The ratio per round, then the median: noise in a round affects both sides. */
function ratio(ours: Sample[], theirs: Sample[]): string {
  return `${median(ours.map(({ wallS }, index) => wallS / theirs[index]!.wallS)).toFixed(2)}×`;
}

/** Over all rounds together: hundredths of a second are too coarse for one. */
function cpuRatio(ours: Sample[], theirs: Sample[]): string {
  const sum = (samples: Sample[]) => samples.reduce((all, { cpuS = NaN }) => all + cpuS, 0);
  const value = sum(ours) / sum(theirs);
  return Number.isFinite(value) ? `${value.toFixed(2)}×` : '–';
}

/** `--rounds 7` and the like. */
export function readNumberOption(name: string, otherwise: number): number {
  const at = process.argv.indexOf(`--${name}`);
  return at === -1 ? otherwise : Number(process.argv[at + 1]);
}

/** `--repository PATH` and the like; null without it. */
export function readTextOption(name: string): string | null {
  const at = process.argv.indexOf(`--${name}`);
  return at === -1 ? null : (process.argv[at + 1] ?? null);
}
