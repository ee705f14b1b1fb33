/** A ref move by the server itself. Ids are full; all zero means "no ref". */
export interface RefMove {
  ref: string;
  oldId: string;
  newId: string;
}

/** Reasons of a failed move that callers tell apart. They are shown to clients. */
export const refFailures = {
  moved: 'it has moved meanwhile',
  nameTaken: 'another name stands in its way',
  locked: 'another git process has locked it',
  refused: 'git refused it',
} as const;
