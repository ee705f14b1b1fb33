import { z } from 'zod';
import { sshKeyUses } from '../../accounts/index.ts';
import { created, json, noContent } from '../responses.ts';
import { operation } from '../operation.ts';
import { sshKey } from './schemas.ts';
import { showKey } from './payloads.ts';

export const listKeys = operation({
  id: 'listKeys',
  method: 'GET',
  path: '/user/keys',
  tag: 'Users',
  summary: 'List the caller’s SSH keys, newest first',
  access: 'account:read',
  cost: 'rows',
  status: 200,
  response: z.array(sshKey),
  run: async ({ viewer, deps }) => json((await deps.accounts.listKeys(viewer.id)).map(showKey)),
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
  body: z.strictObject({
    title: z.string().optional().describe('Left out: the comment of the key'),
    key: z.string().describe('A whole line of a .pub file'),
    uses: z.enum(sshKeyUses).optional().describe('What it is for; left out, both'),
  }),
  response: sshKey,
  async run({ viewer, body: { title, key, uses }, deps }) {
    return created(
      showKey(
        await deps.accounts.addKey(viewer.id, {
          line: key,
          ...(title !== undefined && { title }),
          ...(uses !== undefined && { uses }),
        }),
      ),
    );
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
    await deps.accounts.removeKey(viewer.id, params.id);
    return noContent();
  },
});
