import { eventsOfOthers, knownEvents } from './file-schema.ts';
import { WorkflowProblem } from './workflow-problem.ts';
import type { Triggers } from './workflow.ts';

/** Content of a workflow file that does not have the effect its author expects. */
export interface FileFinding {
  /** An error keeps the file from running, as on GitHub. */
  severity: 'error' | 'warning';
  /** From 1. */
  line: number;
  /** From 1. */
  column: number;
  message: string;
}

/** On one line: `line 4, column 3: "stepz" is not a key …`. */
export const describeFinding = ({ line, column, message }: FileFinding): string =>
  `line ${line}, column ${column}: ${message}`;

/** The first error, as the problem of the file: a misspelled key explains what is missing. */
export function problemOf(findings: readonly FileFinding[]): WorkflowProblem | null {
  const first = findings.find(({ severity }) => severity === 'error');
  return first === undefined ? null : new WorkflowProblem(first.message, first);
}

/** Null if an event is unknown: another one was intended, and the push with the file must report it. */
export function knownTriggers(triggers: Triggers): Triggers | null {
  const known = (event: string): boolean => knownEvents.includes(event) || eventsOfOthers.includes(event);
  return triggers.others.every(known) ? triggers : null;
}
