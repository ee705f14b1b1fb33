import type { Json } from './yaml-nodes.ts';
import { textOf } from './evaluate.ts';

/** One combination of a matrix: axis → value. */
export type Leg = { readonly [axis: string]: Json };

const maxLegs = 256;

/** A matrix that makes no sense, in words for whoever wrote it. */
export class MatrixProblem extends Error {}

/**
 * All combinations of a matrix, in the order of the file: the last axis changes
 * first, combinations that only `include` has come last. `exclude` takes combinations out,
 * `include` adds values to those that it fits without changing them, or else a
 * combination of its own. Without a matrix there is one empty leg.
 * Throws `MatrixProblem`.
 */
export function expandMatrix(matrix: Json): Leg[] {
  if (matrix === null) return [{}];
  if (typeof matrix !== 'object' || Array.isArray(matrix)) throw new MatrixProblem('The matrix is not a mapping.');
  const { include, exclude, ...axes } = matrix;
  const originals = combine(axes).filter((leg) => !readLegs(exclude, 'exclude').some((out) => isPartOf(out, leg)));
  const legs: Leg[] = originals.map((leg) => ({ ...leg }));
  for (const extra of readLegs(include, 'include')) {
    const fitting = originals.map((leg, at) => [leg, at] as const).filter(([leg]) => keepsValues(leg, extra));
    if (fitting.length === 0) legs.push(extra);
    for (const [, at] of fitting) legs[at] = { ...legs[at], ...extra };
  }
  if (legs.length === 0) throw new MatrixProblem('The matrix has no combinations.');
  if (legs.length > maxLegs) throw new MatrixProblem(`The matrix has more than ${maxLegs} combinations.`);
  return legs;
}

function combine(axes: { [axis: string]: Json }): Leg[] {
  let legs: Leg[] = [{}];
  const names = Object.keys(axes);
  for (const name of names) {
    const values = axes[name];
    if (!Array.isArray(values) || values.length === 0)
      throw new MatrixProblem(`The matrix axis ${name} has to be a list with something in it.`);
    // Stop while it is small: seven axes of ten are ten million.
    if (legs.length * values.length > 10 * maxLegs)
      throw new MatrixProblem(`The matrix has more than ${maxLegs} combinations.`);
    legs = legs.flatMap((leg) => values.map((value) => ({ ...leg, [name]: value })));
  }
  return names.length === 0 ? [] : legs;
}

function readLegs(value: Json | undefined, name: string): Leg[] {
  if (value === undefined || value === null) return [];
  const isList =
    Array.isArray(value) && value.every((item) => item !== null && typeof item === 'object' && !Array.isArray(item));
  if (!isList) throw new MatrixProblem(`The matrix needs a list of mappings under "${name}".`);
  return value as Leg[];
}

const isSame = (a: Json | undefined, b: Json | undefined): boolean => JSON.stringify(a) === JSON.stringify(b);
const isPartOf = (part: Leg, leg: Leg): boolean =>
  Object.entries(part).every(([axis, value]) => isSame(value, leg[axis]));

/** Whether a combination stays what it is when the extra values are added. */
const keepsValues = (leg: Leg, extra: Leg): boolean =>
  Object.entries(extra).every(([axis, value]) => !Object.hasOwn(leg, axis) || isSame(value, leg[axis]));

/** `linux, 18`: the values in the order of the file, as required checks of other forges are called. */
export function legName(leg: Leg): string {
  return Object.values(leg)
    .map(valueName)
    .filter((text) => text !== '')
    .join(', ');
}

function valueName(value: Json): string {
  if (value === null || typeof value !== 'object') return textOf(value);
  return (Array.isArray(value) ? value : Object.values(value)).map(valueName).join(', ');
}
