import { invalid } from '../../kernel/index.ts';
import type { DomainError } from '../../kernel/index.ts';
import { questionsOf } from './issue-template.ts';
import type { IssueTemplate } from './issue-template.ts';

/** Answers by field id; several for check-boxes and some drop-downs. */
export type TemplateAnswers = Readonly<Record<string, readonly string[]>>;

/** Message about a missing or invalid answer, by field id. */
export type AnswerFaults = ReadonlyMap<string, string>;

/** Missing or invalid answers; empty if the form can be submitted. */
export function checkAnswers({ fields }: Pick<IssueTemplate, 'fields'>, answers: TemplateAnswers): AnswerFaults {
  const faults = new Map<string, string>();
  for (const field of questionsOf(fields)) {
    const given = (answers[field.id] ?? []).filter((answer) => answer.trim() !== '');
    const isEmpty = given.length === 0;
    if (field.kind === 'checkboxes') {
      const missed = field.options.find(({ label, isRequired }) => isRequired && !given.includes(label));
      if (missed !== undefined) faults.set(field.id, `Please tick “${missed.label}”.`);
      else if (field.isRequired && isEmpty) faults.set(field.id, 'Please tick at least one.');
    } else if (field.isRequired && isEmpty) {
      faults.set(field.id, field.kind === 'dropdown' ? 'Please choose.' : 'Please fill this in.');
    }
    if (field.kind === 'dropdown' && given.some((answer) => !field.options.includes(answer)))
      faults.set(field.id, 'Please choose one of these.');
    if (field.kind === 'input' && field.isNumber && !isEmpty && !/^[+-]?\d+(?:\.\d+)?$/.test(given[0]!.trim()))
      faults.set(field.id, 'This must be a number.');
  }
  return faults;
}

/**
 * The Markdown of a completed form. Throws `answers_incomplete` for errors of `checkAnswers`, with the first as its
 * field.
 */
export function fillForm(template: Pick<IssueTemplate, 'fields'>, answers: TemplateAnswers): string {
  for (const [field, message] of checkAnswers(template, answers)) throw incomplete(field, message);
  return composeForm(template, answers);
}

/** The same for an incomplete form: a heading per field, with the answer below it. */
export function composeForm(template: Pick<IssueTemplate, 'fields'>, answers: TemplateAnswers): string {
  return questionsOf(template.fields)
    .flatMap((field) => {
      const given = (answers[field.id] ?? []).filter((answer) => answer.trim() !== '');
      const heading = `### ${field.label}`;
      if (field.kind === 'checkboxes')
        return [
          heading,
          field.options.map(({ label }) => `- [${given.includes(label) ? 'x' : ' '}] ${label}`).join('\n'),
        ];
      const text = field.kind === 'dropdown' ? given.join(', ') : (given[0] ?? '').trim();
      if (text === '') return [heading, '_No response_'];
      return [heading, field.kind === 'textarea' && field.render !== null ? fenced(text, field.render) : text];
    })
    .join('\n\n');
}

/** A fence longer than any in the text. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

const incomplete = (field: string, message: string): DomainError => invalid('answers_incomplete', message, { field });
