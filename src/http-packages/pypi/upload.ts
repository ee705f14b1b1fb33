import { chunksOf, readMultipart } from '../../http/index.ts';
import type { Context, ReceivedPart } from '../../http/index.ts';
import { invalid, unauthenticated } from '../../kernel/index.ts';
import { formatOf, isFileName } from '../../packages/index.ts';
import type { PublishTarget, StoredBlob } from '../../packages/index.ts';
import { authenticate } from '../authenticate.ts';
import type { PackageHttpDeps } from '../deps.ts';
import type { PackageRequest } from '../protocol.ts';
import type { PypiFileMetadata } from './file-metadata.ts';
import { readWheelMetadata } from './read-wheel.ts';

const malformed = (message: string) => invalid('package_metadata', message);

/** Total size of all fields: one of them is the package description. */
const maxFieldBytes = 2 * 1024 * 1024;

/**
 * An upload as sent by twine, uv and flit: a form with the file and its metadata. The file may precede or follow the
 * fields, so it is stored first, and published once everything is read.
 */
export async function upload(deps: PackageHttpDeps, ctx: Context, { owner }: PackageRequest): Promise<void> {
  const viewer = await authenticate(deps, ctx);
  if (viewer.kind === 'anonymous') throw unauthenticated('credentials_needed', 'Authentication required.');
  const { packages } = deps;
  const { settings } = packages;
  const ownerRow = await packages.ownerForPublish(viewer, owner);
  let stored: { blob: StoredBlob; fileName: string } | null = null;
  ctx.req.socket.setTimeout(0);
  const limits = {
    files: 2,
    fileBytes: settings.maxFileBytes,
    fields: 500,
    fieldBytes: maxFieldBytes,
    deadlineMs: 3_600_000,
  };
  const { fields, failure } = await readMultipart(
    ctx.req,
    limits,
    async ({ field, fileName, content }: ReceivedPart) => {
      if (field !== 'content') {
        content.resume();
        return;
      }
      stored = { fileName, blob: await packages.blobs.receive(ownerRow.id, chunksOf(content)) };
    },
  );
  if (failure !== null) throw failure;
  const text = (name: string): string => fields[name]?.[0] ?? '';
  if (text(':action') !== 'file_upload') throw malformed('Only uploads of files are taken here (:action=file_upload).');
  if (stored === null) throw malformed('The file is missing.');
  const to = await packages.openForPublish(viewer, { owner, format: 'pypi', name: text('name') });
  await publish(deps, viewer, to, stored, text);
  ctx.status = 200;
  ctx.body = '';
}

async function publish(
  { packages }: PackageHttpDeps,
  viewer: Parameters<PackageHttpDeps['packages']['openForPublish']>[0],
  to: PublishTarget,
  { blob, fileName }: { blob: StoredBlob; fileName: string },
  text: (name: string) => string,
): Promise<void> {
  const version = text('version');
  formatOf('pypi').versionKey(version);
  requireFileName(to.nameKey, fileName);
  if (text('sha256_digest') !== '' && text('sha256_digest').toLowerCase() !== blob.sha256)
    throw malformed('The file that arrived does not have the announced SHA-256.');
  const isWheel = fileName.endsWith('.whl');
  const core = isWheel
    ? await readWheelMetadata(blob.bytes, (first, last) => packages.blobs.range(to.owner.id, blob.sha256, first, last))
    : null;
  if (isWheel && (core === null || !saysSame(core, to.nameKey, version)))
    throw malformed(
      'This is no wheel of this name and version: its METADATA is missing, too large, or says something else.',
    );
  const metadata: PypiFileMetadata = {
    requiresPython: text('requires_python').slice(0, 200) || null,
    core: core?.toString('utf8') ?? null,
  };
  await packages.versions.publish(viewer, to, {
    version,
    metadata: {
      summary: text('summary').slice(0, 1_000),
      description: text('description').slice(0, 200_000),
      descriptionType: text('description_content_type').slice(0, 100),
      license: (text('license_expression') || text('license')).slice(0, 1_000),
      requiresPython: metadata.requiresPython,
      homePage: text('home_page').slice(0, 1_000),
    },
    files: [{ name: fileName, ...blob, metadata }],
    existing: 'add',
  });
}

/** Throws `invalid_package_file` unless the file name begins with the package name, in any spelling. */
function requireFileName(nameKey: string, fileName: string): void {
  const isOne = isFileName(fileName) && /\.(?:whl|tar\.gz|zip|tar\.bz2|egg)$/.test(fileName);
  const spelled = fileName.toLowerCase().replace(/[-_.]+/g, '-');
  if (!isOne || !spelled.startsWith(`${nameKey}-`))
    throw invalid(
      'invalid_package_file',
      `A file of ${nameKey} begins with its name and ends in .whl, .tar.gz or .zip.`,
    );
}

/** Whether the metadata of a wheel names this package and version. */
function saysSame(core: Buffer, nameKey: string, version: string): boolean {
  const field = (name: string): string =>
    new RegExp(`^${name}:[ \\t]*([^\\r\\n]{1,300})`, 'mi').exec(core.toString('utf8', 0, 65_536))?.[1]?.trim() ?? '';
  const spelled = field('Name')
    .toLowerCase()
    .replace(/[-_.]+/g, '-');
  return spelled === nameKey && field('Version').toLowerCase() === version.toLowerCase();
}
