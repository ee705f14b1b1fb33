import { z } from 'zod';
import { created, json, noContent } from '../responses.ts';
import { operation } from '../operation.ts';
import { gpgKey, publicSshKey } from './schemas.ts';
import { showGpgKey } from './payloads.ts';

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
  run: async ({ viewer, deps }) => json((await deps.signing.listGpgKeys(viewer.id)).map(showGpgKey)),
});

export const addGpgKey = operation({
  id: 'addGpgKey',
  method: 'POST',
  path: '/user/gpg_keys',
  tag: 'Users',
  summary: 'Add an OpenPGP key, or replace its stored copy',
  description:
    'Commits that it signs are shown as verified when a user id of the key is a verified address of the caller.',
  access: 'account:admin',
  cost: 'rows',
  status: 201,
  refuses: [404, 409],
  body: z.strictObject({ armored_public_key: z.string().describe('What "gpg --armor --export" prints') }),
  response: gpgKey,
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
    await deps.signing.removeGpgKey(viewer.id, params.id);
    return noContent();
  },
});

export const listGpgKeysOfUser = operation({
  id: 'listGpgKeysOfUser',
  method: 'GET',
  path: '/users/{username}/gpg_keys',
  tag: 'Users',
  summary: 'List the OpenPGP keys of a person, newest first',
  access: 'anyone',
  cost: 'rows',
  status: 200,
  refuses: [404],
  response: z.array(gpgKey),
  async run({ params, deps }) {
    const person = await deps.accounts.activePerson(params.username);
    return json((await deps.signing.listGpgKeys(person.id)).map(showGpgKey));
  },
});

export const listKeysOfUser = operation({
  id: 'listKeysOfUser',
  method: 'GET',
  path: '/users/{username}/keys',
  tag: 'Users',
  summary: 'List the SSH keys with which a person signs in, oldest first',
  access: 'anyone',
  cost: 'rows',
  status: 200,
  refuses: [404],
  response: z.array(publicSshKey),
  async run({ params, deps }) {
    const person = await deps.accounts.activePerson(params.username);
    return json((await deps.accounts.publicKeyLines(person.id)).map((key) => ({ key })));
  },
});
