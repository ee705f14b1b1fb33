import { z } from 'zod';
import { sshKeyUses } from '../../../accounts/index.ts';
import type { Person, SshKey } from '../../../accounts/index.ts';
import { notFound } from '../../../kernel/index.ts';
import { created, json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { rowNamed } from '../shapes/ids.ts';
import { olderKey, olderKeys } from '../shapes/older-forms.ts';
import { sshKey } from '../shapes/schemas.ts';
import { showKey } from '../shapes/payloads.ts';

const showAll = (keys: readonly SshKey[], owner: Person, origin: string) =>
  keys.map((key) => showKey(key, owner, origin));

const keyNotFound = () => notFound('unknown_key', 'There is no such key.');

/** Throws `unknown_key`. */
function keyNamed(keys: readonly SshKey[], id: string): SshKey {
  const found = rowNamed(keys, id);
  if (found === undefined) throw keyNotFound();
  return found;
}

const fingerprint = z.string().max(200).optional().describe('Only the key with this fingerprint');

export const listKeys = operation({
  id: 'listKeys',
  method: 'GET',
  path: '/user/keys',
  tag: 'Users',
  summary: 'List the caller’s SSH keys, newest first',
  access: 'account:read',
  cost: 'rows',
  status: 200,
  query: z.object({ fingerprint }),
  response: z.array(sshKey),
  older: olderKeys,
  async run({ viewer, query, deps, origin }) {
    const keys = await deps.accounts.listKeys(viewer.id);
    const wanted = query.fingerprint ? keys.filter((key) => key.fingerprint === query.fingerprint) : keys;
    return json(showAll(wanted, await deps.accounts.personById(viewer.id), origin));
  },
});

export const getKey = operation({
  id: 'getKey',
  method: 'GET',
  path: '/user/keys/{id}',
  tag: 'Users',
  summary: 'Get one of the caller’s SSH keys; administrators can get any user’s key by number',
  access: 'account:read',
  cost: 'rows',
  status: 200,
  refuses: [404],
  response: sshKey,
  older: olderKey,
  async run({ viewer, params, deps, origin }) {
    const { accounts } = deps;
    const own = rowNamed(await accounts.listKeys(viewer.id), params.id);
    if (own !== undefined) return json(showKey(own, await accounts.personById(viewer.id), origin));
    const other =
      viewer.isAdministrator && /^\d{1,15}$/.test(params.id) ? await accounts.keyByNumber(Number(params.id)) : null;
    if (other === null) throw keyNotFound();
    return json(showKey(other, await accounts.personById(other.userId), origin));
  },
});

export const addKey = operation({
  id: 'addKey',
  method: 'POST',
  path: '/user/keys',
  tag: 'Users',
  summary: 'Add an SSH key',
  description:
    'A key for signing in gives access to the whole account over SSH, so this requires a token with full access.',
  access: 'account:admin',
  cost: 'rows',
  status: 201,
  refuses: [409],
  body: z.object({
    title: z.string().optional().describe('Defaults to the key’s comment'),
    key: z.string().describe('Complete line of a .pub file'),
    read_only: z.literal(false).optional().describe('Has no effect: a user’s key has the user’s own permissions'),
    uses: z.enum(sshKeyUses).optional().describe('Allowed uses; defaults to both'),
  }),
  response: sshKey,
  older: olderKey,
  async run({ viewer, body: { title, key, uses }, deps, origin }) {
    const added = await deps.accounts.addKey(viewer.id, {
      line: key,
      ...(title !== undefined && title !== '' && { title }),
      ...(uses !== undefined && { uses }),
    });
    return created(showKey(added, await deps.accounts.personById(viewer.id), origin));
  },
});

export const removeKey = operation({
  id: 'removeKey',
  method: 'DELETE',
  path: '/user/keys/{id}',
  tag: 'Users',
  summary: 'Remove an SSH key',
  access: 'account:admin',
  cost: 'rows',
  status: 204,
  refuses: [404],
  async run({ viewer, params, deps }) {
    await deps.accounts.removeKey(viewer.id, keyNamed(await deps.accounts.listKeys(viewer.id), params.id).id);
    return noContent();
  },
});

export const listKeysOfUser = operation({
  id: 'listKeysOfUser',
  method: 'GET',
  path: '/users/{username}/keys',
  tag: 'Users',
  summary: 'List a user’s SSH keys for signing in, oldest first',
  description: 'Only the owner sees titles and times of last use.',
  access: 'anyone',
  cost: 'rows',
  status: 200,
  refuses: [404],
  query: z.object({ fingerprint }),
  response: z.array(sshKey),
  async run({ viewer, params, query, deps, origin }) {
    const person = await deps.accounts.activePerson(params.username);
    const keys = (await deps.accounts.listKeys(person.id)).filter(({ uses }) => uses !== 'signing').reverse();
    const isOwn = viewer.kind === 'person' && viewer.id === person.id;
    const shown = isOwn ? keys : keys.map((key) => ({ ...key, title: '', lastUsedAt: null }));
    const wanted = query.fingerprint ? shown.filter((key) => key.fingerprint === query.fingerprint) : shown;
    return json(showAll(wanted, person, origin));
  },
});
