import { z } from 'zod';
import { json } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { isoTime, isoTimeOrNull } from '../shapes/payloads.ts';

const linkedAccount = z
  .strictObject({
    id: z.string(),
    issuer: z.string(),
    subject: z.string(),
    label: z.string().describe('Account name at the provider; can be empty'),
    createdAt: z.iso.datetime(),
    lastUsedAt: z.iso.datetime().nullable(),
  })
  .meta({ id: 'LinkedAccount' });

export const listLinkedAccounts = operation({
  id: 'listLinkedAccounts',
  method: 'GET',
  path: '/user/linked-accounts',
  tag: 'Users',
  summary: 'List the caller’s linked OpenID Connect accounts',
  access: 'account:read',
  cost: 'rows',
  status: 200,
  response: z.array(linkedAccount),
  async run({ viewer, deps }) {
    const identities = await deps.accounts.listIdentities(viewer.id);
    return json(
      identities.map(({ createdAt, lastUsedAt, ...identity }) => ({
        ...identity,
        createdAt: isoTime(createdAt),
        lastUsedAt: isoTimeOrNull(lastUsedAt),
      })),
    );
  },
});
