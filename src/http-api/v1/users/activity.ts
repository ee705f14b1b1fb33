import { z } from 'zod';
import type { ActivityPush, LostTip } from '../../../repositories/index.ts';
import { json, listed } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { activityPush, lostTip, movedRef, paging, undoRequest } from '../shapes/schemas.ts';
import { isoTime, isoTimeOrNull } from '../shapes/payloads.ts';

const at = '/repos/{owner}/{name}';

const showPush = ({
  id,
  via,
  person,
  deployKey,
  at: when,
  updates,
  updateCount,
}: ActivityPush): z.output<typeof activityPush> => ({
  id,
  via,
  person: person?.username ?? null,
  deployKey,
  at: isoTime(when),
  updates: updates.map(({ ref, oldId, newId, forced, position, restorableUntil }) => ({
    ref,
    oldId,
    newId,
    forced,
    lostTip: restorableUntil === null ? null : `${id}.${position}`,
    restorableUntil: isoTimeOrNull(restorableUntil),
  })),
  updateCount,
});

const showTip = ({
  id,
  ref,
  oldId,
  newId,
  forced,
  current,
  person,
  lostAt,
  expiresAt,
}: LostTip): z.output<typeof lostTip> => ({
  id,
  ref,
  oldId,
  newId,
  forced,
  current,
  person: person?.username ?? null,
  lostAt: isoTime(lostAt),
  expiresAt: isoTime(expiresAt),
});

export const listActivity = operation({
  id: 'listActivity',
  method: 'GET',
  path: `${at}/activity`,
  tag: 'Pushes',
  summary: 'List the pushes of the last thirty days, newest first',
  access: 'repository:read',
  cost: 'rows',
  status: 200,
  isPaged: true,
  query: z.object(paging),
  response: z.array(activityPush),
  async run({ found, query, deps }) {
    const { pushes, next } = await deps.repositories.pushes.listActivity(found, query);
    return listed(pushes.map(showPush), next);
  },
});

export const listLostTips = operation({
  id: 'listLostTips',
  method: 'GET',
  path: `${at}/lost-tips`,
  tag: 'Pushes',
  summary: 'List commits that forced pushes and deletions removed from refs',
  access: 'repository:write',
  cost: 'objects',
  status: 200,
  response: z.array(lostTip),
  run: async ({ found, deps }) => json((await deps.repositories.pushes.listLostTips(found)).map(showTip)),
});

export const restoreLostTip = operation({
  id: 'restoreLostTip',
  method: 'POST',
  path: `${at}/lost-tips/{tip}/restore`,
  tag: 'Pushes',
  summary: 'Restore a ref to a removed commit, or create a branch from it',
  description: 'The change is a separate push with the usual notifications.',
  access: 'repository:write',
  cost: 'objects',
  status: 200,
  refuses: [409],
  body: undoRequest,
  response: movedRef,
  async run({ viewer, found: { canonical }, params: { tip }, body, deps }) {
    const undone = await deps.repositories.pushes.undo(viewer, canonical.owner, canonical.name, { id: tip, ...body });
    return json({ ref: undone.ref, oldId: undone.oldId, newId: undone.newId });
  },
});
