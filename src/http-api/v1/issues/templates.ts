import { z } from 'zod';
import { findTemplates } from '../../../issues/index.ts';
import type { IssueTemplate, TemplateField } from '../../../issues/index.ts';
import { json } from '../../responses.ts';
import { operation } from '../../operation.ts';

const at = '/repos/{owner}/{name}';

const field = z.strictObject({
  type: z.enum(['markdown', 'input', 'textarea', 'dropdown', 'checkboxes']),
  id: z.string(),
  attributes: z.record(z.string(), z.unknown()),
  validations: z.record(z.string(), z.unknown()),
});
const template = z
  .strictObject({
    name: z.string(),
    title: z.string(),
    about: z.string(),
    labels: z.array(z.string()),
    assignees: z.array(z.string()),
    ref: z.string(),
    content: z.string().describe('Markdown; empty if the template is a form'),
    body: z.array(field).describe('Form fields'),
    file_name: z.string(),
  })
  .meta({ id: 'IssueTemplate' });
const config = z
  .strictObject({
    blank_issues_enabled: z.boolean(),
    contact_links: z.array(z.strictObject({ name: z.string(), url: z.string(), about: z.string() })),
  })
  .meta({ id: 'IssueConfig' });

const common = { tag: 'Issues', access: 'repository:read', cost: 'objects', status: 200 } as const;

function showField(one: TemplateField): z.output<typeof field> {
  if (one.kind === 'markdown') return { type: 'markdown', id: '', attributes: { value: one.text }, validations: {} };
  const { kind: type, id, label, description } = one;
  const labelled = { label, description };
  const validations = { required: one.isRequired };
  switch (one.kind) {
    case 'input':
    case 'textarea': {
      const attributes = { ...labelled, placeholder: one.placeholder, value: one.value };
      return one.kind === 'input'
        ? { type, id, attributes, validations: { ...validations, is_number: one.isNumber } }
        : { type, id, attributes: { ...attributes, ...(one.render !== null && { render: one.render }) }, validations };
    }
    case 'dropdown':
      return { type, id, attributes: { ...labelled, options: one.options, multiple: one.isMultiple }, validations };
    case 'checkboxes': {
      const options = one.options.map((option) => ({ label: option.label, required: option.isRequired }));
      return { type, id, attributes: { ...labelled, options }, validations };
    }
  }
}

const showTemplate = (one: IssueTemplate): z.output<typeof template> => ({
  name: one.name,
  title: one.title,
  about: one.about,
  labels: one.labels,
  assignees: one.assignees,
  ref: '',
  content: one.body ?? '',
  body: one.fields.map(showField),
  file_name: one.key,
});

export const listIssueTemplates = operation({
  ...common,
  id: 'listIssueTemplates',
  method: 'GET',
  path: `${at}/issue_templates`,
  summary: 'List the issue templates of the default branch, by file name',
  response: z.array(template),
  run: async ({ found, deps }) => json((await findTemplates(deps, found)).templates.map(showTemplate)),
});

export const getIssueConfig = operation({
  ...common,
  id: 'getIssueConfig',
  method: 'GET',
  path: `${at}/issue_config`,
  summary: 'Get the issue template settings: blank issues and contact links',
  response: config,
  async run({ found, deps }) {
    const { blankIssues, contactLinks } = await findTemplates(deps, found);
    return json({ blank_issues_enabled: blankIssues, contact_links: contactLinks });
  },
});
