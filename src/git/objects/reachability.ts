/**
 * Finds objects that are unreachable from every visible ref: overwritten and deleted history stays on disk for a
 * month, but must not be served (security A06). git does not check this in protocol version 2, and an id is no secret:
 * it was in lists and messages.
 */
export interface Reachability {
  /**
   * The first of these ids, in their order, that is unreachable from every visible ref; null when there is none.
   * Refuses `git_busy`.
   */
  firstUnreachable(path: string, oids: readonly string[], signal?: AbortSignal): Promise<string | null>;
  /** Those of these existing commits that no visible ref leads to. Refuses `git_busy`. */
  unreachableCommits(path: string, oids: readonly string[]): Promise<ReadonlySet<string>>;
}
