/** A repository template: initial content of a new issue. */
export interface IssueTemplate {
  /** The file name without its folder, as in `?template=`: `bug.yml`. */
  key: string;
  name: string;
  about: string;
  /** Initial title of the form. */
  title: string;
  /** Names; unknown ones are ignored. */
  labels: string[];
  /** Usernames. */
  assignees: string[];
  /** Initial Markdown of the form; null for a form with fields. */
  body: string | null;
  /** The fields of a YAML form; empty for Markdown. */
  fields: TemplateField[];
}

/** A field of a YAML form, in the format shared by GitHub, Gitea and Forgejo. */
export type TemplateField =
  | { kind: 'markdown'; text: string }
  | (TextField & { kind: 'input'; isNumber: boolean })
  | (TextField & {
      kind: 'textarea';
      /** A language: the answer becomes a fenced code block; null keeps it as Markdown. */
      render: string | null;
    })
  | (Question & { kind: 'dropdown'; options: string[]; isMultiple: boolean; preselected: string | null })
  | (Question & { kind: 'checkboxes'; options: { label: string; isRequired: boolean }[] });

/** A field to answer; its id is unique in its form. */
export interface Question {
  id: string;
  label: string;
  description: string;
  isRequired: boolean;
}

interface TextField extends Question {
  placeholder: string;
  value: string;
}

/** `config.yml`: further entries of the template chooser. */
export interface TemplateConfig {
  /** Whether an issue may be opened without a template. */
  blankIssues: boolean;
  contactLinks: { name: string; about: string; url: string }[];
}

/** An invalid template file, with a message for its author. */
export interface TemplateProblem {
  /** Path in the repository. */
  path: string;
  message: string;
}

/** Content of a template file; returned by a worker pool task. */
export type ParsedTemplate =
  | { kind: 'template'; template: IssueTemplate }
  | { kind: 'config'; config: TemplateConfig }
  | { kind: 'problem'; message: string };

export const templateLimits = {
  files: 50,
  /** Size limit: the same as of one issue text. */
  fileBytes: 65_536,
  fields: 60,
  options: 100,
  contactLinks: 20,
  labels: 50,
  assignees: 20,
} as const;

/** The answer fields of a form, without the texts between them. */
export const questionsOf = (fields: readonly TemplateField[]): Exclude<TemplateField, { kind: 'markdown' }>[] =>
  fields.flatMap((field) => (field.kind === 'markdown' ? [] : [field]));
