import { invalid, isDomainError } from '../../kernel/index.ts';
import { parseTagName } from '../../repositories/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { ReleaseDeps } from '../deps.ts';
import { fileKey } from '../files/receive-file.ts';
import { parseTagMessage, parseTarget } from '../lifecycle/create-release.ts';
import { limits } from '../limits.ts';
import { parseFileName, parseNotes, parseTitle } from '../parse-release.ts';
import { releaseFileSchema, releaseSchema } from '../schema/release-schema.ts';
import type { ReleaseFile, ReleaseRow } from '../schema/release-schema.ts';
import { releaseContentFile, releaseListFile, releasesFile } from './export-format.ts';
import type { ExportedRelease } from './export-format.ts';

/** The files of a bundle with untrusted content. */
export interface ReleaseSource {
  /** Reads a whole small file; null if it is missing. Throws if it is larger. */
  read(name: string, maxBytes: number): Promise<Buffer | null>;
  /** Opens a file as a stream; null if it is missing. */
  open(name: string): Promise<AsyncIterable<Uint8Array> | null>;
}

/** Size in bytes of two hundred releases with the longest texts, as JSON. */
const maxListBytes = 64 * 1024 * 1024;

const unreadable = (file: string, why: string) =>
  invalid('parcel_unreadable', `The releases in this bundle cannot be read: ${file} ${why}.`);

/** Reads the releases of an export, to find errors before anything is created. Throws `parcel_unreadable`. */
export async function readReleases(source: ReleaseSource): Promise<ExportedRelease[]> {
  const all: ExportedRelease[] = [];
  for (let part = 1; ; part += 1) {
    const name = releaseListFile(part);
    const bytes = await source.read(name, maxListBytes);
    if (bytes === null) break;
    all.push(...parseList(name, bytes));
    if (all.length > limits.releasesPerRepository)
      throw unreadable(name, `has more than ${limits.releasesPerRepository} releases`);
  }
  const tags = new Set(all.map(({ tag }) => tag));
  if (tags.size !== all.length) throw unreadable(releaseListFile(1), 'has a tag twice');
  return all;
}

function parseList(name: string, bytes: Buffer): ExportedRelease[] {
  try {
    const { releases } = releasesFile.parse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
    return releases.map((release) => ({
      ...release,
      tag: parseTagName(release.tag),
      target: parseTarget(release.target),
      tagMessage: parseTagMessage(release.tagMessage),
      title: parseTitle(release.title),
      body: parseNotes(release.body),
      files: distinct(release.files.map((file) => ({ ...file, name: parseFileName(file.name) }))),
    }));
  } catch (error) {
    throw unreadable(name, isDomainError(error) ? `has a wrong value: ${error.message}` : 'has not the form of one');
  }
}

function distinct<File extends { name: string }>(files: File[]): File[] {
  if (new Set(files.map(({ name }) => name)).size !== files.length)
    throw invalid('parcel_unreadable', 'A release has two files with the same name.');
  return files;
}

/**
 * Stores releases in a repository that is being imported. Notifies nobody; authors are names. A release whose tag is
 * not imported becomes a draft. Imports by an administrator have no quota. Throws `parcel_unreadable` for a file that
 * is missing or differs from the list, and the errors of the store.
 * @param refs refs of the future repository, by full name
 */
export async function importReleases(
  deps: ReleaseDeps,
  repository: Pick<Repository, 'id'>,
  releases: readonly ExportedRelease[],
  source: ReleaseSource,
  refs: ReadonlyMap<string, string>,
): Promise<void> {
  for (const release of releases) {
    const id = deps.random.uuid();
    const files: ReleaseFile[] = [];
    for (const file of release.files)
      files.push({
        ...file,
        id: await storeFile(deps, file, source),
        releaseId: id,
        repositoryId: repository.id,
        uploaderId: null,
        origin: null,
        createdAt: Date.parse(file.createdAt),
      });
    const row = rowOf(release, id, repository.id, refs.get(`refs/tags/${release.tag}`) ?? null);
    await deps.db.write(async ({ manager }) => {
      await manager.insert(releaseSchema, row);
      if (files.length > 0) await manager.insert(releaseFileSchema, files);
    });
  }
}

async function storeFile(
  { objects, random }: ReleaseDeps,
  { name, bytes, sha256 }: ExportedRelease['files'][number],
  source: ReleaseSource,
): Promise<string> {
  const content = await source.open(releaseContentFile(sha256));
  if (content === null) throw unreadable(releaseContentFile(sha256), `is missing, the content of ${name}`);
  const id = random.uuid();
  const tooLarge = () => unreadable(releaseContentFile(sha256), 'has another size');
  await objects
    .put(fileKey(id), content, { maxBytes: bytes, tooLarge, expected: { bytes, sha256 } })
    .catch((error: unknown) => {
      const isDamaged = isDomainError(error) && error.reason === 'object_damaged';
      throw isDamaged ? unreadable(releaseContentFile(sha256), 'has another content') : error;
    });
  return id;
}

function rowOf(release: ExportedRelease, id: string, repositoryId: string, tagOid: string | null): ReleaseRow {
  const { tag, target, tagMessage, title, body, isPrerelease, author } = release;
  const createdAt = Date.parse(release.createdAt);
  const isDraft = release.isDraft || tagOid === null;
  const publishedAt = isDraft ? null : Date.parse(release.publishedAt ?? release.createdAt);
  return {
    id,
    repositoryId,
    tag,
    tagOid: isDraft ? null : tagOid,
    target,
    tagMessage,
    title,
    body,
    isDraft,
    isPrerelease,
    staysBehind: release.staysBehind ?? false,
    authorId: null,
    authorName: author,
    origin: null,
    revision: 1,
    createdAt,
    updatedAt: Date.parse(release.updatedAt),
    publishedAt,
    listedAt: publishedAt ?? createdAt,
  };
}
