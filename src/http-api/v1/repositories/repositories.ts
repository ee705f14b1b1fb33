import { z } from 'zod';
import { languageCalled } from '../../../highlighting/index.ts';
import { notFound } from '../../../kernel/index.ts';
import type { RepositoryAddress } from '../../../repositories/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import type { Viewer } from '../../../access/index.ts';
import { created, json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { olderRepositories, olderRepository } from '../shapes/older-forms.ts';
import { numberedPage, paging, repository } from '../shapes/schemas.ts';
import { listIn } from '../shapes/repository-pages.ts';
import { showRepository } from '../shapes/show-repositories.ts';

const at = '/repos/{owner}/{name}';
/** In any case, as on the command line: `public`. */
const visibility = z.preprocess(
  (value) => (typeof value === 'string' ? value.toUpperCase() : value),
  z.enum(['PUBLIC', 'PRIVATE']),
);

export const listRepositories = operation({
  id: 'listRepositories',
  method: 'GET',
  path: '/repos',
  tag: 'Repositories',
  summary: 'List the repositories visible to the caller',
  access: 'anyone',
  cost: 'rows',
  status: 200,
  isPaged: true,
  refuses: [404],
  query: z.object({
    owner: z.string().optional().describe('Only repositories of this user or organisation'),
    name: z.string().max(100).optional().describe('Only repositories whose name contains this text'),
    language: z.string().max(100).optional().describe('Only repositories with this main language, case-insensitive'),
    sort: z.enum(['updated', 'created', 'name']).default('updated'),
    ...paging,
    page: numberedPage,
  }),
  response: z.array(repository),
  older: olderRepositories,
  async run({ viewer, query: { owner, name, language, sort, ...paging }, deps, origin }) {
    const named = owner === undefined ? null : await deps.owners.resolve(owner);
    if (owner !== undefined && named === null)
      throw notFound('no_such_owner_here', 'There is no owner with this handle.');
    const options = {
      sort,
      ...(named && { owner: named }),
      ...(name !== undefined && { filter: name }),
      // An unknown handle owns no repository.
      ...(language !== undefined && { language: languageCalled(language)?.name ?? language }),
    };
    // A search by words reads all names, which is too expensive for a count.
    return listIn({ viewer, deps, origin }, paging, options, { isCounted: name === undefined });
  },
});

export const createRepository = operation({
  id: 'createRepository',
  method: 'POST',
  path: '/repos',
  tag: 'Repositories',
  summary: 'Create a repository',
  description: 'The repository is empty unless the request asks for initial files.',
  access: 'account:write',
  cost: 'objects',
  status: 201,
  refuses: [409],
  refusesUnknownKeys: true,
  body: z.object({
    name: z.string(),
    owner: z.string().optional().describe('Organisation; defaults to the caller'),
    description: z.string().optional(),
    visibility: visibility.default('PRIVATE'),
    defaultBranch: z.string().optional().describe('Defaults to main'),
    auto_init: z.boolean().optional().describe('Creates a README and the files selected below'),
    license: z.string().max(100).optional().describe('SPDX identifier: MIT, Apache-2.0 …'),
    gitignores: z.string().max(500).optional().describe('Comma-separated template names: Node, Python …'),
    readme: z.string().max(100).optional().describe('Any value creates a README'),
  }),
  response: repository,
  older: olderRepository,
  async run({ viewer, body, deps, origin }) {
    const { auto_init, license, gitignores, readme, ...fields } = body;
    const { id } = await deps.repositories.create(viewer, {
      ...fields,
      readme: auto_init === true || (readme ?? '') !== '',
      licence: license,
      gitignore: gitignores?.split(','),
    });
    const { repository, owner } = (await deps.repositories.locate([id])).get(id)!;
    return created(
      await showRepository(repository, owner, viewer, { origin, deps }),
      `/repos/${owner.handle}/${repository.name}`,
    );
  },
});

export const generateRepository = operation({
  id: 'generateRepository',
  method: 'POST',
  path: `${at}/generate`,
  tag: 'Repositories',
  summary: 'Create a repository from a template',
  description: 'The repository starts with one commit containing the files of the template’s default branch.',
  access: 'repository:read',
  scope: 'write',
  cost: 'objects',
  status: 201,
  refuses: [409, 422],
  body: z.object({
    name: z.string(),
    owner: z.string().optional().describe('Organisation; defaults to the caller'),
    description: z.string().optional(),
    private: z.boolean().default(true),
    default_branch: z.string().optional().describe('Defaults to the template’s description'),
  }),
  response: repository,
  older: olderRepository,
  async run({ viewer, found: { canonical }, body, deps, origin }) {
    const { private: isPrivate, default_branch, name, owner, description } = body;
    const made = await deps.repositories.create(viewer, {
      name,
      owner,
      description,
      visibility: isPrivate ? 'PRIVATE' : 'PUBLIC',
      defaultBranch: default_branch,
      template: canonical,
    });
    const there = (await deps.repositories.locate([made.id])).get(made.id)!;
    return created(
      await showRepository(there.repository, there.owner, viewer, { origin, deps }),
      `/repos/${there.owner.handle}/${there.repository.name}`,
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
  older: olderRepository,
  run: async ({ viewer, found, deps, origin }) =>
    json(await showRepository(found.repository, found.owner, viewer, { origin, deps })),
});

/** Turns issues and pull requests off, or on again for everyone; if already on, they keep their restriction. */
async function switchTabs(
  { issues }: WebDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  asked: Record<'issuesFrom' | 'pullsFrom', boolean | undefined>,
): Promise<void> {
  if (asked.issuesFrom === undefined && asked.pullsFrom === undefined) return;
  const present = await issues.settingsOf(viewer, at);
  const after = (key: keyof typeof asked) =>
    asked[key] === undefined || asked[key] === (present[key] !== 'nobody')
      ? {}
      : { [key]: asked[key] ? 'anyone' : 'nobody' };
  const change = { ...after('issuesFrom'), ...after('pullsFrom') };
  if (Object.keys(change).length > 0) await issues.changeSettings(viewer, at, change);
}

export const editRepository = operation({
  id: 'editRepository',
  method: 'PATCH',
  path: at,
  tag: 'Repositories',
  summary: 'Edit a repository',
  description: 'Omitted fields remain unchanged. Only the owner can change the visibility and archive the repository.',
  access: 'repository:admin',
  cost: 'objects',
  status: 200,
  refusesUnknownKeys: /vis|priv|publ|intern/i,
  body: z.object({
    name: z.string().optional().describe('New name; only the owner can rename the repository'),
    description: z.string().optional(),
    website: z.string().optional().describe('HTTP or HTTPS URL'),
    private: z.boolean().optional(),
    default_branch: z.string().optional().describe('An empty value leaves it unchanged'),
    defaultBranch: z.string().optional(),
    defaultBranchProtected: z.boolean().optional(),
    acceptsGerritRefs: z.boolean().optional(),
    template: z.boolean().optional(),
    visibility: visibility.optional(),
    archived: z.boolean().optional(),
    has_issues: z
      .boolean()
      .optional()
      .describe('False disables new issues; true enables them for everyone if they are disabled'),
    has_pull_requests: z.boolean().optional().describe('Likewise for pull requests'),
  }),
  response: repository,
  older: olderRepository,
  async run({ viewer, found, body, deps, origin }) {
    const {
      visibility: named,
      private: isPrivate,
      name: newName,
      archived,
      template,
      default_branch,
      ...others
    } = body;
    const { has_issues: hasIssues, has_pull_requests: hasPulls, ...rest } = others;
    const { repositories } = deps;
    const { owner, name } = found.canonical;
    const visibility = named ?? (isPrivate === undefined ? undefined : isPrivate ? 'PRIVATE' : 'PUBLIC');
    const isRenamed = newName !== undefined && newName !== '' && newName !== name;
    // Checked before anything is changed: a partial change would be worse than none.
    if (visibility !== undefined || archived !== undefined || isRenamed)
      await repositories.find(viewer, owner, name, 'owner');
    const asked = { ...(default_branch && { defaultBranch: default_branch }), ...rest, isTemplate: template };
    const edit = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
    await repositories.edit(viewer, owner, name, edit);
    await switchTabs(deps, viewer, found.canonical, { issuesFrom: hasIssues, pullsFrom: hasPulls });
    if (visibility !== undefined) await repositories.changeVisibility(viewer, owner, name, visibility);
    if (archived !== undefined) await repositories.setArchived(viewer, owner, name, archived);
    const address = isRenamed ? await repositories.rename(viewer, owner, name, newName) : { owner, name };
    const after = await repositories.find(viewer, address.owner, address.name);
    return json(await showRepository(after.repository, after.owner, viewer, { origin, deps }));
  },
});

export const renameRepository = operation({
  id: 'renameRepository',
  method: 'POST',
  path: `${at}/rename`,
  tag: 'Repositories',
  summary: 'Rename a repository',
  description: 'The old path redirects to the new one until it is reused.',
  access: 'repository:owner',
  cost: 'rows',
  status: 200,
  refuses: [409],
  body: z.strictObject({ name: z.string() }),
  response: repository,
  older: olderRepository,
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
    return noContent();
  },
});
