import { z } from 'zod';
import { created, json, listed } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { olderRepositories, olderRepository } from '../shapes/older-forms.ts';
import { paging, repository } from '../shapes/schemas.ts';
import { showListed, showRepository } from '../shapes/show-repositories.ts';

const at = '/repos/{owner}/{name}';

export const listForks = operation({
  id: 'listForks',
  method: 'GET',
  path: `${at}/forks`,
  tag: 'Repositories',
  summary: 'List a repository’s forks visible to the caller, newest first',
  access: 'repository:read',
  cost: 'rows',
  status: 200,
  isPaged: true,
  query: z.object({ ...paging }),
  response: z.array(repository),
  older: olderRepositories,
  async run({ viewer, found: { canonical, repository }, query: { limit, after }, deps, origin }) {
    const page = await deps.repositories.forks.list(viewer, canonical.owner, canonical.name, {
      limit,
      after: after ?? null,
    });
    const total =
      page.next === null
        ? null
        : await deps.repositories.countListed(viewer, { forkedFromId: repository.id, sort: 'created' });
    return listed(await showListed(page.repositories, viewer, { origin, deps }), page.next, total);
  },
});

export const createFork = operation({
  id: 'createFork',
  method: 'POST',
  path: `${at}/forks`,
  tag: 'Repositories',
  summary: 'Fork a repository',
  description:
    'Creates a copy with the same branches and tags, owned by the caller or one of the caller’s organisations. It has the same visibility as its source.',
  access: 'repository:read',
  scope: 'write',
  cost: 'objects',
  status: 202,
  refuses: [409],
  body: z.strictObject({
    organization: z.string().optional().describe('Organisation; defaults to the caller'),
    name: z.string().optional().describe('Defaults to the source’s name'),
    description: z.string().optional().describe('Defaults to the source’s description'),
    default_branch_only: z.boolean().optional().describe('Branch to copy; omits other branches and all tags'),
  }),
  response: repository,
  older: olderRepository,
  async run({ viewer, found: { canonical }, body, deps, origin }) {
    const { id } = await deps.repositories.forks.create(viewer, canonical.owner, canonical.name, {
      owner: body.organization,
      name: body.name,
      description: body.description,
      defaultBranchOnly: body.default_branch_only,
    });
    const fork = (await deps.repositories.locate([id])).get(id)!;
    return created(
      await showRepository(fork.repository, fork.owner, viewer, { origin, deps }),
      `/repos/${fork.owner.handle}/${fork.repository.name}`,
    );
  },
});

export const mergeUpstream = operation({
  id: 'mergeUpstream',
  method: 'POST',
  path: `${at}/merge-upstream`,
  tag: 'Repositories',
  summary: 'Sync a branch of a fork with its source',
  description:
    'Fast-forwards the branch as a push by the caller. A branch with its own commits gets a merge commit, unless ff_only is set or the branches conflict (409).',
  access: 'repository:write',
  cost: 'objects',
  status: 200,
  refuses: [409],
  body: z.strictObject({
    branch: z.string().optional().describe('Defaults to the default branch'),
    ff_only: z.boolean().optional().describe('Does not change a branch that has its own commits (409)'),
  }),
  response: z
    .strictObject({ merge_type: z.enum(['fast-forward', 'merge', 'up-to-date']) })
    .meta({ id: 'MergeUpstreamResult' }),
  async run({ viewer, found: { canonical }, body, deps }) {
    const { branch, ff_only } = body;
    const options = { branch, merge: ff_only !== true };
    const synced = await deps.repositories.forks.sync(viewer, canonical.owner, canonical.name, options);
    const { oldId, newId, isMerge } = synced;
    const moved = isMerge ? ('merge' as const) : ('fast-forward' as const);
    return json({ merge_type: oldId === newId ? ('up-to-date' as const) : moved });
  },
});
