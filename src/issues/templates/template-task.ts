import type { ParsedTemplate } from './issue-template.ts';
import { parseTemplate } from './parse-template.ts';

/** A task of the worker pool: a template file of a repository. */
export const run = ({ name, content }: { name: string; content: string }): ParsedTemplate =>
  parseTemplate(name, content);
