import { z } from 'zod';
import { conflict, notFound } from '../../../kernel/index.ts';
import type { QueuePosition } from '../../../pulls/index.ts';
import { json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { repositoryAt, usersById } from '../shapes/issues-parts.ts';
import { textBytes } from '../issues/issues.ts';
import { styles } from './merge.ts';
import { onePullAt, pullAt, pullsAt } from './parts.ts';
import { pullQueueEntry, pullQueuePlace } from '../shapes/pulls-schemas.ts';
import { isoTime } from '../shapes/payloads.ts';

const common = { tag: 'Pull requests', access: 'repository:read' } as const;
const write = { ...common, cost: 'objects', scope: 'write' } as const;

type User = Awaited<ReturnType<typeof usersById>>;

const show = (place: QueuePosition, user: User): z.output<typeof pullQueuePlace> => ({
  number: place.number,
  title: place.title,
  base: place.baseBranch,
  state: place.state === 'TESTING' ? 'testing' : 'waiting',
  place: place.place,
  length: place.length,
  round: place.round,
  user: place.addedBy === null ? null : user(place.addedBy),
  added_at: isoTime(place.addedAt),
  candidate_sha: place.candidateOid,
  tested_since: place.testedSince === null ? null : isoTime(place.testedSince),
});

export const listPullQueue = operation({
  ...common,
  method: 'GET',
  status: 200,
  cost: 'rows',
  id: 'listPullQueue',
  path: `${pullsAt}/queue`,
  summary: 'List a repository’s merge queues by branch, in merge order',
  response: z.array(pullQueuePlace),
  async run({ viewer, found, deps, origin }) {
    const places = await deps.pulls.queue.list(viewer, repositoryAt(found));
    const user = await usersById(
      deps,
      places.map(({ addedBy }) => addedBy),
      origin,
    );
    return json(places.map((place) => show(place, user)));
  },
});

export const getPullInQueue = operation({
  ...common,
  method: 'GET',
  status: 200,
  cost: 'rows',
  id: 'getPullInQueue',
  path: `${onePullAt}/queue`,
  summary: 'Get a pull request’s position in the merge queue (404 if it is not queued)',
  response: pullQueuePlace,
  async run({ viewer, found, params, deps, origin }) {
    const place = await deps.pulls.queue.placeOf(viewer, pullAt(found, params.number));
    if (place === null) throw notFound('queue_place_not_found', 'This pull request is not in the merge queue.');
    return json(show(place, await usersById(deps, [place.addedBy], origin)));
  },
});

export const addPullToQueue = operation({
  ...write,
  method: 'POST',
  status: 204,
  id: 'addPullToQueue',
  path: `${onePullAt}/queue`,
  summary: 'Add a pull request to the merge queue of its base branch',
  description: 'If requirements other than the queue’s test are not met, returns merge_blocked.',
  refuses: [409],
  maxJsonBytes: textBytes,
  body: pullQueueEntry,
  async run({ viewer, found, params, body, deps }) {
    const at = pullAt(found, params.number);
    const { pull } = await deps.pulls.find(viewer, at);
    if (body.head_commit_id && body.head_commit_id !== pull.headOid)
      throw conflict('head_changed', 'The head has changed. Review it first.');
    await deps.pulls.queue.enter(viewer, at, {
      style: styles[body.Do ?? 'merge'],
      round: pull.lastRound,
      title: body.MergeTitleField || undefined,
      body: body.MergeMessageField ?? undefined,
    });
    return noContent();
  },
});

export const removePullFromQueue = operation({
  ...write,
  method: 'DELETE',
  status: 204,
  id: 'removePullFromQueue',
  path: `${onePullAt}/queue`,
  summary: 'Remove a pull request from the merge queue',
  refuses: [409],
  async run({ viewer, found, params, deps }) {
    await deps.pulls.queue.leave(viewer, pullAt(found, params.number));
    return noContent();
  },
});

export const putPullFirst = operation({
  ...write,
  method: 'POST',
  status: 204,
  id: 'putPullFirst',
  path: `${onePullAt}/queue/first`,
  summary: 'Move a pull request to the front of the merge queue',
  description: 'Requires administrator access to the repository. A test in progress is not interrupted.',
  refuses: [409],
  async run({ viewer, found, params, deps }) {
    await deps.pulls.queue.moveToFront(viewer, pullAt(found, params.number));
    return noContent();
  },
});
