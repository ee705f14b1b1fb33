/**
 * Tells which objects no visible ref leads to: what was pushed away or deleted stays on
 * disk for a month, and is nobody's business any more (security A06). git does not ask
 * this in protocol version 2, and an id alone is no secret: it was in lists and messages.
 */
export interface Reachability {
  /**
   * The first of these ids, in their order, that names nothing a visible ref leads to; null when there is none.
   * Refuses `git_busy`.
   */
  firstBeyond(path: string, oids: readonly string[], signal?: AbortSignal): Promise<string | null>;
}
