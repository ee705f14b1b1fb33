/**
 * Finds objects that are unreachable from every visible ref: overwritten and deleted history stays on disk for a month,
 * but must not be served (security A06). git does not check this in protocol version 2, and an id is not a secret: it
 * was in lists and messages.
 */
export interface Reachability {
  /**
   * The first of these ids, in their order, that is unreachable from every visible ref; null if there is none. Throws
   * `git_busy`.
   */
  firstUnreachable(path: string, oids: readonly string[], signal?: AbortSignal): Promise<string | null>;
  /** The commits among these existing ones that are unreachable from every visible ref. Throws `git_busy`. */
  unreachableCommits(path: string, oids: readonly string[]): Promise<ReadonlySet<string>>;
}
