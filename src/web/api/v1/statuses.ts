import { repositoryUrl } from '../../views/urls.ts';
import { json } from '../responses.ts';
import { operation } from '../operation.ts';
import { resolveRef } from './contents.ts';
import { combinedStatus, commitStatus, newCommitStatus } from './schemas.ts';
import { showStatus } from './show.ts';

const at = '/repos/{owner}/{name}/commits/{commit}';

export const getCommitStatus = operation({
  id: 'getCommitStatus',
  method: 'GET',
  path: `${at}/status`,
  tag: 'Statuses',
  summary: 'Get what all checks say of a commit',
  access: 'repository:read',
  cost: 'objects',
  status: 200,
  answer: combinedStatus,
  async run({ found, params, rooms, origin }) {
    const commit = await resolveRef(rooms, found, params.commit);
    const combined = (await rooms.repositories.commitStatuses(found.repository.id, [commit])).get(commit);
    const statuses = combined?.statuses ?? [];
    const creators = await rooms.accounts.peopleById(statuses.flatMap(({ creatorId }) => creatorId ?? []));
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
  summary: 'Report what a check says of a commit',
  description: 'A newer word of the same context replaces the older.',
  access: 'repository:write',
  cost: 'objects',
  status: 201,
  body: newCommitStatus,
  answer: commitStatus,
  async run({ viewer, found, params, body, rooms, origin }) {
    const sha = await resolveRef(rooms, found, params.commit);
    const { owner, name } = found.canonical;
    const status = await rooms.repositories.reportStatus(viewer, owner, name, { ...body, sha });
    return json(
      showStatus(status, await rooms.accounts.peopleById([viewer.id]), origin + repositoryUrl(found.canonical)),
    );
  },
});
