import type { Context } from '../../http/index.ts';
import { HttpError } from '../../http/index.ts';
import { invalid } from '../../kernel/index.ts';
import { isFileName, versionNotFound } from '../../packages/index.ts';
import { authenticate } from '../authenticate.ts';
import type { PackageHttpDeps } from '../deps.ts';
import { plainErrors } from '../errors.ts';
import type { PackageProtocol } from '../protocol.ts';
import { receiveUpload, sendContent } from '../transfer.ts';

/**
 * Arbitrary files: `PUT`, `GET` and `DELETE` of `{name}/{version}/{file}`, and `DELETE` of `{name}/{version}`, as in
 * Gitea.
 */
export const genericProtocol: PackageProtocol = {
  format: 'generic',
  errors: plainErrors,
  async serve(deps, ctx, { owner, parts }) {
    const [name, version, file, ...more] = parts;
    if (name === undefined || version === undefined || more.length > 0) throw versionNotFound();
    const at = { owner, format: 'generic', name } as const;
    const isFile = file !== undefined && file !== '';
    if (ctx.method === 'PUT' && isFile) return upload(deps, ctx, at, version, file);
    if ((ctx.method === 'GET' || ctx.method === 'HEAD') && isFile) return download(deps, ctx, at, version, file);
    if (ctx.method === 'DELETE') return remove(deps, ctx, at, version, isFile ? file : null);
    throw new HttpError(405, 'This address accepts GET, PUT and DELETE of files, and DELETE of versions.');
  },
};

interface At {
  owner: string;
  format: 'generic';
  name: string;
}

/** Throws `invalid_package_file`. */
function parseFileName(name: string): string {
  if (!isFileName(name))
    throw invalid(
      'invalid_package_file',
      'The name of a file has at most 255 letters, digits, spaces and ".", "_", "+", "~", "@", ",", "(", ")", "-".',
    );
  return name;
}

async function upload(deps: PackageHttpDeps, ctx: Context, at: At, version: string, name: string): Promise<void> {
  const viewer = await authenticate(deps, ctx);
  const { packages } = deps;
  const to = await packages.openForPublish(viewer, at);
  parseFileName(name);
  packages.checkVersion('generic', version);
  await packages.versions.refuseFile(to, version, name);
  const blob = await receiveUpload(ctx, viewer, (content) => packages.blobs.receive(to.owner.id, content, true));
  const file = { name, ...blob, mediaType: 'application/octet-stream' };
  await packages.versions.publish(viewer, to, { version, metadata: {}, files: [file], existing: 'add' });
  ctx.status = 201;
  ctx.body = '';
}

async function download(deps: PackageHttpDeps, ctx: Context, at: At, version: string, name: string): Promise<void> {
  const { packages } = deps;
  const found = await packages.find(await authenticate(deps, ctx), at);
  const row = await packages.versions.find(found, version);
  const file = await packages.files.find(row.id, name);
  if (ctx.method === 'GET') packages.versions.countDownload(row.id);
  await sendContent(deps, ctx, {
    ...file,
    type: 'application/octet-stream',
    etag: `"${file.sha256}"`,
    fileName: name,
    headers: { Digest: `sha-256=${Buffer.from(file.sha256, 'hex').toString('base64')}` },
  });
}

async function remove(
  deps: PackageHttpDeps,
  ctx: Context,
  at: At,
  version: string,
  name: string | null,
): Promise<void> {
  const { packages } = deps;
  const viewer = await authenticate(deps, ctx);
  const found = await packages.find(viewer, at, 'delete');
  const row = await packages.versions.find(found, version);
  if (name === null) await packages.versions.delete(viewer, found, row);
  else await packages.files.delete(viewer, found, await packages.files.find(row.id, name));
  ctx.status = 204;
}
