import type { Json } from './json.ts';
import { EvaluationBudget } from './evaluation-budget.ts';
import { textOf } from './evaluate.ts';

/** One combination of a matrix: axis → value. */
export type MatrixCombination = { readonly [axis: string]: Json };

export const maxCombinations = 256;
/** Entries of `include` and of `exclude`: each is held against each combination. */
const maxExtra = maxCombinations;
/** Axes of one value each make no more combinations, but each of them longer. */
const maxAxes = 20;
/** Of a matrix as JSON, and of all its combinations: each is a row of the database, read and written with its job. */
const maxLength = 256 * 1024;

/** A matrix that makes no sense, in words for whoever wrote it. */
export class MatrixProblem extends Error {}

const tooMany = () => new MatrixProblem(`The matrix has more than ${maxCombinations} combinations.`);
const tooLong = () => new MatrixProblem('The values of the matrix are too long for so many combinations.');

/**
 * All combinations of a matrix, in the order of the file: the last axis changes
 * first, combinations that only `include` has come last. `exclude` takes combinations out,
 * `include` adds values to those that it fits without changing them, or else a
 * combination of its own. Without a matrix there is one empty leg. What it costs is
 * counted: the server expands matrices where no thread can be waited for.
 * Throws `MatrixProblem` and `BudgetSpent`.
 */
export function expandMatrix(matrix: Json, budget = new EvaluationBudget()): MatrixCombination[] {
  if (matrix === null) return [{}];
  if (typeof matrix !== 'object' || Array.isArray(matrix)) throw new MatrixProblem('The matrix is not a mapping.');
  const { include, exclude, ...axes } = matrix;
  const { length } = JSON.stringify(matrix);
  if (length > maxLength) throw tooLong();
  budget.spend(length);
  const values = new Values(budget);
  const excluded = readCombinations(exclude, 'exclude');
  const originals = combine(axes, budget).filter((leg) => !excluded.some((out) => values.isPartOf(out, leg)));
  if (originals.length > maxCombinations) throw tooMany();
  const legs: { [axis: string]: Json }[] = originals.map((leg) => ({ ...leg }));
  for (const extra of readCombinations(include, 'include')) {
    const fitting = originals.flatMap((leg, at) => (values.keepsValues(leg, extra) ? [at] : []));
    if (fitting.length === 0) legs.push({ ...extra });
    for (const at of fitting) Object.assign(legs[at]!, extra);
  }
  if (legs.length === 0) throw new MatrixProblem('The matrix has no combinations.');
  if (legs.length > maxCombinations) throw tooMany();
  if (legs.reduce((sum, leg) => sum + values.lengthOf(leg), 0) > maxLength) throw tooLong();
  return legs;
}

function combine(axes: { [axis: string]: Json }, budget: EvaluationBudget): MatrixCombination[] {
  let legs: MatrixCombination[] = [{}];
  const names = Object.keys(axes);
  if (names.length > maxAxes) throw new MatrixProblem(`The matrix has more than ${maxAxes} axes.`);
  for (const name of names) {
    const values = axes[name];
    if (!Array.isArray(values) || values.length === 0)
      throw new MatrixProblem(`The matrix axis ${name} has to be a list with something in it.`);
    // Stop while it is small: seven axes of ten are ten million.
    if (legs.length * values.length > 10 * maxCombinations) throw tooMany();
    budget.spend(legs.length * values.length * names.length);
    legs = legs.flatMap((leg) => values.map((value) => ({ ...leg, [name]: value })));
  }
  return names.length === 0 ? [] : legs;
}

function readCombinations(value: Json | undefined, name: string): MatrixCombination[] {
  if (value === undefined || value === null) return [];
  const isList =
    Array.isArray(value) && value.every((item) => item !== null && typeof item === 'object' && !Array.isArray(item));
  if (!isList) throw new MatrixProblem(`The matrix needs a list of mappings under "${name}".`);
  if (value.length > maxExtra) throw new MatrixProblem(`The matrix has more than ${maxExtra} entries under "${name}".`);
  return value as MatrixCombination[];
}

/** Compares values by numbers, so that each is written out once however often it is compared. */
class Values {
  readonly #written = new Map<Json, { length: number; id: number }>();
  readonly #ids = new Map<string, number>();
  readonly #budget: EvaluationBudget;

  constructor(budget: EvaluationBudget) {
    this.#budget = budget;
  }

  isPartOf(part: MatrixCombination, leg: MatrixCombination): boolean {
    return Object.entries(part).every(([axis, value]) => Object.hasOwn(leg, axis) && this.#isSame(value, leg[axis]!));
  }

  /** Whether a combination stays what it is when the extra values are added. */
  keepsValues(leg: MatrixCombination, extra: MatrixCombination): boolean {
    return Object.entries(extra).every(([axis, value]) => !Object.hasOwn(leg, axis) || this.#isSame(value, leg[axis]!));
  }

  lengthOf(leg: MatrixCombination): number {
    return Object.entries(leg).reduce((sum, [axis, value]) => sum + axis.length + this.#write(value).length, 0);
  }

  #isSame(a: Json, b: Json): boolean {
    this.#budget.spend(1);
    return this.#write(a).id === this.#write(b).id;
  }

  #write(value: Json): { length: number; id: number } {
    let written = this.#written.get(value);
    if (written === undefined) {
      const text = JSON.stringify(value);
      const id = this.#ids.get(text) ?? this.#ids.size;
      this.#ids.set(text, id);
      this.#written.set(value, (written = { length: text.length, id }));
    }
    return written;
  }
}

/** `linux, 18`: the values in the order of the file, as required checks of other forges are called. */
export function combinationName(leg: MatrixCombination): string {
  return Object.values(leg)
    .map(valueName)
    .filter((text) => text !== '')
    .join(', ');
}

function valueName(value: Json): string {
  if (value === null || typeof value !== 'object') return textOf(value);
  return (Array.isArray(value) ? value : Object.values(value)).map(valueName).join(', ');
}
