/** Where the relative links and images of a document lead; null shows their text alone. */
export interface DocumentLinks {
  page(path: string): string | null;
  image(path: string): string | null;
}
