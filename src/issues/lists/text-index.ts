/** The rows that one page of a list is read from. */
export interface PageSource {
  /** A statement that gives the ids of issues, few enough to be sorted; without it the list is read in its order. */
  ids?: string;
  /** A condition on rows of `issues`, called `i`. */
  and?: string;
}

/** A list of issues that is narrowed down by words, too. */
export interface TextQuery {
  /** Each is in the title or in a text of the issue. Not folded; none for a list without words. */
  words: readonly string[];
  /** UUID of the repository of all issues of the list; null for a list over repositories. */
  repositoryId: string | null;
  /** Whether other conditions leave so few issues that their texts may be compared one by one. */
  isNarrow: boolean;
  /** The statement of one page, with named parameters: rows of `id`, in the order of the list. */
  page(source: PageSource): string;
  /** The parameters of that statement. */
  parameters: Record<string, unknown>;
}

/** An issue that was found. */
export interface TextHit {
  id: string;
  /** The first entry that has the first word; null without words. */
  position: number | null;
}

/**
 * The port for an index over titles and texts; `search` plugs its own in. Entries that wait for a member are not
 * found, and who may see what is part of the statement.
 */
export interface TextIndex {
  find(question: TextQuery): Promise<TextHit[]>;
}
