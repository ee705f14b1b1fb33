import { z } from 'zod';
import type { Viewer } from '../../../access/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import type { RepositoryAt } from '../../../issues/index.ts';
import { notFound } from '../../../kernel/index.ts';
import { json } from '../../responses.ts';
import { operation } from '../../operation.ts';

/** The label templates that Gitea's clients request by name when they create a repository. */
const templates: Readonly<Record<string, readonly { name: string; colour: string; description: string }[]>> = {
  Default: [
    { name: 'bug', colour: 'ee0701', description: 'Something is not working' },
    { name: 'duplicate', colour: 'cccccc', description: 'This issue or pull request already exists' },
    { name: 'enhancement', colour: '84b6eb', description: 'New feature' },
    { name: 'help wanted', colour: '128a0c', description: 'Need some help' },
    { name: 'invalid', colour: 'e6e6e6', description: 'Something is wrong' },
    { name: 'question', colour: 'cc317c', description: 'More information is needed' },
    { name: 'wontfix', colour: 'ffffff', description: 'This will not be fixed' },
  ],
};

/** The labels of a template; the defaults of this server for any other name. */
export async function addLabels(deps: WebDeps, viewer: Viewer, repository: RepositoryAt, name: string): Promise<void> {
  const labels = Object.hasOwn(templates, name) ? templates[name]! : null;
  if (labels === null) return void (await deps.issues.addDefaultLabels(viewer, { repository }));
  for (const label of labels) await deps.issues.addLabel(viewer, { repository }, label);
}

const common = { method: 'GET', tag: 'Miscellaneous', access: 'anyone', cost: 'free', status: 200 } as const;

export const labelTemplateOperations = [
  operation({
    ...common,
    id: 'listLabelTemplates',
    path: '/label/templates',
    summary: 'List the names of label sets for new repositories',
    response: z.array(z.string()),
    run: async () => json(Object.keys(templates)),
  }),
  operation({
    ...common,
    id: 'getLabelTemplate',
    path: '/label/templates/{name}',
    summary: 'Get the labels in a label set',
    refuses: [404],
    response: z.array(
      z
        .strictObject({ name: z.string(), color: z.string(), description: z.string(), exclusive: z.boolean() })
        .meta({ id: 'LabelTemplate' }),
    ),
    async run({ params }) {
      if (!Object.hasOwn(templates, params.name))
        throw notFound('label_template_not_found', 'There is no such set of labels.');
      return json(
        templates[params.name]!.map(({ name, colour, description }) => ({
          name,
          color: colour,
          description,
          exclusive: false,
        })),
      );
    },
  }),
];
