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

const fingerprint = z.string().max(200).optional().describe('Only the key with this');

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
  summary: 'Get an SSH key of the caller; as an administrator, by its number, of any user',
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
  description: 'A key that signs in opens the whole account over SSH, so this needs a token that may do everything.',
  access: 'account:admin',
  cost: 'rows',
  status: 201,
  refuses: [409],
  body: z.object({
    title: z.string().optional().describe('Left out: the comment of the key'),
    key: z.string().describe('A whole line of a .pub file'),
    read_only: z.literal(false).optional().describe('Keys of people write where they may'),
    uses: z.enum(sshKeyUses).optional().describe('What it is for; left out, both'),
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
  summary: 'List the SSH keys with which a user signs in, oldest first',
  description: 'Titles, and when a key was used, are told to its owner only.',
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
