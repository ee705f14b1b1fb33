import { z } from 'zod';
import { notFound } from '../../kernel/index.ts';
import { created, json, noContent } from '../responses.ts';
import { operation } from '../operation.ts';
import { email } from './schemas.ts';
import { showEmail } from './payloads.ts';

const emails = z.strictObject({ emails: z.array(z.string()).min(1).max(20) });

export const listEmails = operation({
  id: 'listEmails',
  method: 'GET',
  path: '/user/emails',
  tag: 'Users',
  summary: 'List the caller’s e-mail addresses, the primary one first',
  access: 'account:read',
  cost: 'rows',
  status: 200,
  response: z.array(email),
  async run({ viewer, deps }) {
    const addresses = await deps.accounts.addresses.list(viewer.id);
    return json(addresses.map((address) => showEmail(address, viewer.username ?? '')));
  },
});

export const addEmails = operation({
  id: 'addEmails',
  method: 'POST',
  path: '/user/emails',
  tag: 'Users',
  summary: 'Add e-mail addresses',
  description:
    'They are not verified: a link is sent to each where the server sends mail. A verified one signs in, so this needs ' +
    'a token that may do everything. The addresses before a refused one are added.',
  access: 'account:admin',
  cost: 'rows',
  status: 201,
  refuses: [409],
  body: emails,
  response: z.array(email),
  async run({ viewer, body, deps }) {
    for (const address of body.emails) await deps.accounts.addresses.add(viewer.id, { address });
    const all = await deps.accounts.addresses.list(viewer.id);
    return created(all.map((address) => showEmail(address, viewer.username ?? '')));
  },
});

export const removeEmails = operation({
  id: 'removeEmails',
  method: 'DELETE',
  path: '/user/emails',
  tag: 'Users',
  summary: 'Remove e-mail addresses',
  access: 'account:admin',
  cost: 'rows',
  status: 204,
  refuses: [404],
  body: emails,
  async run({ viewer, body, deps }) {
    const { addresses } = deps.accounts;
    const known = await addresses.list(viewer.id);
    const found = body.emails.map((text) => known.find(({ address }) => address.toLowerCase() === text.toLowerCase()));
    if (found.includes(undefined)) throw notFound('unknown_address', 'There is no such address.');
    for (const address of new Set(found)) await addresses.remove(viewer.id, address!.id);
    return noContent();
  },
});
