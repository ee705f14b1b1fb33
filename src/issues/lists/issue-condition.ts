/** A condition on rows of `issues`, called `i`, with named parameters. */
export interface IssueCondition {
  sql: string;
  parameters: Record<string, unknown>;
  /** The same on the id of an issue, given as an expression, where that is enough. */
  onId?: (id: string) => string;
  /** A statement that gives the ids of the issues that meet it, where an index has them. */
  ids?: string;
}
