import { z } from 'zod';
import { created, json, nothing } from '../answer.ts';
import { operation } from '../operation.ts';
import type { WebRooms } from '../../rooms.ts';
import type { Found } from '../../../repositories/index.ts';
import type { PersonViewer } from '../../../access/index.ts';
import { collaborator, collaboratorRole } from './schemas.ts';
import { showCollaborator } from './show.ts';

const at = '/repos/{owner}/{name}/collaborators';

const listOf = ({ repositories }: WebRooms, viewer: PersonViewer, { canonical }: Found) =>
  repositories.listCollaborators(viewer, canonical.owner, canonical.name);

export const listCollaborators = operation({
  id: 'listCollaborators',
  method: 'GET',
  path: at,
  tag: 'Collaborators',
  summary: 'List collaborators by handle',
  access: 'repository:admin',
  cost: 'rows',
  status: 200,
  answer: z.array(collaborator),
  run: async ({ viewer, found, rooms }) => json((await listOf(rooms, viewer, found)).map(showCollaborator)),
});

export const addCollaborator = operation({
  id: 'addCollaborator',
  method: 'POST',
  path: at,
  tag: 'Collaborators',
  summary: 'Let a person work on a repository',
  access: 'repository:admin',
  cost: 'rows',
  status: 201,
  refuses: [409],
  body: z.strictObject({ username: z.string(), role: collaboratorRole }),
  answer: collaborator,
  async run({ viewer, found, body, rooms }) {
    const { owner, name } = found.canonical;
    await rooms.repositories.addCollaborator(viewer, owner, name, body);
    const wanted = (await rooms.owners.resolve(body.username.trim()))?.id;
    const added = (await listOf(rooms, viewer, found)).find(({ person }) => person.id === wanted)!;
    return created(showCollaborator(added));
  },
});

export const changeCollaborator = operation({
  id: 'changeCollaborator',
  method: 'PATCH',
  path: `${at}/{username}`,
  tag: 'Collaborators',
  summary: 'Give a collaborator another role',
  access: 'repository:admin',
  cost: 'rows',
  status: 204,
  body: z.strictObject({ role: collaboratorRole }),
  async run({ viewer, found: { canonical }, params: { username }, body: { role }, rooms }) {
    await rooms.repositories.changeCollaboratorRole(viewer, canonical.owner, canonical.name, { username, role });
    return nothing();
  },
});

export const removeCollaborator = operation({
  id: 'removeCollaborator',
  method: 'DELETE',
  path: `${at}/{username}`,
  tag: 'Collaborators',
  summary: 'End a collaboration',
  access: 'repository:admin',
  cost: 'rows',
  status: 204,
  async run({ viewer, found: { canonical }, params: { username }, rooms }) {
    await rooms.repositories.removeCollaborator(viewer, canonical.owner, canonical.name, username);
    return nothing();
  },
});
