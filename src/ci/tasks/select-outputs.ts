import type { OutputRow } from '../schema/task-schema.ts';

const shape = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const maxNameBytes = 255;
const maxValueBytes = 1024 * 1024;
const maxTotalBytes = 50 * 1024 * 1024;

/** Outputs of one report: stored or dropped. */
export interface SelectedOutputs {
  /** New outputs to store. */
  stored: Map<string, string>;
  /** Names that are acknowledged but not stored: a runner that misses one in the response never ends. */
  dropped: string[];
  /** Reasons, shown on the page. */
  notices: string[];
}

/** The first value of a name wins; malformed and too large values are dropped with a notice. */
export function selectOutputs(given: ReadonlyMap<string, string>, known: readonly OutputRow[]): SelectedOutputs {
  const selected: SelectedOutputs = { stored: new Map(), dropped: [], notices: [] };
  const names = new Set(known.map(({ name }) => name));
  let total = known.reduce((sum, { value }) => sum + (value === null ? 0 : Buffer.byteLength(value)), 0);
  for (const [name, value] of given) {
    if (names.has(name)) continue;
    const bytes = Buffer.byteLength(value);
    const problem =
      Buffer.byteLength(name) > maxNameBytes || !shape.test(name)
        ? 'its name is not one'
        : bytes > maxValueBytes
          ? 'it is larger than 1 MiB'
          : total + bytes > maxTotalBytes
            ? 'the outputs of this job are larger than 50 MiB'
            : null;
    if (problem === null) {
      total += bytes;
      selected.stored.set(name, value);
    } else {
      selected.dropped.push(name);
      selected.notices.push(`The output ${name.slice(0, 60)} was not kept: ${problem}.`);
    }
  }
  return selected;
}
