import { createHash } from 'node:crypto';
import type { Context } from '../../http/index.ts';
import { HttpError } from '../../http/index.ts';
import { packageNotFound, versionNotFound } from '../../packages/index.ts';
import type { PackageFileRow } from '../../packages/index.ts';
import { authenticate } from '../authenticate.ts';
import type { PackageHttpDeps } from '../deps.ts';
import { plainErrors } from '../errors.ts';
import type { PackageProtocol, PackageRequest } from '../protocol.ts';
import { isKnown, sendContent, sendJson } from '../transfer.ts';
import type { PypiFileMetadata } from './file-metadata.ts';
import { upload } from './upload.ts';

/**
 * The simple repository of pip, uv, poetry and twine: HTML and JSON (PEP 503, 691, 700), metadata of wheels beside them
 * (PEP 658), and uploads in the form of twine.
 */
export const pypiProtocol: PackageProtocol = {
  format: 'pypi',
  errors: plainErrors,
  async serve(deps, ctx, request) {
    const [first = '', name = '', version = '', file = ''] = request.parts;
    const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
    if (ctx.method === 'POST' && ['', 'legacy'].includes(first)) return upload(deps, ctx, request);
    if (!isRead)
      throw new HttpError(405, 'This address accepts only GET; send uploads by POST to the address of the registry.');
    if (first === 'simple' && name === '') return sendProjects(deps, ctx, request);
    if (first === 'simple' && version === '') return sendProject(deps, ctx, request, name);
    if (first === 'files' && file !== '') return sendFile(deps, ctx, request, { name, version, file });
    throw versionNotFound();
  },
};

const jsonType = 'application/vnd.pypi.simple.v1+json';
const htmlType = 'application/vnd.pypi.simple.v1+html';

/** The form that the client prefers; HTML without a preference. */
function wantsJson(ctx: Context): boolean {
  ctx.vary('Accept');
  return (
    ctx.accepts('text/html', htmlType, jsonType) === jsonType ||
    ctx.accepts(htmlType, jsonType, 'text/html') === jsonType
  );
}

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

function sendHtml(ctx: Context, title: string, links: readonly string[]): void {
  ctx.body = `<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="pypi:repository-version" content="1.1"><title>${escape(title)}</title></head><body>\n${links.map((link) => `${link}<br>\n`).join('')}</body></html>\n`;
  ctx.set('Content-Type', 'text/html; charset=utf-8');
}

const maxProjects = 10_000;

async function sendProjects(
  deps: PackageHttpDeps,
  ctx: Context,
  { owner: handle, base }: PackageRequest,
): Promise<void> {
  const viewer = await authenticate(deps, ctx);
  const owner = await deps.owners.resolve(handle);
  const filter = { ownerId: owner?.id ?? '', format: 'pypi', limit: maxProjects } as const;
  const names = (await deps.packages.list(viewer, filter)).map(({ nameKey }) => nameKey).sort();
  if (wantsJson(ctx)) {
    sendJson(ctx, { meta: { 'api-version': '1.1' }, projects: names.map((name) => ({ name })) }, { type: jsonType });
    return;
  }
  sendHtml(
    ctx,
    'Packages',
    names.map((name) => `<a href="${escape(`${base}/simple/${name}/`)}">${escape(name)}</a>`),
  );
}

const urlOf = (base: string, nameKey: string, version: string, file: string): string =>
  `${base}/files/${nameKey}/${encodeURIComponent(version)}/${encodeURIComponent(file)}`;

const metadataOf = ({ metadata }: PackageFileRow): PypiFileMetadata =>
  metadata === null ? { requiresPython: null, core: null } : (JSON.parse(metadata) as PypiFileMetadata);

async function sendProject(
  deps: PackageHttpDeps,
  ctx: Context,
  { owner, base }: PackageRequest,
  name: string,
): Promise<void> {
  const { packages } = deps;
  const found = await packages.find(await authenticate(deps, ctx), { owner, format: 'pypi', name });
  const { versions: count, updatedAt, nameKey } = found.package;
  if (count === 0) throw packageNotFound();
  const isJson = wantsJson(ctx);
  const etag = `"${count}-${updatedAt}${isJson ? '-j' : ''}"`;
  ctx.set({ ETag: etag, 'Cache-Control': 'private, no-cache' });
  if (isKnown(ctx, etag)) return;
  const [rows, files] = await Promise.all([packages.versions.all(found), packages.files.all(found)]);
  const versionOf = new Map(rows.map((row) => [row.id, row.version]));
  const shown = files.map((file) => {
    const { requiresPython, core } = metadataOf(file);
    const coreHash = core === null ? null : createHash('sha256').update(core).digest('hex');
    return { file, requiresPython, coreHash, url: urlOf(base, nameKey, versionOf.get(file.versionId)!, file.name) };
  });
  if (isJson) {
    const list = shown.map(({ file, requiresPython, coreHash, url }) => ({
      filename: file.name,
      url,
      hashes: { sha256: file.sha256 },
      size: file.bytes,
      'upload-time': new Date(file.createdAt).toISOString(),
      ...(requiresPython === null ? {} : { 'requires-python': requiresPython }),
      'core-metadata': coreHash === null ? false : { sha256: coreHash },
    }));
    const versions = rows.map(({ version }) => version).toReversed();
    sendJson(ctx, { meta: { 'api-version': '1.1' }, name: nameKey, versions, files: list }, { type: jsonType });
    return;
  }
  sendHtml(
    ctx,
    `Links for ${nameKey}`,
    shown.map(({ file, requiresPython, coreHash, url }) => {
      const python = requiresPython === null ? '' : ` data-requires-python="${escape(requiresPython)}"`;
      const core =
        coreHash === null
          ? ''
          : ` data-core-metadata="sha256=${coreHash}" data-dist-info-metadata="sha256=${coreHash}"`;
      return `<a href="${escape(`${url}#sha256=${file.sha256}`)}"${python}${core}>${escape(file.name)}</a>`;
    }),
  );
}

async function sendFile(
  deps: PackageHttpDeps,
  ctx: Context,
  { owner }: PackageRequest,
  { name, version, file: wanted }: { name: string; version: string; file: string },
): Promise<void> {
  const { packages } = deps;
  const found = await packages.find(await authenticate(deps, ctx), { owner, format: 'pypi', name });
  const row = await packages.versions.find(found, packages.keyOfVersion('pypi', version));
  const isMetadata = wanted.endsWith('.whl.metadata');
  const file = await packages.files.find(row.id, isMetadata ? wanted.slice(0, -'.metadata'.length) : wanted);
  if (isMetadata) {
    const { core } = metadataOf(file);
    if (core === null) throw versionNotFound();
    ctx.body = core;
    ctx.set({ 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' });
    return;
  }
  if (ctx.method === 'GET') packages.versions.countDownload(row.id);
  await sendContent(deps, ctx, {
    ...file,
    type: 'application/octet-stream',
    etag: `"${file.sha256}"`,
    fileName: file.name,
  });
}
