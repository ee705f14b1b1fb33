import { personIdOf } from '../../access/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { json } from '../responses.ts';
import { operation } from '../operation.ts';
import { resolveRef } from './trees-and-archives.ts';
import { combinedStatus, commitStatus, newCommitStatus } from './schemas.ts';
import { showStatus } from './payloads.ts';

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
  async run({ found, params, deps, origin }) {
    const commit = await resolveRef(deps, found, params.commit);
    const combined = (await deps.repositories.statuses.ofCommits(found.repository.id, [commit])).get(commit);
    const statuses = combined?.statuses ?? [];
    const creators = await deps.accounts.peopleById(statuses.flatMap(({ creatorId }) => creatorId ?? []));
    const page = origin + repositoryUrl(found.canonical);
    return json({
      commit,
      state: combined?.state ?? null,
      statuses: statuses.map((status) => showStatus(status, creators, page)),
    });
  },
});

export const reportCommitStatus = operation({
  id: 'reportCommitStatus',
  method: 'POST',
  path: `${at}/statuses`,
  tag: 'Statuses',
  summary: 'Create a commit status',
  description: 'A newer word of the same context replaces the older.',
  access: 'repository:write',
  cost: 'objects',
  status: 201,
  body: newCommitStatus,
  response: commitStatus,
  async run({ viewer, found, params, body, deps, origin }) {
    const sha = await resolveRef(deps, found, params.commit);
    const { owner, name } = found.canonical;
    const status = await deps.repositories.statuses.report(viewer, owner, name, { ...body, sha });
    const creators = await deps.accounts.peopleById([personIdOf(viewer)].filter((id) => id !== null));
    return json(showStatus(status, creators, origin + repositoryUrl(found.canonical)));
  },
});
