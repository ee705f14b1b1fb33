import { z } from 'zod';
import type { KeptCopy } from '../../../copies/index.ts';
import { created, json, listed, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { readPageInTurn } from '../shapes/issues-parts.ts';
import { numberedPaging } from '../shapes/issues-schemas.ts';
import { isoTime, isoTimeOrNull } from '../shapes/payloads.ts';
import { time } from '../shapes/schemas.ts';

const common = { tag: 'Follows' } as const;
const at = '/user/copies';

const keptCopy = z
  .strictObject({
    id: z.string().describe('ID of the repository that is the copy'),
    repository: z
      .strictObject({ owner: z.string(), name: z.string() })
      .nullable()
      .describe('Null while the copy is in the trash'),
    actor: z.string().describe('ActivityPub actor of the origin'),
    handle: z.string().describe('`owner/name@host` of the origin'),
    url: z.string().nullable().describe('URL of the origin’s page'),
    state: z
      .enum(['waiting', 'current', 'unreachable', 'full', 'ending', 'paused'])
      .describe(
        'In order: waiting for the first transfer; equal to the origin at the last check; origin not readable; limit reached; unfollowed; paused manually',
      ),
    unreachableSince: time.nullable(),
    error: z.string().nullable(),
    completeTo: z.string().nullable().describe('Commit of the default branch up to which the copy is complete'),
    lastOkAt: time.nullable(),
    size: z.int().describe('Git data size in bytes'),
    createdAt: time,
    endsAt: time.nullable().describe('Time at which the copy is removed after unfollowing'),
  })
  .meta({ id: 'KeptCopy' });

const showCopy = (copy: KeptCopy): z.infer<typeof keptCopy> => ({
  id: copy.repositoryId,
  repository: copy.place,
  actor: copy.actorId,
  handle: copy.handle,
  url: copy.url,
  state: copy.state,
  unreachableSince: isoTimeOrNull(copy.since),
  error: copy.error,
  completeTo: copy.completeTo,
  lastOkAt: isoTimeOrNull(copy.lastOkAt),
  size: copy.sizeBytes,
  createdAt: isoTime(copy.createdAt),
  endsAt: isoTimeOrNull(copy.endsAt),
});

export const copyOperations = [
  operation({
    ...common,
    id: 'listCopies',
    method: 'GET',
    path: at,
    summary: 'List the caller’s copies of followed repositories, oldest first',
    access: 'account:read',
    cost: 'rows',
    status: 200,
    isPaged: true,
    refuses: [422],
    query: z.object(numberedPaging),
    response: z.array(keptCopy),
    async run({ viewer, query, deps }) {
      const { rows, next } = await readPageInTurn(query, (after, limit) =>
        deps.copies.list({ userId: viewer.id, after, limit }),
      );
      return listed(rows.map(showCopy), next);
    },
  }),
  operation({
    ...common,
    id: 'keepCopy',
    method: 'POST',
    path: '/user/follows/{id}/copy',
    summary: 'Keep a copy of a followed repository',
    description:
      'Creates a public, read-only repository of the caller that follows the origin’s pushes and outlives the origin. It is removed some time after unfollowing. An existing copy is kept.',
    access: 'account:write',
    cost: 'signature',
    status: 201,
    refuses: [404, 409, 422],
    body: z.strictObject({
      name: z
        .string()
        .min(1)
        .max(100)
        .optional()
        .describe('Name of the copy; defaults to the origin’s name, with the host appended if the name is taken'),
    }),
    response: keptCopy,
    async run({ viewer, params, body, deps }) {
      const { copy } = await deps.copies.keep(viewer, viewer, params.id, body.name);
      return created(showCopy(copy), `${at}/${copy.repositoryId}`);
    },
  }),
  operation({
    ...common,
    id: 'getCopy',
    method: 'GET',
    path: `${at}/{id}`,
    summary: 'Get one of the caller’s copies',
    access: 'account:read',
    cost: 'rows',
    status: 200,
    refuses: [404],
    response: keptCopy,
    run: async ({ viewer, params, deps }) => json(showCopy(await deps.copies.find(viewer.id, params.id))),
  }),
  operation({
    ...common,
    id: 'dropCopy',
    method: 'DELETE',
    path: `${at}/{id}`,
    summary: 'Move one of the caller’s copies to the trash',
    access: 'account:write',
    cost: 'rows',
    status: 204,
    refuses: [404, 409],
    async run({ viewer, params, deps }) {
      await deps.copies.drop(viewer, viewer.id, params.id);
      return noContent();
    },
  }),
  operation({
    ...common,
    id: 'makeCopyOwn',
    method: 'POST',
    path: `${at}/{id}/own`,
    summary: 'Convert a copy to a regular repository that no longer follows its origin',
    access: 'account:write',
    cost: 'rows',
    status: 204,
    refuses: [404],
    async run({ viewer, params, deps }) {
      await deps.copies.makeOwn(viewer, viewer.id, params.id);
      return noContent();
    },
  }),
] as const;
