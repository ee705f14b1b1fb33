/** Length limit of a message: messages quote names from the file, which may be as long as the file. */
const maxLength = 500;

/** An error in a workflow file, with its position. */
export class WorkflowProblem extends Error {
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;

  constructor(message: string, at: { line: number; column: number }) {
    super(message.slice(0, maxLength));
    this.name = 'WorkflowProblem';
    this.line = at.line;
    this.column = at.column;
  }

  /** On one line: `line 4, column 3: a job needs steps`. */
  describe(): string {
    return `line ${this.line}, column ${this.column}: ${this.message}`;
  }
}
