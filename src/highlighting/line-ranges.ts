/** Lines by number from 1, both included; in ascending order, without overlaps. */
export type LineRanges = readonly (readonly [first: number, last: number])[];
