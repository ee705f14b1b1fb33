/** Sources of the rows of one list page. */
export interface PageSource {
  /** A statement that selects the ids of few issues to sort; without it the list is read in order. */
  ids?: string;
  /** A condition on rows of `issues`, called `i`. */
  and?: string;
}

/** A list of issues that is also filtered by words. */
export interface TextQuery {
  /** Each word occurs in the title or in a text of the issue. Not folded; empty for a list without words. */
  words: readonly string[];
  /** UUID of the repository of all issues in the list; null for a list over repositories. */
  repositoryId: string | null;
  /** Whether other conditions leave so few issues that their texts can be compared one by one. */
  isNarrow: boolean;
  /** The statement of one page, with named parameters: rows of `id`, in list order. */
  page(source: PageSource): string;
  /** The parameters of that statement. */
  parameters: Record<string, unknown>;
}

/** An issue that was found. */
export interface TextHit {
  id: string;
  /** The first entry with the first word; null without words. */
  position: number | null;
}

/**
 * Port for an index over titles and texts; implemented by `search`. Excludes held entries; access checks are part of
 * the statement.
 */
export interface TextIndex {
  find(question: TextQuery): Promise<TextHit[]>;
}
