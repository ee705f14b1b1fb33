/** A page of a list; the whole list by default. */
export interface Paging {
  limit?: number;
  skip?: number;
}

/** The default limit. */
export const everything = Number.MAX_SAFE_INTEGER;
