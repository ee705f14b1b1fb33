import { createGunzip } from 'node:zlib';
import type { ArtifactFileRow, FileChunk, RunningTask } from '../ci/index.ts';
import { maxSummaryBytes } from '../ci/index.ts';
import { invalid } from '../kernel/index.ts';
import type { Context, Middleware } from '../http/index.ts';
import { chunksOf, HttpError } from '../http/index.ts';
import { withErrorFormat, pipelines } from './errors.ts';
import { requireOwnRun, authenticateTask } from './authenticate-task.ts';
import { readJson, readSmallBody, readInteger } from './read-request.ts';
import type { ArtifactDeps } from './deps.ts';

const pipelinesPath = '/api/actions_pipeline';

const dayMs = 24 * 3_600_000;

/** `_apis/pipelines/workflows/{run}/artifacts` and paths below it: `{id}/upload`, `{id}/file`. */
const place = /^\/_apis\/pipelines\/workflows\/(\d{1,15})\/artifacts(?:\/(\d{1,15})\/(upload|file))?$/;

const summaryPlace = /^\/_apis\/pipelines\/workflows\/(\d{1,15})\/jobs\/(\d{1,15})\/steps\/(\d{1,6})\/summary$/;

/**
 * The older artifact protocol (version 3 of the actions): files one by one, in chunks, possibly compressed. Every
 * request has the runtime token of its task.
 */
export function createPipelinesApi(deps: ArtifactDeps): Middleware {
  const { ci, logger } = deps;

  async function handle(ctx: Context): Promise<void> {
    const task = await authenticateTask(deps, ctx);
    const summary = summaryPlace.exec(ctx.path.slice(pipelinesPath.length));
    if (summary !== null) return receiveSummary(ctx, task, summary);
    const [, run, id, below] = place.exec(ctx.path.slice(pipelinesPath.length)) ?? [];
    requireOwnRun(task, run);
    const handler = handlers[`${ctx.method} ${below ?? 'artifacts'}`];
    if (handler === undefined) throw new HttpError(405, 'This URL does not accept this request method.');
    await handler(ctx, task, Number(id));
  }

  /** Receives the content of `$GITHUB_STEP_SUMMARY` from runners that know the capability `job-summary`. */
  async function receiveSummary(ctx: Context, task: RunningTask, [, run, job, step]: RegExpExecArray): Promise<void> {
    requireOwnRun(task, run);
    if (ctx.method !== 'PUT') throw new HttpError(405, 'This URL does not accept this request method.');
    const content = await readSmallBody(ctx, maxSummaryBytes);
    await ci.summaries.set(task, { job: Number(job), step: Number(step), content });
    reply(ctx, 200, { message: 'success' });
  }

  const handlers: Readonly<Record<string, (ctx: Context, task: RunningTask, id: number) => Promise<void>>> = {
    async 'POST artifacts'(ctx, task) {
      const fields = await readJson(ctx);
      const days = readInteger(fields.get('retention_days'));
      const { id, name } = await ci.artifacts.openFileArtifact(task, {
        name: fields.get('name'),
        ttlMs: days === null || days === 0 ? null : days * dayMs,
      });
      reply(ctx, 201, viewContainer(ctx, task, { id, name, size: -1 }));
    },
    async 'GET artifacts'(ctx, task) {
      const artifacts = (await ci.artifacts.listOfTask(task)).filter(({ form }) => form === 'files');
      reply(ctx, 200, {
        count: artifacts.length,
        value: artifacts.map(({ id, name, sizeBytes }) => viewContainer(ctx, task, { id, name, size: sizeBytes })),
      });
    },
    async 'PATCH artifacts'(ctx, task) {
      const { id, name, sizeBytes } = await ci.artifacts.finishFileArtifact(
        task,
        ctx.URL.searchParams.get('artifactName'),
      );
      reply(ctx, 200, viewContainer(ctx, task, { id, name, size: sizeBytes }));
    },
    async 'PUT upload'(ctx, task, id) {
      await ci.artifacts.receiveFile(task, id, readChunk(ctx));
      reply(ctx, 200, { message: 'success' });
    },
    async 'GET upload'(ctx, task, id) {
      const { name, files } = await ci.artifacts.filesOf(task, id);
      reply(ctx, 200, { count: files.length, value: files.map((file) => viewFile(ctx, task, name, file)) });
    },
    async 'GET file'(ctx, task, id) {
      const { content, bytes, isGzipped } = await ci.artifacts.openFile(
        task,
        id,
        ctx.URL.searchParams.get('itemPath') ?? '',
      );
      const sendsPacked = isGzipped && ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
      ctx.status = 200;
      ctx.body = isGzipped && !sendsPacked ? content.pipe(createGunzip()) : content;
      ctx.set('Content-Type', 'application/octet-stream');
      if (sendsPacked) ctx.set('Content-Encoding', 'gzip');
      if (!isGzipped || sendsPacked) ctx.set('Content-Length', String(bytes));
    },
  };

  return (ctx) => withErrorFormat(ctx, logger, pipelines, () => handle(ctx));
}

function reply(ctx: Context, status: number, value: unknown): void {
  ctx.status = status;
  ctx.body = JSON.stringify(value);
  ctx.set('Content-Type', 'application/json; charset=utf-8; api-version=6.0-preview');
}

const below = (ctx: Context, { run }: RunningTask, id: number, what: string): string =>
  `${ctx.state.origin}${pipelinesPath}/_apis/pipelines/workflows/${run.id}/artifacts/${id}/${what}`;

const viewContainer = (
  ctx: Context,
  task: RunningTask,
  { id, name, size }: { id: number; name: string; size: number },
) => ({
  containerId: String(id),
  size,
  signedContent: null,
  fileContainerResourceUrl: below(ctx, task, id, 'upload'),
  type: 'actions_storage',
  name,
  url: below(ctx, task, id, 'upload'),
});

const viewFile = (ctx: Context, task: RunningTask, name: string, { artifactId, path, sizeBytes }: ArtifactFileRow) => ({
  containerId: artifactId,
  path: `${name}/${path}`,
  itemType: 'file',
  status: 'created',
  fileLength: sizeBytes,
  contentLocation: `${below(ctx, task, artifactId, 'file')}?itemPath=${encodeURIComponent(`${name}/${path}`)}`,
});

/** Throws `invalid_range`. */
function readChunk(ctx: Context): FileChunk {
  const { headers } = ctx.req;
  const [, start, last, total] = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(headers['content-range'] ?? '') ?? [];
  if (start === undefined) throw invalid('invalid_range', 'A chunk of a file needs a Content-Range.');
  const isGzipped = headers['content-encoding'] === 'gzip';
  const unpacked = headers['x-tfs-filelength'];
  return {
    itemPath: ctx.URL.searchParams.get('itemPath') ?? '',
    start: Number(start),
    end: Number(last) + 1,
    total: Number(total),
    isGzipped,
    sizeBytes:
      isGzipped && typeof unpacked === 'string' && /^\d{1,15}$/.test(unpacked) ? Number(unpacked) : Number(total),
    body: chunksOf(ctx.req),
  };
}
