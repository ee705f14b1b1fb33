import { z } from 'zod';
import { personIdOf } from '../../access/index.ts';
import type { Person } from '../../accounts/index.ts';
import type { CommitStatus, Found } from '../../repositories/index.ts';
import { statusPayload } from '../../gitea-shapes/index.ts';
import { json } from '../responses.ts';
import { operation } from '../operation.ts';
import { resolveRef } from './trees-and-archives.ts';
import { combinedStatus, commitStatus, newCommitStatus } from './schemas.ts';
import { olderCombinedStatus, olderStatus } from './older-forms.ts';
import { showParts } from './show-repositories.ts';

const showStatus = (
  status: CommitStatus,
  creators: ReadonlyMap<string, Person>,
  { canonical }: Found,
  origin: string,
) => {
  const creator = status.creatorId === null ? null : (creators.get(status.creatorId) ?? null);
  return statusPayload(status, creator, `${canonical.owner}/${canonical.name}`, { baseUrl: origin });
};

const at = '/repos/{owner}/{name}/commits/{commit}';

export const getCommitStatus = operation({
  id: 'getCommitStatus',
  method: 'GET',
  path: `${at}/status`,
  tag: 'Statuses',
  summary: 'Get the combined status of a commit',
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
      state: combined?.state ?? ('' as const),
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

/** Statuses of a commit, the newest first, at both addresses of Gitea. */
const listing = <const Path extends `/repos/{owner}/{name}/${string}{commit}${string}`>(id: string, path: Path) =>
  operation({
    id,
    method: 'GET',
    path,
    tag: 'Statuses',
    summary: 'List the statuses of a commit, the newest first: the last one of each context',
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
      const combined = (await deps.repositories.statuses.ofCommits(found.repository.id, [sha])).get(sha);
      const rows = (combined?.statuses ?? [])
        .filter(({ state }) => query.state === undefined || state === query.state)
        .sort((one, other) => other.updatedAt - one.updatedAt);
      if (query.sort === 'oldest' || query.sort === 'leastupdate' || query.sort === 'leastindex') rows.reverse();
      const creators = await deps.accounts.peopleById(rows.flatMap(({ creatorId }) => creatorId ?? []));
      return json(rows.map((status) => showStatus(status, creators, found, origin)));
    },
  });

export const statusListOperations = [
  listing('listCommitStatuses', `${at}/statuses`),
  listing('listStatuses', '/repos/{owner}/{name}/statuses/{commit}'),
];

/** At the address of this server, and at Gitea's. */
const reporting = <const Path extends `/repos/{owner}/{name}/${string}{commit}${string}`>(id: string, path: Path) =>
  operation({
    id,
    method: 'POST',
    path,
    tag: 'Statuses',
    summary: 'Create a commit status',
    description: 'A newer word of the same context replaces the older.',
    access: 'repository:write',
    cost: 'objects',
    status: 201,
    body: newCommitStatus,
    response: commitStatus,
    older: olderStatus,
    async run({ viewer, found, params, body: { target_url, targetUrl, ...body }, deps, origin }) {
      const sha = await resolveRef(deps, found, (params as Record<string, string>)['commit']);
      const { owner, name } = found.canonical;
      // Gitea's clients send an empty one where there is nothing to read.
      const reported = { ...body, sha, targetUrl: targetUrl ?? (target_url || null) };
      const status = await deps.repositories.statuses.report(viewer, owner, name, reported);
      const creators = await deps.accounts.peopleById([personIdOf(viewer)].filter((id) => id !== null));
      return json(showStatus(status, creators, found, origin));
    },
  });

export const reportCommitStatus = reporting('reportCommitStatus', `${at}/statuses`);
export const createCommitStatus = reporting('createCommitStatus', '/repos/{owner}/{name}/statuses/{commit}');
