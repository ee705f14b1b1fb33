import { questionsOf } from '../../issues/index.ts';
import type { AnswerFaults, IssueTemplate, TemplateAnswers, TemplateField } from '../../issues/index.ts';
import type { Form } from '../../http/index.ts';
import type { RenderedText } from '../markdown/render-text.ts';

/** The values in the form of a new issue. */
export interface NewIssueValues {
  title: string;
  body: string;
  answers: TemplateAnswers;
  /** The next three are accepted only from a viewer who may triage. */
  labels: string[];
  assignees: string;
  milestone: string;
}

/** The name of the form field of a template's field. */
const answerName = (id: string): string => `answer-${id}`;

export function readNewIssue(form: Form, template: IssueTemplate | null): NewIssueValues {
  return {
    title: form.text('title'),
    body: form.text('body'),
    answers: Object.fromEntries(
      questionsOf(template?.fields ?? []).map(({ id }) => [id, form.all(answerName(id)).filter((each) => each !== '')]),
    ),
    labels: form.all('labels'),
    assignees: form.text('assignees'),
    milestone: form.text('milestone'),
  };
}

/** The initial values of the form: the template, and a title and a text from the URL. */
export function initialValues(template: IssueTemplate | null, query: URLSearchParams): NewIssueValues {
  return {
    title: (query.get('title') ?? '') || (template?.title ?? ''),
    body: (query.get('body') ?? '') || (template?.body ?? ''),
    answers: Object.fromEntries(
      questionsOf(template?.fields ?? []).map((field): [string, string[]] => {
        if (field.kind === 'dropdown') return [field.id, field.preselected === null ? [] : [field.preselected]];
        return [field.id, field.kind === 'checkboxes' || field.value === '' ? [] : [field.value]];
      }),
    ),
    labels: template?.labels ?? [],
    assignees: template?.assignees.join(', ') ?? '',
    milestone: '',
  };
}

/** A draft is the JSON of the entered values; anything else is not a draft. */
export const writeDraft = (values: NewIssueValues): string => JSON.stringify(values);

export function readDraft(text: string, initial: NewIssueValues): NewIssueValues | null {
  try {
    const draft = JSON.parse(text) as Partial<NewIssueValues>;
    return { ...initial, ...draft, answers: { ...initial.answers, ...draft.answers } };
  } catch {
    return null;
  }
}

/** A field of a YAML form with its value. */
type FieldView =
  | { kind: 'markdown'; text: RenderedText }
  | (Exclude<TemplateField, { kind: 'markdown' }> & { name: string; given: readonly string[]; fault: string | null });

export function viewFields(
  { fields }: Pick<IssueTemplate, 'fields'>,
  answers: TemplateAnswers,
  faults: AnswerFaults,
  texts: readonly RenderedText[],
): FieldView[] {
  const rendered = texts.values();
  return fields.map((field): FieldView => {
    if (field.kind === 'markdown') return { kind: 'markdown', text: rendered.next().value! };
    return {
      ...field,
      name: answerName(field.id),
      given: answers[field.id] ?? [],
      fault: faults.get(field.id) ?? null,
    };
  });
}

/** The first error, for the summary at the top. */
export function firstFault(
  { fields }: Pick<IssueTemplate, 'fields'>,
  faults: AnswerFaults,
): { message: string; field: string } | null {
  for (const { id, label } of questionsOf(fields)) {
    const message = faults.get(id);
    if (message !== undefined) return { message: `${label}: ${message}`, field: answerName(id) };
  }
  return null;
}
