import { eventsOfOthers, knownEvents } from './file-schema.ts';
import { WorkflowProblem } from './workflow-problem.ts';
import type { Triggers } from './workflow.ts';

/** Something that a workflow file says and that does not mean what its author thinks. */
export interface FileFinding {
  /** An error keeps the file from running, as GitHub refuses it. */
  severity: 'error' | 'warning';
  /** From 1. */
  line: number;
  /** From 1. */
  column: number;
  message: string;
}

/** In one line: `line 4, column 3: "stepz" is not a key …`. */
export const describeFinding = ({ line, column, message }: FileFinding): string =>
  `line ${line}, column ${column}: ${message}`;

/** The first error as the problem of the file: a misspelled key explains what is missing. */
export function problemOf(findings: readonly FileFinding[]): WorkflowProblem | null {
  const first = findings.find(({ severity }) => severity === 'error');
  return first === undefined ? null : new WorkflowProblem(first.message, first);
}

/** Null where an event is unknown: another one was meant, and the push that brings the file shall say so. */
export function knownTriggers(triggers: Triggers): Triggers | null {
  const known = (event: string): boolean => knownEvents.includes(event) || eventsOfOthers.includes(event);
  return triggers.others.every(known) ? triggers : null;
}
