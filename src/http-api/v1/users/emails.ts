import { z } from 'zod';
import { numericId } from '../../../gitea-shapes/index.ts';
import { notFound } from '../../../kernel/index.ts';
import { created, json, listed, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { email, paging } from '../shapes/schemas.ts';
import { showEmail } from '../shapes/payloads.ts';

const accountEmail = z.strictObject({ ...email.shape, user_id: z.int() }).meta({ id: 'AccountEmail' });
const emails = z.strictObject({ emails: z.array(z.string()).min(1).max(20) });

export const listEmails = operation({
  id: 'listEmails',
  method: 'GET',
  path: '/user/emails',
  tag: 'Users',
  summary: 'List the caller’s email addresses, primary address first',
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
  summary: 'Add email addresses',
  description:
    'New addresses are unverified. If the server can send email, it sends a verification link to each. A verified address can be used to sign in, so this requires ' +
    'a token with full access. Addresses before a rejected one are added.',
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
  summary: 'Remove email addresses',
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

/** Gitea's lists of the addresses of all accounts. */
const listing = (id: string, path: '/admin/emails' | '/admin/emails/search') =>
  operation({
    id,
    method: 'GET',
    path,
    tag: 'Administration',
    summary: 'List the verified email addresses of all accounts in alphabetical order',
    access: 'administrator',
    cost: 'rows',
    status: 200,
    isPaged: true,
    query: z.object({ ...paging, q: z.string().max(254).optional().describe('Only addresses that contain this text') }),
    response: z.array(accountEmail),
    async run({ query: { limit, after, q }, deps }) {
      const page = await deps.accounts.addresses.listVerified({ limit, after: after ?? null, contains: q ?? '' });
      const people = await deps.accounts.peopleById(page.rows.map(({ userId }) => userId));
      return listed(
        page.rows.map(({ userId, ...address }) => ({
          ...showEmail(address, people.get(userId)?.username ?? ''),
          user_id: numericId(userId),
        })),
        page.next,
      );
    },
  });

export const allEmailOperations = [
  listing('listAllEmails', '/admin/emails'),
  listing('searchAllEmails', '/admin/emails/search'),
];
