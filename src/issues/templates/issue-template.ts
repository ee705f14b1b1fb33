/** A template of a repository: what a new issue begins with. */
export interface IssueTemplate {
  /** The file's name without its folder, what `?template=` names: `bug.yml`. */
  key: string;
  name: string;
  about: string;
  /** The title that the form begins with. */
  title: string;
  /** Names; those that the repository does not have are passed over. */
  labels: string[];
  /** Usernames. */
  assignees: string[];
  /** The Markdown that the form begins with; null for a form with fields. */
  body: string | null;
  /** The fields of a YAML form; empty for Markdown. */
  fields: TemplateField[];
}

/** A field of a YAML form, in the form that GitHub, Gitea and Forgejo share. */
export type TemplateField =
  | { kind: 'markdown'; text: string }
  | (TextField & { kind: 'input'; isNumber: boolean })
  | (TextField & {
      kind: 'textarea';
      /** A language: the answer is put into a fenced code block; null leaves it Markdown. */
      render: string | null;
    })
  | (Question & { kind: 'dropdown'; options: string[]; isMultiple: boolean; preselected: string | null })
  | (Question & { kind: 'checkboxes'; options: { label: string; isRequired: boolean }[] });

/** What a person answers; the id is unique in its form. */
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

/** `config.yml`: what a chooser offers besides the templates. */
export interface TemplateConfig {
  /** Whether an issue may be opened without a template. */
  blankIssues: boolean;
  contactLinks: { name: string; about: string; url: string }[];
}

/** A file that is no template, with a message for its author. */
export interface TemplateProblem {
  /** Path in the repository. */
  path: string;
  message: string;
}

/** What a template file is; a task of the worker pool returns it. */
export type ParsedTemplate =
  | { kind: 'template'; template: IssueTemplate }
  | { kind: 'config'; config: TemplateConfig }
  | { kind: 'problem'; message: string };

export const templateLimits = {
  files: 50,
  /** One text of an issue has at most as much. */
  fileBytes: 65_536,
  fields: 60,
  options: 100,
  contactLinks: 20,
  labels: 50,
  assignees: 20,
} as const;

/** The answer fields of a form; texts between them are none. */
export const questionsOf = (fields: readonly TemplateField[]): Exclude<TemplateField, { kind: 'markdown' }>[] =>
  fields.flatMap((field) => (field.kind === 'markdown' ? [] : [field]));
