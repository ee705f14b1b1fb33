import { invalid } from '../../kernel/index.ts';
import type { NewIssue } from '../lifecycle/open-issue.ts';
import { fillForm } from './fill-form.ts';
import type { TemplateAnswers } from './fill-form.ts';
import { findTemplates } from './find-templates.ts';
import type { TemplateDeps, TemplatePlace } from './find-templates.ts';
import type { IssueTemplate } from './issue-template.ts';

/** The template with a file name, for commands and programs. Throws `unknown_template`, `busy`. */
export async function findTemplate(deps: TemplateDeps, place: TemplatePlace, key: string): Promise<IssueTemplate> {
  const { templates } = await findTemplates(deps, place);
  const template = templates.find((one) => one.key === key);
  if (template !== undefined) return template;
  const names = templates.map((one) => one.key).join(', ');
  throw invalid(
    'unknown_template',
    names === '' ? 'This repository has no issue templates.' : `This template does not exist. Available: ${names}.`,
    { field: 'template' },
  );
}

/**
 * Applies a template to a new issue: the given text, else the answers to a form, else the template text; and its labels
 * and assignees. Throws `answers_incomplete`.
 */
export function useTemplate(
  template: IssueTemplate,
  { body, answers = {} }: { body: string; answers?: TemplateAnswers | undefined },
): Pick<NewIssue, 'body' | 'template'> {
  return { body: body.trim() !== '' ? body : (template.body ?? fillForm(template, answers)), template };
}
