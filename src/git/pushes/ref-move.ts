/** A ref move by the server itself. Ids are full; all zero means "no ref". */
export interface RefMove {
  ref: string;
  oldId: string;
  newId: string;
}
