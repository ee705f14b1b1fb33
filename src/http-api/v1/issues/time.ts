import { z } from 'zod';
import type { Viewer } from '../../../access/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { notFound } from '../../../kernel/index.ts';
import { created, json, listed, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import {
  issueAt,
  oneIssueAt,
  readPage,
  repositoryAt,
  showIssues,
  signedIn,
  timeIn,
  usersById,
} from '../shapes/issues-parts.ts';
import { issue, numberedPaging } from '../shapes/issues-schemas.ts';
import { isoTime } from '../shapes/payloads.ts';
import { numericId } from '../../../gitea-shapes/index.ts';

/** Tracked time on issues, and stopwatches, in Gitea's form. */
const common = { tag: 'Issues', cost: 'rows' } as const;
const write = { ...common, access: 'repository:read', scope: 'write' } as const;
const timesAt = `${oneIssueAt}/times` as const;

const trackedTime = z
  .strictObject({
    id: z.int(),
    created: z.iso.datetime(),
    time: z.int().describe('Time in seconds'),
    user_id: z.int(),
    user_name: z.string(),
    issue_id: z.int(),
    issue: issue.nullable(),
  })
  .meta({ id: 'TrackedTime' });

type Row = Awaited<ReturnType<WebDeps['issues']['times']['list']>>['rows'][number];

interface Place {
  viewer: Viewer;
  deps: WebDeps;
  origin: string;
}

async function showTimes({ viewer, deps, origin }: Place, rows: readonly Row[]) {
  const issues = await deps.issues.findReadable(viewer, [...new Set(rows.map(({ issueId }) => issueId))]);
  const places = await deps.repositories.locate(issues.map(({ repositoryId }) => repositoryId));
  const located = issues.filter(({ repositoryId }) => places.has(repositoryId));
  const shown = await showIssues(deps, located, (at) => {
    const { repository, owner } = places.get(located[at]!.repositoryId)!;
    return { origin, owner: owner.handle, repository };
  });
  const byId = new Map(located.map(({ id }, at) => [id, shown[at]!]));
  const user = await usersById(
    deps,
    rows.map(({ userId }) => userId),
    origin,
  );
  return rows.flatMap((row) => {
    const of = byId.get(row.issueId);
    if (of === undefined) return [];
    return [
      {
        id: row.id,
        created: isoTime(row.createdAt),
        time: row.seconds,
        user_id: row.userId === null ? -1 : numericId(row.userId),
        user_name: (row.userId === null ? row.userName : null) ?? user(row.userId).login,
        issue_id: of.id,
        issue: of,
      },
    ];
  });
}

const filters = {
  since: z.string().max(40).optional().describe('Only time spent at or after this time'),
  before: z.string().max(40).optional().describe('Only time spent before this time'),
};

async function list(
  call: Place,
  where: Parameters<WebDeps['issues']['times']['list']>[1],
  query: { user?: string | undefined; since?: string | undefined; before?: string | undefined } & z.output<
    z.ZodObject<typeof numberedPaging>
  >,
) {
  const person = query.user ? await call.deps.accounts.personByUsername(query.user) : null;
  const filter = {
    userId: person?.id ?? null,
    since: timeIn(query.since, 'since') ?? null,
    before: timeIn(query.before, 'before') ?? null,
  };
  const { rows, next } = await readPage(query, (paging) =>
    call.deps.issues.times.list(call.viewer, where, filter, paging),
  );
  return listed(await showTimes(call, rows), next);
}

const stopwatch = z
  .strictObject({
    created: z.iso.datetime(),
    seconds: z.int(),
    duration: z.string(),
    issue_index: z.int(),
    issue_title: z.string(),
    repo_owner_name: z.string(),
    repo_name: z.string(),
  })
  .meta({ id: 'StopWatch' });

const watch = (act: 'start' | 'stop' | 'delete', method: 'POST' | 'DELETE', summary: string) =>
  operation({
    ...write,
    id: `${act}Stopwatch`,
    method,
    path: `${oneIssueAt}/stopwatch/${act}` as `${typeof oneIssueAt}/stopwatch/start`,
    summary,
    ...(act === 'start'
      ? { description: 'A stopwatch running on another issue is stopped, and its time is recorded.' }
      : {}),
    status: act === 'delete' ? 204 : 201,
    refuses: [409],
    async run({ viewer, found, params, deps }) {
      await deps.issues.times.watch(viewer, issueAt(found, params.number), act);
      return noContent();
    },
  });

export const issueTimeOperations = [
  operation({
    ...common,
    id: 'listIssueTimes',
    method: 'GET',
    path: timesAt,
    summary: 'List the time spent on an issue, oldest first',
    description: 'Users with write access see all entries, others only their own.',
    access: 'repository:read',
    scope: 'read',
    status: 200,
    refuses: [404],
    isPaged: true,
    query: z.object({ user: z.string().max(100).optional(), ...filters, ...numberedPaging }),
    response: z.array(trackedTime),
    run: (call) => list(call, { issue: issueAt(call.found, call.params.number) }, call.query),
  }),
  operation({
    ...write,
    id: 'addIssueTime',
    method: 'POST',
    path: timesAt,
    summary: 'Add time spent on an issue',
    description: 'Requires write access; adding time for another user requires administrator access to the repository.',
    status: 200,
    refuses: [404],
    body: z.object({
      time: z.int().describe('Time in seconds'),
      user_name: z.string().optional(),
      created: z.string().max(40).nullish(),
    }),
    response: trackedTime,
    async run(call) {
      const { viewer, found, params, body, deps } = call;
      const userId = body.user_name ? (await deps.accounts.activePerson(body.user_name)).id : undefined;
      const at = issueAt(found, params.number);
      const createdAt = timeIn(body.created ?? undefined, 'created');
      const row = await deps.issues.times.add(viewer, at, { seconds: body.time, userId, createdAt });
      return created((await showTimes(call, [row]))[0]!);
    },
  }),
  operation({
    ...write,
    id: 'resetIssueTimes',
    method: 'DELETE',
    path: timesAt,
    summary: 'Delete all of the caller’s time entries on an issue',
    status: 204,
    refuses: [404],
    async run({ viewer, found, params, deps }) {
      await deps.issues.times.reset(viewer, issueAt(found, params.number));
      return noContent();
    },
  }),
  operation({
    ...write,
    id: 'deleteIssueTime',
    method: 'DELETE',
    path: `${timesAt}/{id}`,
    summary: 'Delete a time entry of an issue; repository administrators can delete entries of all users',
    status: 204,
    refuses: [404],
    async run({ viewer, found, params, deps }) {
      if (!/^\d{1,15}$/.test(params.id)) throw notFound('time_not_found', 'There is no such time.');
      await deps.issues.times.remove(viewer, issueAt(found, params.number), Number(params.id));
      return noContent();
    },
  }),
  operation({
    ...common,
    id: 'listRepositoryTimes',
    method: 'GET',
    path: '/repos/{owner}/{name}/times',
    summary: 'List the time spent on a repository’s issues, oldest first',
    description: 'Users with write access see all entries, others only their own.',
    access: 'repository:read',
    scope: 'read',
    status: 200,
    refuses: [404],
    isPaged: true,
    query: z.object({ user: z.string().max(100).optional(), ...filters, ...numberedPaging }),
    response: z.array(trackedTime),
    run: (call) => list(call, { repository: repositoryAt(call.found) }, call.query),
  }),
  operation({
    ...common,
    id: 'listTimesOfUser',
    method: 'GET',
    path: '/repos/{owner}/{name}/times/{username}',
    summary: 'List the time that a user spent on a repository’s issues',
    description: 'Users with write access see all entries, others only their own.',
    access: 'repository:read',
    scope: 'read',
    status: 200,
    refuses: [404],
    isPaged: true,
    query: z.object(numberedPaging),
    response: z.array(trackedTime),
    run: (call) => list(call, { repository: repositoryAt(call.found) }, { ...call.query, user: call.params.username }),
  }),
  operation({
    ...common,
    id: 'listOwnTimes',
    method: 'GET',
    path: '/user/times',
    summary: 'List the caller’s time entries on readable issues, oldest first',
    access: 'token:read',
    status: 200,
    isPaged: true,
    query: z.object({ ...filters, ...numberedPaging }),
    response: z.array(trackedTime),
    run: (call) => list(call, 'own', call.query),
  }),
  watch('start', 'POST', 'Start the caller’s stopwatch on an issue'),
  watch('stop', 'POST', 'Stop the caller’s stopwatch on an issue and add its time'),
  watch('delete', 'DELETE', 'Discard the caller’s stopwatch on an issue'),
  operation({
    ...common,
    id: 'listStopwatches',
    method: 'GET',
    path: '/user/stopwatches',
    summary: 'List the caller’s running stopwatches',
    access: 'token:read',
    status: 200,
    response: z.array(stopwatch),
    async run({ viewer, deps }) {
      const watches = await deps.issues.times.watches(signedIn(viewer));
      const issues = await deps.issues.findReadable(
        viewer,
        watches.map(({ issueId }) => issueId),
      );
      const places = await deps.repositories.locate(issues.map(({ repositoryId }) => repositoryId));
      return json(
        watches.flatMap(({ issueId, createdAt }) => {
          const of = issues.find(({ id }) => id === issueId);
          const place = of && places.get(of.repositoryId);
          if (of === undefined || place === undefined) return [];
          const seconds = Math.max(0, Math.round((deps.clock.now() - createdAt) / 1000));
          return [
            {
              created: isoTime(createdAt),
              seconds,
              duration: `${Math.floor(seconds / 3600)}h${Math.floor((seconds % 3600) / 60)}m${seconds % 60}s`,
              issue_index: of.number,
              issue_title: of.title,
              repo_owner_name: place.owner.handle,
              repo_name: place.repository.name,
            },
          ];
        }),
      );
    },
  }),
];
