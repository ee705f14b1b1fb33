/** A condition on rows of `issues`, called `i`, with named parameters. */
export interface IssueCondition {
  sql: string;
  parameters: Record<string, unknown>;
  /** The same on the id of an issue, given as an expression, if the id suffices. */
  onId?: (id: string) => string;
  /** A statement that selects the ids of matching issues, if an index has them. */
  ids?: string;
}
