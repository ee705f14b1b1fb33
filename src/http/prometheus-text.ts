import type { Histogram } from '../kernel/index.ts';

/** The text format of Prometheus, limited to counters, gauges and histograms. */

type Labels = Readonly<Record<string, string>>;

export interface Sample {
  /** Suffix of the family name in this line: `_bucket`, `_sum`, `_count` of a histogram. */
  part?: '_bucket' | '_sum' | '_count';
  labels?: Labels;
  value: number;
}

export interface MetricFamily {
  /** Without the prefix `hearth_`. */
  name: string;
  type: 'counter' | 'gauge' | 'histogram';
  help: string;
  samples: readonly Sample[];
}

const escaped = (value: string): string => value.replace(/[\\"\n]/g, (sign) => (sign === '\n' ? '\\n' : `\\${sign}`));

function line(name: string, { part, labels = {}, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}${part ?? ''}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${Number.isFinite(value) ? value : 'NaN'}\n`;
}

/** Formats one family after the other; omits those without samples. */
export function formatMetrics(families: readonly MetricFamily[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, type, help, samples }) => {
      const full = `hearth_${name}`;
      return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${samples.map((sample) => line(full, sample)).join('')}`;
    })
    .join('');
}

/** The lines of one histogram. */
export function histogramSamples(labels: Labels, histogram: Omit<Histogram, 'observe'>): Sample[] {
  const { count, sum } = histogram;
  return [
    ...histogram
      .buckets()
      .map(({ bound, count: value }): Sample => ({ part: '_bucket', labels: { ...labels, le: String(bound) }, value })),
    { part: '_bucket', labels: { ...labels, le: '+Inf' }, value: count },
    { part: '_sum', labels, value: sum },
    { part: '_count', labels, value: count },
  ];
}

/** Counts by labels. */
interface Counter {
  add(labels: Labels, amount: number): void;
  samples(): Sample[];
}

/** Limit of label sets per counter: labels come from fixed tables, and a bug must not fill the memory. */
const maxSeries = 2_000;

export function createCounter(): Counter {
  const series = new Map<string, Sample & { value: number }>();
  return {
    add(labels, amount) {
      const key = JSON.stringify(labels);
      const known = series.get(key);
      if (known !== undefined) known.value += amount;
      else if (series.size < maxSeries) series.set(key, { labels, value: amount });
    },
    samples: () => [...series.values()],
  };
}
