/** Size limits of a filter: each part of `combine` is asked about every object of the pack. */
const maxFilterLength = 1_024;
const maxFilterParts = 8;

/** What of a filter is to be checked or refused before git gets it. */
interface CheckedFilter {
  /** A sentence for the client, or null. */
  refusal: string | null;
  /** Ids of the blobs with the patterns of `sparse:oid`, which must be reachable like wanted objects. */
  blobs: string[];
}

/**
 * Checks the filter of a partial clone. The kinds that git serves are in its settings (`uploadpackfilter`); here is
 * what these cannot say. `sparse:oid` takes any expression that names a blob, among them names of hidden refs and
 * searches of the history, so only a full object id is allowed.
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
    // Every part is searched, so that a nested `combine:` hides none; a second encoding is refused for the same reason.
    const inner = index === 0 ? text.replace(/^combine:/, '') : text;
    if (inner.includes('%') || inner.includes('combine:')) return refuse('filters cannot be nested');
    const expression = /sparse:oid=(.*)$/s.exec(text)?.[1];
    if (expression === undefined) continue;
    if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(expression)) return refuse('"sparse:oid=" needs a full object id');
    blobs.push(expression);
  }
  return { refusal: null, blobs };
}
