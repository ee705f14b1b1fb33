import { z } from 'zod';
import type { PersonViewer } from '../../../access/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { invalid } from '../../../kernel/index.ts';
import { created } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { addLabels } from '../issues/label-templates.ts';
import { olderRepository } from '../shapes/older-forms.ts';
import { repository } from '../shapes/schemas.ts';
import { showRepository } from '../shapes/show-repositories.ts';

/** A new repository as sent by Gitea's clients. */
export const newRepository = z
  .object({
    name: z.string(),
    description: z.string().optional(),
    private: z.boolean().default(true).describe('Defaults to private'),
    auto_init: z.boolean().optional().describe('Creates a README and the files selected below'),
    default_branch: z.string().optional().describe('Defaults to main, also if empty'),
    gitignores: z.string().max(500).optional().describe('Comma-separated template names: Node, Python …'),
    license: z.string().max(100).optional().describe('SPDX identifier: MIT, Apache-2.0 …'),
    readme: z.string().max(100).optional().describe('Used only with auto_init'),
    issue_labels: z
      .string()
      .max(100)
      .optional()
      .describe('Label set: Default; any other name creates this server’s standard labels'),
    template: z.boolean().optional(),
    object_format_name: z
      .enum(['sha1', 'sha256'])
      .optional()
      .describe('Must be sha1: other object formats are rejected'),
    trust_model: z
      .string()
      .optional()
      .describe('Has no effect: signatures are verified identically in all repositories'),
  })
  .meta({ id: 'NewRepository' });

interface Place {
  viewer: PersonViewer;
  deps: WebDeps;
  origin: string;
}

/**
 * @param owner an organisation; the caller if omitted. Refuses what `repositories.create` does, `unknown_format`
 */
export async function makeRepository(
  { viewer, deps, origin }: Place,
  body: z.output<typeof newRepository>,
  owner?: string,
) {
  if (body.object_format_name === 'sha256')
    throw invalid('unknown_format', 'Repositories here name objects by SHA-1.', { field: 'object_format_name' });
  const { id } = await deps.repositories.create(viewer, {
    name: body.name,
    owner,
    description: body.description,
    visibility: body.private ? 'PRIVATE' : 'PUBLIC',
    defaultBranch: body.default_branch || undefined,
    readme: body.auto_init === true && ('bare' as const),
    ...(body.auto_init === true && {
      licence: body.license || undefined,
      gitignore: body.gitignores ? body.gitignores.split(',') : undefined,
    }),
  });
  const made = (await deps.repositories.locate([id])).get(id)!;
  const at = { owner: made.owner.handle, name: made.repository.name };
  if (body.template === true) await deps.repositories.edit(viewer, at.owner, at.name, { isTemplate: true });
  if (body.issue_labels) await addLabels(deps, viewer, at, body.issue_labels);
  const { repository } = await deps.repositories.find(viewer, at.owner, at.name);
  return created(
    await showRepository(repository, made.owner, viewer, { origin, deps }),
    `/repos/${at.owner}/${at.name}`,
  );
}

const common = {
  method: 'POST',
  tag: 'Repositories',
  access: 'account:write',
  cost: 'objects',
  status: 201,
  refusesUnknownKeys: /vis|priv|publ|intern/i,
  body: newRepository,
  response: repository,
  older: olderRepository,
} as const;

const ofOrganisation = (id: string, path: '/orgs/{org}/repos' | '/org/{org}/repos') =>
  operation({
    ...common,
    id,
    path,
    summary: 'Create a repository for an organisation',
    refuses: [404, 409],
    run: ({ viewer, params, body, deps, origin }) => makeRepository({ viewer, deps, origin }, body, params.org),
  });

export const newRepositoryOperations = [
  operation({
    ...common,
    id: 'createMyRepository',
    path: '/user/repos',
    summary: 'Create a repository for the caller',
    refuses: [409],
    run: ({ viewer, body, deps, origin }) => makeRepository({ viewer, deps, origin }, body),
  }),
  ofOrganisation('createRepositoryOfOrganisation', '/orgs/{org}/repos'),
  ofOrganisation('createOrgRepo', '/org/{org}/repos'),
];
