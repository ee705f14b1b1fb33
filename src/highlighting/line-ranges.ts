/** Line numbers from 1, both inclusive; in ascending order, without overlaps. */
export type LineRanges = readonly (readonly [first: number, last: number])[];
