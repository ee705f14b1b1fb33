import { z } from 'zod';
import { personIdOf } from '../../../access/index.ts';
import type { Person } from '../../../accounts/index.ts';
import type { CombinedStatus, CommitStatus, Found } from '../../../repositories/index.ts';
import { statusPayload } from '../../../gitea-shapes/index.ts';
import { json } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { resolveRef } from '../code/trees-and-archives.ts';
import { combinedStatus, commitStatus, newCommitStatus } from '../shapes/schemas.ts';
import { olderCombinedStatus, olderStatus } from '../shapes/older-forms.ts';
import { showParts } from '../shapes/show-repositories.ts';

const showStatus = (
  status: CommitStatus,
  creators: ReadonlyMap<string, Person>,
  { canonical }: Found,
  origin: string,
  id?: number,
) => {
  const creator = status.creatorId === null ? null : (creators.get(status.creatorId) ?? null);
  return statusPayload(status, creator, `${canonical.owner}/${canonical.name}`, { baseUrl: origin }, id);
};

const combinedState = ({ state, statuses }: CombinedStatus): CommitStatus['state'] =>
  state === 'error' || (state !== 'pending' && statuses.some(({ isWarning }) => isWarning === true))
    ? 'failure'
    : state;

const at = '/repos/{owner}/{name}/commits/{commit}';

export const getCommitStatus = operation({
  id: 'getCommitStatus',
  method: 'GET',
  path: `${at}/status`,
  tag: 'Statuses',
  summary: 'Get a commit’s combined status',
  access: 'repository:read',
  cost: 'objects',
  status: 200,
  response: combinedStatus,
  older: olderCombinedStatus,
  async run({ viewer, found, params, deps, origin }) {
    const commit = await resolveRef(deps, found, params.commit);
    const combined = (await deps.repositories.statuses.ofCommits(found.repository.id, [commit])).get(commit);
    const statuses = combined?.statuses ?? [];
    const creators = await deps.accounts.peopleById(statuses.flatMap(({ creatorId }) => creatorId ?? []));
    const fullName = `${found.canonical.owner}/${found.canonical.name}`;
    const url = `${origin}/api/v1/repos/${fullName}/commits/${commit}`;
    return json({
      // As in Gitea: with a warning the combined status is not a success, and an error counts as a failure.
      state: combined === undefined ? ('' as const) : combinedState(combined),
      sha: commit,
      total_count: statuses.length,
      statuses: statuses.map((status) => showStatus(status, creators, found, origin)),
      repository: (await showParts([found], viewer, { deps, origin })).get(found.repository.id)!,
      commit_url: url,
      url: `${url}/status`,
      commit,
    });
  },
});

const states = z.enum(['pending', 'success', 'error', 'failure', 'warning']);

/** Statuses of a commit, newest first, at both URLs of Gitea. */
const listing = <const Path extends `/repos/{owner}/{name}/${string}{commit}${string}`>(id: string, path: Path) =>
  operation({
    id,
    method: 'GET',
    path,
    tag: 'Statuses',
    summary: 'List a commit’s statuses, newest first, including all reports of external checks',
    description: 'For this server’s CI, only the latest status of every context.',
    access: 'repository:read',
    cost: 'objects',
    status: 200,
    query: z.object({
      sort: z.enum(['oldest', 'recentupdate', 'leastupdate', 'leastindex', 'highestindex']).optional(),
      state: states.optional(),
    }),
    response: z.array(commitStatus),
    older: (shown) => shown.map(olderStatus),
    async run({ found, params, query, deps, origin }) {
      const sha = await resolveRef(deps, found, (params as Record<string, string>)['commit']);
      const { statuses } = deps.repositories;
      const [combined, reports] = await Promise.all([
        statuses.ofCommits(found.repository.id, [sha]).then((all) => all.get(sha)),
        statuses.reportsOf(found.repository.id, sha),
      ]);
      const told = new Set(reports.map(({ context }) => context));
      const history = reports.map(({ state, createdAt, ...report }) => ({
        ...report,
        state: state === 'warning' ? ('success' as const) : state,
        isWarning: state === 'warning',
        createdAt,
        updatedAt: createdAt,
      }));
      const others = (combined?.statuses ?? []).filter(({ context }) => !told.has(context));
      const rows: (CommitStatus & { id?: number })[] = [...history, ...others]
        .filter(({ state, isWarning }) => query.state === undefined || (isWarning ? 'warning' : state) === query.state)
        .sort((one, other) => other.updatedAt - one.updatedAt);
      if (query.sort === 'oldest' || query.sort === 'leastupdate' || query.sort === 'leastindex') rows.reverse();
      const creators = await deps.accounts.peopleById(rows.flatMap(({ creatorId }) => creatorId ?? []));
      return json(rows.map((status) => showStatus(status, creators, found, origin, status.id)));
    },
  });

export const statusListOperations = [
  listing('listCommitStatuses', `${at}/statuses`),
  listing('listStatuses', '/repos/{owner}/{name}/statuses/{commit}'),
];

/** At this server's URL and at Gitea's. */
const reporting = <const Path extends `/repos/{owner}/{name}/${string}{commit}${string}`>(id: string, path: Path) =>
  operation({
    id,
    method: 'POST',
    path,
    tag: 'Statuses',
    summary: 'Create a commit status',
    description: 'A newer status replaces older ones with the same context.',
    access: 'repository:write',
    cost: 'objects',
    status: 201,
    body: newCommitStatus,
    response: commitStatus,
    older: olderStatus,
    async run({ viewer, found, params, body: { target_url, targetUrl, ...body }, deps, origin }) {
      const sha = await resolveRef(deps, found, (params as Record<string, string>)['commit']);
      const { owner, name } = found.canonical;
      // Gitea's clients send an empty one if there is nothing to read.
      const reported = {
        ...body,
        context: body.context || 'default',
        sha,
        targetUrl: targetUrl ?? (target_url || null),
      };
      const status = await deps.repositories.statuses.report(viewer, owner, name, reported);
      const creators = await deps.accounts.peopleById([personIdOf(viewer)].filter((id) => id !== null));
      return json(showStatus(status, creators, found, origin));
    },
  });

export const reportCommitStatus = reporting('reportCommitStatus', `${at}/statuses`);
export const createCommitStatus = reporting('createCommitStatus', '/repos/{owner}/{name}/statuses/{commit}');
