import { escapeAttribute, escapeText, fillPlaceholders } from './placeholders.ts';

/** A fenced block of code. */
export interface CodeBlock {
  /** The first word of the info string, in lower case; empty when there is none. */
  language: string;
  text: string;
}

export interface Formula {
  tex: string;
  isDisplay: boolean;
}

/** A checkbox of a task list. */
interface TaskBox {
  /** The line of the source that contains it, from 0. */
  line: number;
  isChecked: boolean;
  /** The text beside it, without markup. */
  label: string;
}

/** The output of the worker: sanitised HTML with placeholders (`placeholders.ts`), and the data for them. */
export interface RenderedMarkdown {
  html: string;
  blocks: CodeBlock[];
  formulas: Formula[];
  tasks: TaskBox[];
}

/** The replacements for the placeholders of a document. */
interface PlaceholderFills {
  /** HTML of a block of code; null for plain text. */
  code(index: number): string | null;
  /** MathML; null shows the source. */
  formula(index: number): string | null;
  task(box: TaskBox, isInLink: boolean): string;
  /** HTML for escaped text with possible references. */
  text(escaped: string): string;
}

/** A checkbox that shows its state and cannot be clicked. */
export const plainBox = ({ isChecked }: Pick<TaskBox, 'isChecked'>): string =>
  `<input type="checkbox" disabled aria-label="${isChecked ? 'done' : 'to do'}"${isChecked ? ' checked' : ''} />`;

/** The replacements without highlighting, MathML, forms and reference links. */
export const plainFills: PlaceholderFills = {
  code: () => null,
  formula: () => null,
  task: plainBox,
  text: (escaped) => escaped,
};

export function replacePlaceholders(
  { html, blocks, formulas, tasks }: RenderedMarkdown,
  fills: PlaceholderFills,
): string {
  return fillPlaceholders(html, (kind, content) => {
    const index = Number(content);
    switch (kind) {
      case 'code':
        return fills.code(index) ?? escapeText(blocks[index]!.text);
      case 'formula':
        return fills.formula(index) ?? formulaSource(formulas[index]!);
      case 'task':
      case 'linked-task':
        return fills.task(tasks[index]!, kind === 'linked-task');
      case 'text':
        return fills.text(content);
    }
  });
}

const formulaSource = ({ tex, isDisplay }: Formula): string =>
  `<code class="formula">${escapeText(isDisplay ? `$$${tex}$$` : `$${tex}$`)}</code>`;

/** The form of a text whose checkboxes can be toggled. */
export interface TaskForm {
  /** Target of the form: a POST with the fields `position`, `revision` and `line`. */
  action: string;
  /** The entry that contains the text, and its revision. */
  position: number;
  revision: number;
}

const formId = ({ position }: TaskForm): string => `tasks-${position}`;

/** Rendered once beside the text; its buttons are in the text, which cannot contain a form. */
export const taskFormHtml = (form: TaskForm): string =>
  `<form id="${formId(form)}" class="task-form" method="post" action="${escapeAttribute(form.action)}">` +
  `<input type="hidden" name="position" value="${form.position}" />` +
  `<input type="hidden" name="revision" value="${form.revision}" /></form>`;

/** A checkbox as a button that toggles it. */
export const taskButton = (form: TaskForm, { line, isChecked, label }: TaskBox): string =>
  `<button type="submit" class="task-box" form="${formId(form)}" name="line" value="${line}" role="checkbox" ` +
  `aria-checked="${isChecked}" aria-label="${escapeAttribute(label || 'task')}"></button>`;
