import { z } from 'zod';
import { attachmentDisposition, repositoryUrl } from '../../../http/index.ts';
import type { ArtifactOfRun, Retention } from '../../../ci/index.ts';
import { notFound } from '../../../kernel/index.ts';
import type { Found } from '../../../repositories/index.ts';
import { json, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import type { Operation } from '../../operation.ts';
import { paging } from '../shapes/schemas.ts';
import { isoTime } from '../shapes/payloads.ts';

const at = '/repos/{owner}/{name}/actions';
const time = z.iso.datetime();

/** As in Gitea's and GitHub's API. */
const artifact = z
  .strictObject({
    id: z.int(),
    name: z.string(),
    size_in_bytes: z.int(),
    url: z.string(),
    archive_download_url: z.string(),
    expired: z.boolean().describe('Set even if the artifact has been deleted'),
    digest: z.string().nullable().describe('sha256:… of the archive; null if files were uploaded individually'),
    workflow_run: z.strictObject({
      id: z.int(),
      run_number: z.int(),
      repository_id: z.string(),
      head_sha: z.string(),
      html_url: z.string(),
    }),
    created_at: time,
    expires_at: time,
  })
  .meta({ id: 'ActionArtifact' });
const artifacts = z
  .strictObject({ total_count: z.int(), artifacts: z.array(artifact) })
  .meta({ id: 'ActionArtifactsResponse' });
const days = z.int().min(1).nullable();
const retention = z
  .strictObject({
    artifact_days: days.describe('Null means the server’s limit applies'),
    log_days: days.describe('Null means the server’s limit applies'),
    max_artifact_days: z.int(),
    max_log_days: z.int(),
  })
  .meta({ id: 'ActionRetention' });

const shared = { tag: 'Runs', cost: 'rows' } as const;
const query = z.object({
  limit: paging.limit,
  page: z.int().min(1).max(10_000).default(1),
  name: z.string().max(255).optional().describe('Only artifacts with this name'),
});

/** Throws `artifact_not_found`, `run_not_found` for an invalid id. */
function idOf(text: string, what: 'artifact' | 'run'): number {
  if (!/^\d{1,15}$/.test(text))
    throw notFound(what === 'run' ? 'run_not_found' : 'artifact_not_found', `There is no such ${what}.`);
  return Number(text);
}

function show({ artifact: row, run }: ArtifactOfRun, { canonical }: Found, origin: string): z.output<typeof artifact> {
  const { owner, name } = canonical;
  const url = `${origin}/api/v1/repos/${owner}/${name}/actions/artifacts/${row.id}`;
  return {
    id: row.id,
    name: row.name,
    size_in_bytes: row.sizeBytes,
    url,
    archive_download_url: `${url}/zip`,
    expired: row.state !== 'ready',
    digest: row.digest === null ? null : `sha256:${row.digest}`,
    workflow_run: {
      id: run.id,
      run_number: run.number,
      repository_id: run.repositoryId,
      head_sha: run.sha,
      html_url: `${origin}${repositoryUrl(canonical)}/runs/${run.number}`,
    },
    created_at: isoTime(row.createdAt),
    expires_at: isoTime(row.expiresAt),
  };
}

const showRetention = (kept: Retention): z.output<typeof retention> => ({
  artifact_days: kept.artifactDays,
  log_days: kept.logDays,
  max_artifact_days: kept.maxArtifactDays,
  max_log_days: kept.maxLogDays,
});

const listArtifacts = operation({
  ...shared,
  id: 'listRepositoryArtifacts',
  method: 'GET',
  path: `${at}/artifacts`,
  summary: 'List a repository’s artifacts, newest first',
  access: 'repository:read',
  status: 200,
  query,
  response: artifacts,
  async run({ found, query: { limit, page, name }, deps, origin }) {
    const { rows, total } = await deps.ci.artifacts.listOfRepository(found, { name, limit, skip: (page - 1) * limit });
    return json({ total_count: total, artifacts: rows.map((row) => show(row, found, origin)) });
  },
});

const listRunArtifacts = operation({
  ...shared,
  id: 'listRunArtifacts',
  method: 'GET',
  path: `${at}/runs/{run}/artifacts`,
  summary: 'List a run’s artifacts, newest first',
  description: 'Takes the run’s ID, as in an artifact’s `workflow_run.id`.',
  access: 'repository:read',
  status: 200,
  query,
  response: artifacts,
  async run({ found, params, query: { limit, page, name }, deps, origin }) {
    const { id: runId } = await deps.ci.artifacts.runById(found, idOf(params.run, 'run'));
    const asked = { name, runId, limit, skip: (page - 1) * limit };
    const { rows, total } = await deps.ci.artifacts.listOfRepository(found, asked);
    return json({ total_count: total, artifacts: rows.map((row) => show(row, found, origin)) });
  },
});

const getArtifact = operation({
  ...shared,
  id: 'getArtifact',
  method: 'GET',
  path: `${at}/artifacts/{id}`,
  summary: 'Get an artifact',
  access: 'repository:read',
  status: 200,
  response: artifact,
  run: async ({ found, params, deps, origin }) =>
    json(show(await deps.ci.artifacts.find(found, idOf(params.id, 'artifact')), found, origin)),
});

const downloadArtifact = operation({
  ...shared,
  id: 'downloadArtifact',
  method: 'GET',
  path: `${at}/artifacts/{id}/zip`,
  summary: 'Download an artifact as a zip archive',
  access: 'repository:read',
  cost: 'transfer',
  status: 200,
  response: 'bytes',
  async run({ found, params, deps }) {
    const { artifact: row, run } = await deps.ci.artifacts.find(found, idOf(params.id, 'artifact'));
    const { bytes, content, fileName, mediaType } = await deps.ci.artifacts.open(found, run.number, row.id);
    return {
      kind: 'bytes',
      type: mediaType,
      body: content,
      headers: {
        'Content-Disposition': attachmentDisposition(fileName),
        'Content-Security-Policy': "default-src 'none'; sandbox",
        ...(bytes === null ? {} : { 'Content-Length': String(bytes) }),
      },
    };
  },
});

const deleteArtifact = operation({
  ...shared,
  id: 'deleteArtifact',
  method: 'DELETE',
  path: `${at}/artifacts/{id}`,
  summary: 'Delete an artifact',
  access: 'repository:write',
  status: 204,
  async run({ viewer, found, params, deps }) {
    const { artifact: row, run } = await deps.ci.artifacts.find(found, idOf(params.id, 'artifact'));
    await deps.ci.artifacts.remove(viewer, found, run.number, row.id);
    return noContent();
  },
});

const getRetention = operation({
  ...shared,
  id: 'getRetention',
  method: 'GET',
  path: `${at}/retention`,
  summary: 'Get a repository’s retention period for artifacts and logs',
  access: 'repository:read',
  status: 200,
  response: retention,
  run: async ({ found, deps }) => json(showRetention(await deps.ci.retention.of(found.repository.id))),
});

const editRetention = operation({
  ...shared,
  id: 'editRetention',
  method: 'PATCH',
  path: `${at}/retention`,
  summary: 'Set a repository’s retention period for artifacts and logs',
  description: 'Limited by the server’s retention period. Existing artifacts keep their expiry time.',
  access: 'repository:admin',
  status: 200,
  body: z
    .strictObject({ artifact_days: days.optional(), log_days: days.optional() })
    .meta({ id: 'EditActionRetention' }),
  response: retention,
  async run({ viewer, found, body: { artifact_days: artifactDays, log_days: logDays }, deps }) {
    const change = {
      ...(artifactDays === undefined ? {} : { artifactDays }),
      ...(logDays === undefined ? {} : { logDays }),
    };
    return json(showRetention(await deps.ci.retention.set(viewer, found, change)));
  },
});

/** Artifacts in the shapes of Gitea's API, which are GitHub's, and their retention. */
export const artifactOperations: readonly Operation[] = [
  listArtifacts,
  listRunArtifacts,
  getArtifact,
  downloadArtifact,
  deleteArtifact,
  getRetention,
  editRetention,
];
