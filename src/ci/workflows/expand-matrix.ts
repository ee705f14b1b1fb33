import type { Json } from './json-value.ts';
import { EvaluationBudget } from './evaluation-budget.ts';
import { textOf } from './evaluate.ts';

/** One combination of a matrix: axis → value. */
export type MatrixCombination = { readonly [axis: string]: Json };

const maxCombinations = 256;
/** Limit of entries of `include` and of `exclude`: each is compared with each combination. */
const maxExtra = maxCombinations;
/** Limit of axes: an axis with one value adds no combinations, but makes each of them longer. */
const maxAxes = 20;
/** Length limit of a matrix as JSON, and of all its combinations, each of which is stored with its job. */
const maxLength = 256 * 1024;

/** An invalid matrix, with a message for its author. */
export class MatrixProblem extends Error {}

const tooMany = () => new MatrixProblem(`The matrix has more than ${maxCombinations} combinations.`);
const tooLong = () => new MatrixProblem('The values of the matrix are too long for so many combinations.');

/**
 * Returns all combinations of a matrix in the order of the file: the last axis changes fastest, combinations that exist
 * only in `include` come last. `exclude` removes combinations. `include` adds values to combinations that match it
 * without changing them, or else adds a combination. Without a matrix there is one empty combination. Charges the
 * budget, because the server expands matrices inside writes. Throws `MatrixProblem` and `BudgetSpent`.
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
  const originals = combine(axes, budget).filter(
    (combination) => !excluded.some((out) => values.isPartOf(out, combination)),
  );
  if (originals.length > maxCombinations) throw tooMany();
  const combinations: { [axis: string]: Json }[] = originals.map((combination) => ({ ...combination }));
  for (const extra of readCombinations(include, 'include')) {
    const fitting = originals.flatMap((combination, at) => (values.keepsValues(combination, extra) ? [at] : []));
    if (fitting.length === 0) combinations.push({ ...extra });
    for (const at of fitting) Object.assign(combinations[at]!, extra);
  }
  if (combinations.length === 0) throw new MatrixProblem('The matrix has no combinations.');
  if (combinations.length > maxCombinations) throw tooMany();
  if (combinations.reduce((sum, combination) => sum + values.lengthOf(combination), 0) > maxLength) throw tooLong();
  return combinations;
}

function combine(axes: { [axis: string]: Json }, budget: EvaluationBudget): MatrixCombination[] {
  let combinations: MatrixCombination[] = [{}];
  const names = Object.keys(axes);
  if (names.length > maxAxes) throw new MatrixProblem(`The matrix has more than ${maxAxes} axes.`);
  for (const name of names) {
    const values = axes[name];
    if (!Array.isArray(values) || values.length === 0)
      throw new MatrixProblem(`The matrix axis ${name} has to be a list with something in it.`);
    // Stops early: seven axes with ten values are ten million combinations.
    if (combinations.length * values.length > 10 * maxCombinations) throw tooMany();
    budget.spend(combinations.length * values.length * names.length);
    combinations = combinations.flatMap((combination) => values.map((value) => ({ ...combination, [name]: value })));
  }
  return names.length === 0 ? [] : combinations;
}

function readCombinations(value: Json | undefined, name: string): MatrixCombination[] {
  if (value === undefined || value === null) return [];
  const isList =
    Array.isArray(value) && value.every((item) => item !== null && typeof item === 'object' && !Array.isArray(item));
  if (!isList) throw new MatrixProblem(`The matrix needs a list of mappings under "${name}".`);
  if (value.length > maxExtra) throw new MatrixProblem(`The matrix has more than ${maxExtra} entries under "${name}".`);
  return value as MatrixCombination[];
}

/** Compares values by number, so that each is serialised only once. */
class Values {
  readonly #written = new Map<Json, { length: number; id: number }>();
  readonly #ids = new Map<string, number>();
  readonly #budget: EvaluationBudget;

  constructor(budget: EvaluationBudget) {
    this.#budget = budget;
  }

  isPartOf(part: MatrixCombination, combination: MatrixCombination): boolean {
    return Object.entries(part).every(
      ([axis, value]) => Object.hasOwn(combination, axis) && this.#isSame(value, combination[axis]!),
    );
  }

  /** Whether a combination stays unchanged when the extra values are added. */
  keepsValues(combination: MatrixCombination, extra: MatrixCombination): boolean {
    return Object.entries(extra).every(
      ([axis, value]) => !Object.hasOwn(combination, axis) || this.#isSame(value, combination[axis]!),
    );
  }

  lengthOf(combination: MatrixCombination): number {
    return Object.entries(combination).reduce((sum, [axis, value]) => sum + axis.length + this.#write(value).length, 0);
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

/** `linux, 18`: values in the order of the file, as in the checks of other forges. */
export function combinationName(combination: MatrixCombination): string {
  return Object.values(combination)
    .map(valueName)
    .filter((text) => text !== '')
    .join(', ');
}

function valueName(value: Json): string {
  if (value === null || typeof value !== 'object') return textOf(value);
  return (Array.isArray(value) ? value : Object.values(value)).map(valueName).join(', ');
}
