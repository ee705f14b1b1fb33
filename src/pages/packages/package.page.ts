import { hash } from 'node:crypto';
import type { Viewer } from '../../access/index.ts';
import { notFound } from '../../kernel/index.ts';
import type { FoundPackage, NamedVersion, PackageFileRow } from '../../packages/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { nullIfNotFound } from '../../kernel/index.ts';
import { viewCount, viewNumber, viewSize } from '../app/format-numbers.ts';
import { viewFlashMessage } from '../app/flash-messages.view.ts';
import { numberedPage } from '../app/numbered-page.view.ts';
import { viewName } from '../app/printable-names.ts';
import { page } from '../app/reply.ts';
import type { Reply } from '../app/reply.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import { sendFile } from '../app/send-file.ts';
import { viewTime } from '../app/times.view.ts';
import type { ReadmeView } from '../code/readme.view.ts';
import { viewSomeone } from '../issues/people.view.ts';
import { prepareDocument } from '../markdown/prepare-document.ts';
import { noReferences } from '../markdown/reference-links.ts';
import { remoteImagesOf } from '../markdown/remote-images.ts';
import { fillDocument } from '../markdown/render-document.ts';
import { repositoryLinks } from '../markdown/repository-links.ts';
import { readAbout } from './about.view.ts';
import type { VersionAbout } from './about.view.ts';
import type { PackagesDeps } from './deps.ts';
import { viewImage } from './image.view.ts';
import { viewInstallation } from './install-commands.view.ts';
import { viewPackageHead } from './package-head.view.ts';
import { viewVersionName } from './package-row.view.ts';
import { fileUrl, packageOf, packageUrl, versionUrl } from './package-urls.ts';

const recentVersions = 8;
const maxFiles = 200;

/** A README, rendered like one of a repository; relative links resolve to the linked repository. */
async function viewReadme(
  { viewer, origin }: RequestContext,
  deps: PackagesDeps,
  found: FoundPackage,
  { readme, isMarkdown }: VersionAbout,
): Promise<ReadmeView | null> {
  if (readme.trim() === '') return null;
  const shown = { name: 'README', html: null, text: null, note: null, isFinal: true };
  if (!isMarkdown) return { ...shown, text: readme };
  const place = await placeOf(viewer, origin, deps, found);
  const document = await prepareDocument(deps.workers, {
    key: `package ${hash('sha256', readme)}`,
    source: () => readme,
    client: packageUrl(found),
    showsRemoteImages: place?.showsRemoteImages ?? false,
    origin: null,
  });
  const links = place === null ? { page: () => null, image: () => null } : repositoryLinks(place);
  const filled = fillDocument(document, { links, references: noReferences, origin: null, taskForm: null });
  return { ...shown, ...filled };
}

async function placeOf(viewer: Viewer, origin: string, deps: PackagesDeps, { owner, package: row }: FoundPackage) {
  if (row.repositoryId === null) return null;
  const located = (await deps.repositories.locate([row.repositoryId])).get(row.repositoryId);
  if (located === undefined) return null;
  const found = await deps.repositories.find(viewer, owner.handle, located.repository.name).catch(nullIfNotFound);
  if (found === null) return null;
  return {
    repositoryUrl: repositoryUrl(found.canonical),
    ref: found.repository.defaultBranch,
    folder: Buffer.alloc(0),
    ...remoteImagesOf(found, deps, origin),
  };
}

async function versionPage(
  context: RequestContext,
  deps: PackagesDeps,
  found: FoundPackage,
  { version: row, tag }: NamedVersion,
): Promise<Reply> {
  const { packages, owners, clock } = deps;
  const { format } = found.package;
  const isImage = format === 'oci';
  const [head, files, tags, recent, people, image] = await Promise.all([
    viewPackageHead(context, deps, found),
    packages.files.ofVersion(row.id),
    packages.tags.ofVersion(row.id),
    recentOf(deps, found),
    owners.ownersById(row.publisherId === null ? [] : [row.publisherId]),
    isImage ? viewImage(deps, found, row) : null,
  ]);
  const about = readAbout(format, row);
  const now = clock.now();
  const names = tags.map(({ name }) => name);
  const shownTag = isImage ? (tag ?? names[0] ?? null) : null;
  return page('packages/package', {
    package: head,
    version: {
      name: viewVersionName(row, shownTag),
      digest: isImage ? row.version : null,
      tags: names.map((name) => ({ name, url: versionUrl(found, name) })),
      published: viewTime(row.createdAt, now),
      publisher: row.taskId !== null ? null : viewSomeone({ id: row.publisherId, name: null }, people),
      byJob: row.taskId !== null,
      size: viewSize(row.bytes),
      downloads: viewCount(row.downloads, 'download'),
      deletion: `${versionUrl(found, row.version)}/delete`,
    },
    warning: about.warning === null ? null : viewName(about.warning),
    description: about.description || image?.description || null,
    licence: about.licence || image?.licence || null,
    website: about.website || (/^https?:\/\/\S+$/.test(image?.website ?? '') ? image?.website : null) || null,
    dependencies: about.dependencies.map(viewName),
    image,
    files: isImage ? [] : files.slice(0, maxFiles).map((file) => viewFile(found, row.version, file)),
    moreFiles: isImage ? 0 : Math.max(0, files.length - maxFiles),
    recipes: viewInstallation(
      format,
      { origin: context.origin, owner: found.owner.handle },
      {
        name: found.package.name,
        version: row.version,
        tags: shownTag === null ? names : [shownTag, ...names.filter((name) => name !== shownTag)],
        files: files.map(({ name }) => name),
        isArtifact: image?.isArtifact ?? false,
        isPrivate: head.isPrivate,
      },
    ),
    readme: await viewReadme(context, deps, found, about),
    recent: recent.map((one) => ({
      ...one,
      isChosen: one.id === row.id && (one.tag === null || one.tag === shownTag),
    })),
    notice: viewFlashMessage(context.query),
  });
}

const viewFile = (found: FoundPackage, version: string, { name, bytes, sha256 }: PackageFileRow) => ({
  name: viewName(name),
  url: fileUrl(found, version, name),
  size: viewSize(bytes),
  sha256,
});

/** The newest versions; for an image, the tags that moved last. */
async function recentOf({ packages, clock }: PackagesDeps, found: FoundPackage) {
  const now = clock.now();
  if (found.package.format === 'oci')
    return (await packages.tags.page(found.package, { limit: recentVersions })).map(({ tag, version }) => ({
      id: version.id,
      tag: tag.name as string | null,
      name: tag.name,
      url: versionUrl(found, tag.name),
      at: viewTime(tag.updatedAt, now),
    }));
  return (await packages.versions.page(found, { limit: recentVersions })).map((version) => ({
    id: version.id,
    tag: null as string | null,
    name: viewVersionName(version),
    url: versionUrl(found, version.version),
    at: viewTime(version.createdAt, now),
  }));
}

/** `/packages/{owner}/-/{format}/{name}`: the newest version; `?tab=versions` all of them. */
export const showPackage: Page<RequestContext, PackagesDeps> = async (context, deps): Promise<Reply> => {
  const found = await packageOf(context, deps);
  if (context.query.get('tab') === 'versions') return versionsPage(context, deps, found);
  const latest = await deps.packages.versions.latest(found.package);
  if (latest !== null) return versionPage(context, deps, found, latest);
  // All its versions are in the trash, which only users who may restore it see.
  if (!deps.packages.mayOn(context.viewer, found, 'delete')) throw notFound();
  return versionsPage(context, deps, found);
};

/** `…/{version}`: by name; for an image by tag or digest. */
export const showVersion: Page<RequestContext, PackagesDeps> = async (context, deps): Promise<Reply> => {
  const found = await packageOf(context, deps);
  return versionPage(context, deps, found, await deps.packages.versions.named(found, context.params['version'] ?? ''));
};

async function versionsPage(context: RequestContext, deps: PackagesDeps, found: FoundPackage): Promise<Reply> {
  const { packages, clock } = deps;
  const head = await viewPackageHead(context, deps, found);
  const { rows, next, previous } = await numberedPage(
    ({ limit, skip }) => packages.versions.page(found, { limit, offset: skip }),
    context.query,
    packageUrl(found),
  );
  const [tags, deleted] = await Promise.all([
    packages.tags.ofVersions(rows.map(({ id }) => id)),
    head.mayDelete ? packages.versions.page(found, { limit: 50, trashed: true }) : [],
  ]);
  if (rows.length === 0 && deleted.length === 0) throw notFound();
  const now = clock.now();
  return page('packages/versions', {
    package: head,
    versions: rows.map((row) => ({
      name: viewVersionName(row),
      url: versionUrl(found, row.version),
      tags: (tags.get(row.id) ?? []).map((name) => ({ name, url: versionUrl(found, name) })),
      size: viewSize(row.bytes),
      downloads: row.downloads === 0 ? null : viewNumber(row.downloads),
      at: viewTime(row.createdAt, now),
      deletion: `${versionUrl(found, row.version)}/delete`,
    })),
    deleted: deleted.map((row) => ({
      name: viewVersionName(row),
      at: viewTime(row.deletedAt ?? now, now),
      restore: `${versionUrl(found, row.version)}/restore`,
    })),
    next,
    previous,
    notice: viewFlashMessage(context.query),
  });
}

/** `…/{version}/files/{file}`: a download with the session, because the registry accepts only tokens. */
export const downloadPackageFile: Page<RequestContext, PackagesDeps> = async (context, deps): Promise<Reply> => {
  const { params, method, range, ifRange } = context;
  const { packages } = deps;
  const found = await packageOf(context, deps);
  const { version } = await packages.versions.named(found, params['version'] ?? '');
  const file = (await packages.files.ofVersion(version.id)).find(({ name }) => name === params['file']);
  if (file === undefined || found.package.format === 'oci') throw notFound();
  const sent = { ...file, contentType: 'application/octet-stream', isInline: false };
  return sendFile({ range, ifRange }, sent, async (part) => {
    if (method === 'GET' && (part === undefined || part.first === 0)) packages.versions.countDownload(version.id);
    return packages.blobs.open(file, part);
  });
};
