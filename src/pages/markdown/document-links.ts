/** Where the relative links and images of a document lead; null shows their text alone. */
export interface DocumentLinks {
  page(path: string): string | null;
  image(path: string): string | null;
  /** Whether images of other hosts are shown; they are links otherwise. */
  showsRemoteImages?: boolean;
  /** Where an image of another host is shown from, an http or https URL; by itself over https when absent. */
  remote?(url: string): string | null;
}
