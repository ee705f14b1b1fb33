import type { Context } from '../../http/index.ts';
import { HttpError } from '../../http/index.ts';
import { invalid } from '../../kernel/index.ts';
import { isFileName, packageNotFound, versionNotFound } from '../../packages/index.ts';
import type { FoundPackage, PackageFileRow } from '../../packages/index.ts';
import { authenticate } from '../authenticate.ts';
import type { PackageHttpDeps } from '../deps.ts';
import { problemErrors } from '../errors.ts';
import type { PackageProtocol, PackageRequest } from '../protocol.ts';
import { discardContent, isKnown, readSmallBody, receiveUpload, sendContent } from '../transfer.ts';
import { artifactMetadata, digestOfText, snapshotMetadata } from './maven-metadata.ts';

/**
 * A Maven repository for mvn, Gradle and sbt: `group/parts/artifact/version/file`, with a checksum file for each file,
 * and a generated `maven-metadata.xml`, so that concurrent publishers never overwrite each other's.
 */
export const mavenProtocol: PackageProtocol = {
  format: 'maven',
  // Maven 4 shows the detail of a problem; Maven 3 and Gradle show the reason phrase.
  errors: problemErrors,
  async serve(deps, ctx, request) {
    const at = readPath(request.parts);
    if (at === null) throw packageNotFound();
    const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
    if (isRead) return serve(deps, ctx, request, at);
    if (ctx.method === 'PUT') return receive(deps, ctx, request, at);
    throw new HttpError(405, 'This address accepts only GET and PUT.');
  },
};

interface MavenPath {
  /** `group:artifact`, for a file in a version. */
  name: string;
  /** Null for metadata of the artifact of this name. */
  version: string | null;
  file: string;
  /** The requested checksum of the file; null for the file itself. */
  checksum: 'sha1' | 'md5' | 'sha256' | 'sha512' | null;
}

const metadataFile = 'maven-metadata.xml';

/** Null if it is not a path of a Maven repository. */
function readPath(parts: readonly string[]): MavenPath | null {
  const last = parts.at(-1) ?? '';
  const [, file = '', checksum = null] = /^(.+?)(?:\.(sha1|md5|sha256|sha512))?$/.exec(last) ?? [];
  if (!isFileName(file) || parts.some((part) => part === '')) return null;
  const folders = parts.slice(0, -1);
  // A version begins with a digit or ends in -SNAPSHOT; metadata of an artifact is one folder above.
  const isOfArtifact = file === metadataFile && !(folders.at(-1) ?? '').endsWith('-SNAPSHOT');
  const version = isOfArtifact ? null : (folders.at(-1) ?? '');
  const named = isOfArtifact ? folders : folders.slice(0, -1);
  if (named.length < 2) return null;
  const name = `${named.slice(0, -1).join('.')}:${named.at(-1)}`;
  return { name, version, file, checksum: checksum as MavenPath['checksum'] };
}

const isSnapshot = (version: string): boolean => version.endsWith('-SNAPSHOT');

async function serve(deps: PackageHttpDeps, ctx: Context, { owner }: PackageRequest, at: MavenPath): Promise<void> {
  const { packages } = deps;
  const found = await packages.find(await authenticate(deps, ctx), { owner, format: 'maven', name: at.name });
  if (found.package.versions === 0) throw packageNotFound();
  if (at.file === metadataFile) return sendMetadata(deps, ctx, found, at);
  const row = await packages.versions.find(found, at.version!);
  const file = await packages.files.find(row.id, at.file);
  if (at.checksum !== null) return sendText(ctx, hashOf(file, at.checksum), 'text/plain');
  if (ctx.method === 'GET') packages.versions.countDownload(row.id);
  await sendContent(deps, ctx, {
    ...file,
    type: 'application/octet-stream',
    etag: `"${file.sha256}"`,
    headers: { 'Last-Modified': new Date(file.createdAt).toUTCString() },
  });
}

const hashOf = (file: PackageFileRow, checksum: NonNullable<MavenPath['checksum']>): string => file[checksum] ?? '';

function sendText(ctx: Context, text: string, type: string): void {
  ctx.set('Cache-Control', 'private, no-cache');
  ctx.body = text;
  ctx.set('Content-Type', `${type}; charset=utf-8`);
}

async function sendMetadata(
  deps: PackageHttpDeps,
  ctx: Context,
  found: FoundPackage,
  { version, checksum }: MavenPath,
): Promise<void> {
  const { packages } = deps;
  const text =
    version === null
      ? artifactMetadata(found.package, await packages.versions.all(found))
      : await metadataOfSnapshot(deps, found, version);
  if (checksum !== null) return sendText(ctx, digestOfText(text, checksum), 'text/plain');
  const etag = `"${digestOfText(text, 'sha256')}"`;
  ctx.set('ETag', etag);
  if (!isKnown(ctx, etag)) sendText(ctx, text, 'application/xml');
}

async function metadataOfSnapshot(
  { packages }: PackageHttpDeps,
  found: FoundPackage,
  version: string,
): Promise<string> {
  const row = await packages.versions.find(found, version);
  return snapshotMetadata(found.package, row, await packages.files.ofVersion(row.id));
}

async function receive(deps: PackageHttpDeps, ctx: Context, { owner }: PackageRequest, at: MavenPath): Promise<void> {
  const { packages } = deps;
  const viewer = await authenticate(deps, ctx);
  const to = await packages.openForPublish(viewer, { owner, format: 'maven', name: at.name });
  if (at.file === metadataFile) {
    // Generated by this server.
    discardContent(ctx);
    ctx.status = 201;
    ctx.body = '';
    return;
  }
  const version = packages.checkVersion('maven', at.version!);
  if (at.checksum !== null) return compareChecksum(deps, ctx, viewer, owner, at);
  const replaces = isSnapshot(version);
  if (!replaces) await packages.versions.refuseFile(to, version, at.file);
  const blob = await receiveUpload(ctx, viewer, (content) => packages.blobs.receive(to.owner.id, content, true));
  await packages.versions.publish(viewer, to, {
    version,
    metadata: {},
    files: [{ name: at.file, ...blob }],
    existing: 'add',
    replaces,
  });
  ctx.status = 201;
  ctx.body = '';
}

/** A client sends its checksum after the file: a different one reveals a corrupt transfer. */
async function compareChecksum(
  deps: PackageHttpDeps,
  ctx: Context,
  viewer: Parameters<PackageHttpDeps['packages']['find']>[0],
  owner: string,
  { name, version, file: fileName, checksum }: MavenPath,
): Promise<void> {
  const { packages } = deps;
  const sent = (await readSmallBody(ctx, 1_024)).toString().trim().split(/\s/, 1)[0]!.toLowerCase();
  const found = await packages.find(viewer, { owner, format: 'maven', name });
  const row = await packages.versions.find(found, version!).catch(() => null);
  if (row === null) throw versionNotFound();
  const file = await packages.files.find(row.id, fileName);
  if (hashOf(file, checksum!) !== sent)
    throw invalid(
      'package_checksum',
      `The ${checksum} of ${fileName} does not match: the file was damaged in transit.`,
    );
  ctx.status = 201;
  ctx.body = '';
}
