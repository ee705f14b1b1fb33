import type { ArtifactRow, RunningTask } from '../ci/index.ts';
import { invalid } from '../kernel/index.ts';
import type { Context, Middleware } from '../http/index.ts';
import { chunksOf, HttpError } from '../http/index.ts';
import { withErrorFormat, blobStorage, twirp } from './errors.ts';
import { requireOwnRun, authenticateTask } from './authenticate-task.ts';
import { readJson, readSmallBody, readInteger } from './read-request.ts';
import type { ArtifactDeps } from './deps.ts';
import { sendArtifact } from './send-artifact.ts';

/**
 * `github.actions.results.api.v1.ArtifactService`, Twirp with JSON: the protocol of version 4 and later of the actions.
 */
const resultsPath = '/twirp/github.actions.results.api.v1.ArtifactService';

type Fields = ReadonlyMap<string, unknown>;

/**
 * The methods of the service, each authenticated by the runtime token of a task, and the two URLs for uploading and
 * downloading bytes, which are signed.
 */
export function createResultsApi(deps: ArtifactDeps): Middleware {
  const { ci, logger } = deps;

  const methods: Readonly<Record<string, (ctx: Context, task: RunningTask, fields: Fields) => Promise<unknown>>> = {
    async CreateArtifact(ctx, task, fields) {
      const query = await ci.artifacts.create(task, {
        name: fields.get('name'),
        mediaType: fields.get('mime_type'),
        expiresAt: readTime(fields.get('expires_at')),
      });
      return { ok: true, signed_upload_url: linkTo(ctx, 'UploadArtifact', query) };
    },
    async FinalizeArtifact(_ctx, task, fields) {
      const { id } = await ci.artifacts.finish(task, {
        name: fields.get('name'),
        sizeBytes: readInteger(fields.get('size')),
        digest: readDigest(fields.get('hash')),
      });
      return { ok: true, artifact_id: String(id) };
    },
    async ListArtifacts(_ctx, task, fields) {
      const [name, id] = [fields.get('name_filter') ?? null, readInteger(fields.get('id_filter'))];
      const artifacts = (await ci.artifacts.listOfTask(task)).filter(
        (one) => (name === null || one.name === name) && (id === null || one.id === id),
      );
      return { artifacts: artifacts.map((one) => viewArtifact(task, one)) };
    },
    async GetSignedArtifactURL(ctx, task, fields) {
      return { signed_url: linkTo(ctx, 'DownloadArtifact', await ci.artifacts.signedUrl(task, fields.get('name'))) };
    },
    async DeleteArtifact(_ctx, task, fields) {
      const { id } = await ci.artifacts.removeOfTask(task, fields.get('name'));
      return { ok: true, artifact_id: String(id) };
    },
  };

  async function call(ctx: Context, name: string): Promise<void> {
    const method = Object.hasOwn(methods, name) ? methods[name]! : null;
    if (method === null) throw new HttpError(404, `There is no method ${name.slice(0, 60)}.`);
    if (ctx.method !== 'POST') throw new HttpError(405, 'Methods are called with POST.', { Allow: 'POST' });
    const task = await authenticateTask(deps, ctx);
    if (!ctx.is('application/json')) throw new HttpError(415, 'This takes application/json.');
    const fields = await readJson(ctx);
    requireOwnRun(task, fields.get('workflow_run_backend_id'));
    ctx.body = JSON.stringify(await method(ctx, task, fields));
    ctx.set('Content-Type', 'application/json');
  }

  /** Like Azure's block blobs: blocks and their list, or the whole content at once. */
  async function upload(ctx: Context): Promise<void> {
    if (ctx.method !== 'PUT') throw new HttpError(405, 'Bytes are sent with PUT.', { Allow: 'PUT' });
    const query = ctx.URL.searchParams;
    const [what, blockId] = [query.get('comp')?.toLowerCase() ?? null, query.get('blockid')];
    if (what === 'blocklist') await ci.artifacts.assemble(query, readBlockList(await readSmallBody(ctx, maxListBytes)));
    else if (what === 'block' && blockId !== null)
      await ci.artifacts.receive(query, { kind: 'block', blockId }, chunksOf(ctx.req));
    else if (what === 'block' || what === 'appendblock')
      await ci.artifacts.receive(query, { kind: 'more' }, chunksOf(ctx.req));
    else if (what === null) await ci.artifacts.receive(query, { kind: 'whole' }, chunksOf(ctx.req));
    else throw invalid('unknown_upload', 'This kind of upload is not supported.');
    ctx.status = 201;
    ctx.set('x-ms-request-id', ctx.state.requestId);
    ctx.body = '';
  }

  return (ctx) => {
    const name = ctx.path.slice(resultsPath.length + 1);
    if (name === 'UploadArtifact') return withErrorFormat(ctx, logger, blobStorage, () => upload(ctx));
    if (name === 'DownloadArtifact')
      return withErrorFormat(ctx, logger, blobStorage, async () =>
        sendArtifact(ctx, await ci.artifacts.openBySignedUrl(ctx.URL.searchParams)),
      );
    return withErrorFormat(ctx, logger, twirp, () => call(ctx, name));
  };
}

const linkTo = (ctx: Context, what: string, query: URLSearchParams): string =>
  `${ctx.state.origin}${resultsPath}/${what}?${query.toString()}`;

const viewArtifact = ({ run, jobId }: RunningTask, { id, name, sizeBytes, createdAt, digest }: ArtifactRow) => ({
  workflow_run_backend_id: String(run.id),
  workflow_job_run_backend_id: String(jobId),
  database_id: String(id),
  name,
  size: String(sizeBytes),
  created_at: new Date(createdAt).toISOString(),
  ...(digest === null ? {} : { digest: `sha256:${digest}` }),
});

function readTime(value: unknown): number | null {
  if (value === undefined || value === null) return null;
  const at = typeof value === 'string' ? Date.parse(value) : NaN;
  if (Number.isNaN(at)) throw invalid('malformed_json', 'The request contains an invalid timestamp.');
  return at;
}

/** `sha256:<64 hex digits>`; null for other hashes, which are not compared. */
function readDigest(value: unknown): string | null {
  const [, digest = null] = typeof value === 'string' ? (/^sha256:([0-9a-f]{64})$/i.exec(value) ?? []) : [];
  return digest?.toLowerCase() ?? null;
}

const maxListBytes = 8 * 1024 * 1024;

function readBlockList(bytes: Buffer): string[] {
  return [...bytes.toString('utf8').matchAll(/<(Latest|Uncommitted|Committed)>([^<>]{0,256})<\/\1>/g)].map(
    ([, , id = '']) => id.trim(),
  );
}
