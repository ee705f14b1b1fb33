/** Resolves the relative links and images of a document; null shows only their text. */
export interface DocumentLinks {
  page(path: string): string | null;
  image(path: string): string | null;
  /** Whether images of other hosts are shown; otherwise they are links. */
  showsRemoteImages?: boolean;
  /**
   * The URL that serves an image of another host, given its http or https URL; if absent, https images load directly.
   */
  remote?(url: string): string | null;
}
