import { z } from 'zod';
import { json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { olderRepositories } from '../shapes/older-forms.ts';
import { repository } from '../shapes/schemas.ts';
import { showListed } from '../shapes/show-repositories.ts';

const at = '/repos/{owner}/{name}/pin';

export const listPins = operation({
  id: 'listPins',
  method: 'GET',
  path: '/user/pins',
  tag: 'Pins',
  summary: 'List the caller’s pinned repositories in order',
  access: 'token:read',
  cost: 'rows',
  status: 200,
  response: z.array(repository),
  older: olderRepositories,
  run: async ({ viewer, deps, origin }) =>
    json(await showListed(await deps.repositories.pins.list(viewer), viewer, { origin, deps })),
});

export const pinRepository = operation({
  id: 'pinRepository',
  method: 'PUT',
  path: at,
  tag: 'Pins',
  summary: 'Pin a repository after the existing pins',
  access: 'repository:read',
  scope: 'write',
  cost: 'rows',
  status: 204,
  async run({ viewer, found: { canonical }, deps }) {
    await deps.repositories.pins.add(viewer, canonical.owner, canonical.name);
    return noContent();
  },
});

export const unpinRepository = operation({
  id: 'unpinRepository',
  method: 'DELETE',
  path: at,
  tag: 'Pins',
  summary: 'Unpin a repository',
  access: 'repository:read',
  scope: 'write',
  cost: 'rows',
  status: 204,
  async run({ viewer, found: { canonical }, deps }) {
    await deps.repositories.pins.remove(viewer, canonical.owner, canonical.name);
    return noContent();
  },
});

export const movePin = operation({
  id: 'movePin',
  method: 'POST',
  path: `${at}/move`,
  tag: 'Pins',
  summary: 'Swap a pin with its neighbour',
  access: 'repository:read',
  scope: 'write',
  cost: 'rows',
  status: 204,
  body: z.strictObject({ direction: z.enum(['up', 'down']) }),
  async run({ viewer, found: { canonical }, body, deps }) {
    await deps.repositories.pins.move(viewer, canonical.owner, canonical.name, body.direction);
    return noContent();
  },
});
