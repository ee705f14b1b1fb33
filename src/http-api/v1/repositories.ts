import { z } from 'zod';
import { languageCalled } from '../../highlighting/index.ts';
import { notFound } from '../../kernel/index.ts';
import { created, json, listed, nothing } from '../responses.ts';
import { operation } from '../operation.ts';
import { paging, repository } from './schemas.ts';
import { showListed, showRepository } from './show.ts';

const at = '/repos/{owner}/{name}';
const visibility = z.enum(['PUBLIC', 'PRIVATE']);

export const listRepositories = operation({
  id: 'listRepositories',
  method: 'GET',
  path: '/repos',
  tag: 'Repositories',
  summary: 'List the repositories that the caller may see',
  access: 'anyone',
  cost: 'rows',
  status: 200,
  isPaged: true,
  refuses: [404],
  query: z.object({
    owner: z.string().optional().describe('Only those of this person or organisation'),
    name: z.string().max(100).optional().describe('Only those whose name contains this'),
    language: z.string().max(100).optional().describe('Only those mainly written in this, whatever its case'),
    sort: z.enum(['updated', 'created', 'name']).default('updated'),
    ...paging,
  }),
  response: z.array(repository),
  async run({ viewer, query: { owner, name, language, sort, limit, after }, deps, origin }) {
    const named = owner === undefined ? null : await deps.owners.resolve(owner);
    if (owner !== undefined && named === null)
      throw notFound('no_such_owner_here', 'There is no owner with this handle.');
    const page = await deps.repositories.list(viewer, {
      limit,
      sort,
      after: after ?? null,
      ...(named && { owner: named }),
      ...(name !== undefined && { filter: name }),
      // An unknown handle owns no repository.
      ...(language !== undefined && { language: languageCalled(language)?.name ?? language }),
    });
    return listed(await showListed(page.repositories, viewer, { origin, deps }), page.next);
  },
});

export const createRepository = operation({
  id: 'createRepository',
  method: 'POST',
  path: '/repos',
  tag: 'Repositories',
  summary: 'Create an empty repository',
  access: 'account:write',
  cost: 'objects',
  status: 201,
  refuses: [409],
  body: z.strictObject({
    name: z.string(),
    owner: z.string().optional().describe('An organisation; left out, the caller'),
    description: z.string().optional(),
    visibility: visibility.default('PRIVATE'),
    defaultBranch: z.string().optional().describe('Left out: main'),
  }),
  response: repository,
  async run({ viewer, body, deps, origin }) {
    const { id } = await deps.repositories.create(viewer, body);
    const { repository, owner } = (await deps.repositories.locate([id])).get(id)!;
    return created(
      await showRepository(repository, owner, viewer, { origin, deps }),
      `/repos/${owner.handle}/${repository.name}`,
    );
  },
});

export const getRepository = operation({
  id: 'getRepository',
  method: 'GET',
  path: at,
  tag: 'Repositories',
  summary: 'Get a repository',
  access: 'repository:read',
  cost: 'rows',
  status: 200,
  response: repository,
  run: async ({ viewer, found, deps, origin }) =>
    json(await showRepository(found.repository, found.owner, viewer, { origin, deps })),
});

export const editRepository = operation({
  id: 'editRepository',
  method: 'PATCH',
  path: at,
  tag: 'Repositories',
  summary: 'Edit a repository',
  description: 'What is left out stays as it is. Visibility and archiving are the owner’s alone.',
  access: 'repository:admin',
  cost: 'objects',
  status: 200,
  body: z.strictObject({
    description: z.string().optional(),
    defaultBranch: z.string().optional(),
    defaultBranchProtected: z.boolean().optional(),
    acceptsGerritRefs: z.boolean().optional(),
    visibility: visibility.optional(),
    archived: z.boolean().optional(),
  }),
  response: repository,
  async run({ viewer, found, body: { visibility, archived, ...rest }, deps, origin }) {
    const { repositories } = deps;
    const { owner, name } = found.canonical;
    // Before anything is changed: half of what was asked for would be worse than nothing.
    if (visibility !== undefined || archived !== undefined) await repositories.find(viewer, owner, name, 'owner');
    const edit = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
    await repositories.edit(viewer, owner, name, edit);
    if (visibility !== undefined) await repositories.changeVisibility(viewer, owner, name, visibility);
    if (archived !== undefined) await repositories.setArchived(viewer, owner, name, archived);
    const after = await repositories.find(viewer, owner, name);
    return json(await showRepository(after.repository, after.owner, viewer, { origin, deps }));
  },
});

export const renameRepository = operation({
  id: 'renameRepository',
  method: 'POST',
  path: `${at}/rename`,
  tag: 'Repositories',
  summary: 'Rename a repository',
  description: 'The old path leads to the new one until it is used again.',
  access: 'repository:owner',
  cost: 'rows',
  status: 200,
  refuses: [409],
  body: z.strictObject({ name: z.string() }),
  response: repository,
  async run({ viewer, found, body, deps, origin }) {
    const { canonical } = found;
    const address = await deps.repositories.rename(viewer, canonical.owner, canonical.name, body.name);
    const { repository, owner } = await deps.repositories.find(viewer, address.owner, address.name);
    return json(await showRepository(repository, owner, viewer, { origin, deps }));
  },
});

export const deleteRepository = operation({
  id: 'deleteRepository',
  method: 'DELETE',
  path: at,
  tag: 'Repositories',
  summary: 'Move a repository to the trash',
  access: 'repository:owner',
  cost: 'objects',
  status: 204,
  refuses: [409],
  async run({ viewer, found: { canonical }, deps }) {
    await deps.repositories.trash.move(viewer, canonical.owner, canonical.name);
    return nothing();
  },
});
