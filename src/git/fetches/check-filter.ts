/** Size limits of a filter: each part of `combine` is evaluated for every object of the pack. */
const maxFilterLength = 1_024;
const maxFilterParts = 8;

/** Result of checking a filter before git gets it. */
interface CheckedFilter {
  /** Error message for the client, or null. */
  refusal: string | null;
  /** Ids of the blobs with `sparse:oid` patterns, which must be reachable like wanted objects. */
  blobs: string[];
}

/**
 * Checks the filter of a partial clone, beyond the allowed kinds in git's settings (`uploadpackfilter`). git resolves
 * any expression in `sparse:oid`, even names of hidden refs and history searches, so only a full object id is allowed.
 * @param filter the specification, see git-rev-list(1) `--filter`; parts of `combine:` are percent-encoded
 */
export function checkFilter(filter: string): CheckedFilter {
  const refuse = (refusal: string): CheckedFilter => ({ refusal, blobs: [] });
  if (filter.length > maxFilterLength) return refuse(`a filter has at most ${maxFilterLength} characters`);
  const parts = filter.split('+');
  if (parts.length > maxFilterParts) return refuse(`a filter combines at most ${maxFilterParts} others`);
  const blobs: string[] = [];
  for (const [index, part] of parts.entries()) {
    let text: string;
    try {
      text = decodeURIComponent(part);
    } catch {
      return refuse('the filter is not well-formed');
    }
    // Searches every part, so that a nested `combine:` cannot hide one; a second encoding is refused for the same
    // reason.
    const inner = index === 0 ? text.replace(/^combine:/, '') : text;
    if (inner.includes('%') || inner.includes('combine:')) return refuse('filters cannot be nested');
    const expression = /sparse:oid=(.*)$/s.exec(text)?.[1];
    if (expression === undefined) continue;
    if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(expression)) return refuse('"sparse:oid=" needs a full object id');
    blobs.push(expression);
  }
  return { refusal: null, blobs };
}
