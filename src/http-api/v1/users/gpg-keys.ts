import { z } from 'zod';
import { created, json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { notFound } from '../../../kernel/index.ts';
import type { GpgKey } from '../../../signing/index.ts';
import { rowNamed } from '../shapes/ids.ts';
import { olderKey, olderKeys } from '../shapes/older-forms.ts';
import { gpgKey } from '../shapes/schemas.ts';
import { showGpgKey } from '../shapes/payloads.ts';

/** Throws `unknown_gpg_key`. */
function keyNamed(keys: readonly GpgKey[], id: string): GpgKey {
  const found = rowNamed(keys, id);
  if (found === undefined) throw notFound('unknown_gpg_key', 'There is no such key.');
  return found;
}

export const getGpgKey = operation({
  id: 'getGpgKey',
  method: 'GET',
  path: '/user/gpg_keys/{id}',
  tag: 'Users',
  summary: 'Get one of the caller’s OpenPGP keys',
  access: 'account:read',
  cost: 'rows',
  status: 200,
  refuses: [404],
  response: gpgKey,
  older: olderKey,
  run: async ({ viewer, params, deps }) =>
    json(showGpgKey(keyNamed(await deps.signing.listGpgKeys(viewer.id), params.id))),
});

export const listGpgKeys = operation({
  id: 'listGpgKeys',
  method: 'GET',
  path: '/user/gpg_keys',
  tag: 'Users',
  summary: 'List the caller’s OpenPGP keys, newest first',
  access: 'account:read',
  cost: 'rows',
  status: 200,
  response: z.array(gpgKey),
  older: olderKeys,
  run: async ({ viewer, deps }) => json((await deps.signing.listGpgKeys(viewer.id)).map(showGpgKey)),
});

export const addGpgKey = operation({
  id: 'addGpgKey',
  method: 'POST',
  path: '/user/gpg_keys',
  tag: 'Users',
  summary: 'Add an OpenPGP key, or replace its stored copy',
  description:
    'Commits signed with it are shown as verified if one of the key’s user IDs is a verified address of the caller.',
  access: 'account:admin',
  cost: 'rows',
  status: 201,
  refuses: [404, 409],
  body: z.object({
    armored_public_key: z.string().describe('Output of "gpg --armor --export"'),
    armored_signature: z.string().optional().describe('Has no effect: the caller’s addresses are already verified'),
  }),
  response: gpgKey,
  older: olderKey,
  async run({ viewer, body, deps }) {
    return created(showGpgKey((await deps.signing.addGpgKey(viewer.id, body.armored_public_key)).key));
  },
});

export const removeGpgKey = operation({
  id: 'removeGpgKey',
  method: 'DELETE',
  path: '/user/gpg_keys/{id}',
  tag: 'Users',
  summary: 'Remove an OpenPGP key',
  access: 'account:admin',
  cost: 'rows',
  status: 204,
  refuses: [404],
  async run({ viewer, params, deps }) {
    const keys = await deps.signing.listGpgKeys(viewer.id);
    await deps.signing.removeGpgKey(viewer.id, keyNamed(keys, params.id).id);
    return noContent();
  },
});

export const listGpgKeysOfUser = operation({
  id: 'listGpgKeysOfUser',
  method: 'GET',
  path: '/users/{username}/gpg_keys',
  tag: 'Users',
  summary: 'List a user’s OpenPGP keys, newest first',
  access: 'anyone',
  cost: 'rows',
  status: 200,
  refuses: [404],
  response: z.array(gpgKey),
  older: olderKeys,
  async run({ params, deps }) {
    const person = await deps.accounts.activePerson(params.username);
    return json((await deps.signing.listGpgKeys(person.id)).map(showGpgKey));
  },
});
