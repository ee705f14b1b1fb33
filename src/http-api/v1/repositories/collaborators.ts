import { z } from 'zod';
import { created, listed, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import type { WebDeps } from '../../../web/index.ts';
import type { Found } from '../../../repositories/index.ts';
import type { PeopleOptions } from '../../../accounts/index.ts';
import type { PersonViewer } from '../../../access/index.ts';
import { collaborator, collaboratorRole, paging } from '../shapes/schemas.ts';
import { showCollaborator } from '../shapes/payloads.ts';

const at = '/repos/{owner}/{name}/collaborators';

const pageOf = (
  { repositories }: Pick<WebDeps, 'repositories'>,
  viewer: PersonViewer,
  { canonical }: Found,
  options: PeopleOptions,
) => repositories.collaborators.listPage(viewer, canonical.owner, canonical.name, options);

export const listCollaborators = operation({
  id: 'listCollaborators',
  method: 'GET',
  path: at,
  tag: 'Collaborators',
  summary: 'List collaborators, ordered by username',
  access: 'repository:admin',
  cost: 'rows',
  status: 200,
  isPaged: true,
  query: z.object(paging),
  response: z.array(collaborator),
  async run({ viewer, found, query: { limit, after }, deps, origin }) {
    const page = await pageOf(deps, viewer, found, { limit, after: after ?? null });
    return listed(
      page.collaborators.map((each) => showCollaborator(each, origin)),
      page.next,
      page.total,
    );
  },
});

export const addCollaborator = operation({
  id: 'addCollaborator',
  method: 'POST',
  path: at,
  tag: 'Collaborators',
  summary: 'Add a collaborator',
  access: 'repository:admin',
  cost: 'rows',
  status: 201,
  refuses: [409],
  refusesUnknownKeys: true,
  body: z.strictObject({ username: z.string(), role: collaboratorRole }),
  response: collaborator,
  async run({ viewer, found, body, deps, origin }) {
    const { owner, name } = found.canonical;
    await deps.repositories.collaborators.add(viewer, owner, name, body);
    const { handle = '' } = (await deps.owners.resolve(body.username.trim())) ?? {};
    // The exact handle sorts before others with this prefix.
    const { collaborators } = await pageOf(deps, viewer, found, { prefix: handle, limit: 1 });
    return created(showCollaborator(collaborators[0]!, origin));
  },
});

export const changeCollaborator = operation({
  id: 'changeCollaborator',
  method: 'PATCH',
  path: `${at}/{username}`,
  tag: 'Collaborators',
  summary: 'Change the role of a collaborator',
  access: 'repository:admin',
  cost: 'rows',
  status: 204,
  refusesUnknownKeys: true,
  body: z.strictObject({ role: collaboratorRole }),
  async run({ viewer, found: { canonical }, params: { username }, body: { role }, deps }) {
    await deps.repositories.collaborators.changeRole(viewer, canonical.owner, canonical.name, { username, role });
    return noContent();
  },
});

export const removeCollaborator = operation({
  id: 'removeCollaborator',
  method: 'DELETE',
  path: `${at}/{username}`,
  tag: 'Collaborators',
  summary: 'Remove a collaborator',
  access: 'repository:admin',
  cost: 'rows',
  status: 204,
  async run({ viewer, found: { canonical }, params: { username }, deps }) {
    await deps.repositories.collaborators.remove(viewer, canonical.owner, canonical.name, username);
    return noContent();
  },
});
