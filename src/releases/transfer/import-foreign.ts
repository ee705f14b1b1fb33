import { cleanText } from '../../accounts/index.ts';
import { invalid } from '../../kernel/index.ts';
import { parseTagName, repositoryOf } from '../../repositories/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { ReleaseDeps } from '../deps.ts';
import { fileExists } from '../files/add-files.ts';
import { bytesLeft, fileKey, fileTooLarge, quotaExceeded } from '../files/receive-file.ts';
import { limits } from '../limits.ts';
import { parseFileName } from '../parse-release.ts';
import { releaseExists, releaseNotFound } from '../release-errors.ts';
import { releaseFileSchema, releaseSchema } from '../schema/release-schema.ts';
import type { ReleaseFile, ReleaseRow } from '../schema/release-schema.ts';
import { cleanFileName, cleanNotes } from './clean-texts.ts';

/** A release of another forge with untrusted texts. Times are epoch milliseconds. */
export interface ForeignRelease {
  /** Identifier at that forge. */
  origin: string;
  tag: string;
  target: string;
  title: string;
  body: string;
  isDraft: boolean;
  isPrerelease: boolean;
  /** A name; null if unknown. */
  author: string | null;
  createdAt: number;
  publishedAt: number | null;
}

/** A file of a release of another forge. */
export interface ForeignFile {
  /** Identifier of this content at that forge: different content under the same name has another origin. */
  origin: string;
  name: string;
  /** As declared by the other forge; null if unknown. */
  bytes: number | null;
  /** In hex. */
  sha256: string | null;
  createdAt: number;
}

type Texts = Pick<
  ReleaseRow,
  'tagOid' | 'target' | 'title' | 'body' | 'isDraft' | 'isPrerelease' | 'publishedAt' | 'listedAt'
>;

/**
 * Stores a release of another forge, or updates an earlier import; a release that was edited here keeps its texts.
 * Notifies nobody. A release without a tag here is a draft. Texts are cleaned and truncated rather than rejected.
 * Throws `invalid_tag_name`, `release_exists` for a tag with a release of another origin, `too_many_releases`.
 * @param tagOid object id of the tag here; null without one
 * @returns its id and its current files
 */
export async function storeForeignRelease(
  deps: ReleaseDeps,
  { id: repositoryId, defaultBranch }: Pick<Repository, 'id' | 'defaultBranch'>,
  release: ForeignRelease,
  tagOid: string | null,
): Promise<{ id: string; files: ReleaseFile[] }> {
  const tag = parseTagName(release.tag);
  const { origin, isPrerelease, createdAt } = release;
  const isDraft = release.isDraft || tagOid === null;
  const publishedAt = isDraft ? null : (release.publishedAt ?? createdAt);
  const texts: Texts = {
    tagOid: isDraft ? null : tagOid,
    target: cleanText(release.target, 200) || defaultBranch,
    title: cleanText(release.title, limits.titleCharacters),
    body: cleanNotes(release.body),
    isDraft,
    isPrerelease,
    publishedAt,
    listedAt: publishedAt ?? createdAt,
  };
  return deps.db.write(async ({ manager, now }) => {
    const there = await manager.findOneBy(releaseSchema, { repositoryId, tag });
    if (there === null) {
      if ((await manager.countBy(releaseSchema, { repositoryId })) >= limits.releasesPerRepository)
        throw invalid('too_many_releases', `A repository can have at most ${limits.releasesPerRepository} releases.`);
      const id = deps.random.uuid();
      const authorName = release.author === null ? null : cleanText(release.author, 100) || null;
      const made = {
        tagMessage: '',
        staysBehind: false,
        authorId: null,
        authorName,
        revision: 1,
        createdAt,
        updatedAt: now,
      };
      await manager.insert(releaseSchema, { id, repositoryId, tag, origin, ...made, ...texts });
      return { id, files: [] };
    }
    if (there.origin !== origin) throw releaseExists(tag);
    const isEdited = there.revision > 1;
    const isSame = (Object.keys(texts) as (keyof Texts)[]).every((key) => there[key] === texts[key]);
    if (!isEdited && !isSame) await manager.update(releaseSchema, { id: there.id }, { ...texts, updatedAt: now });
    return { id: there.id, files: await manager.findBy(releaseFileSchema, { releaseId: there.id }) };
  });
}

/**
 * Adds a file of another forge to a release as it arrives, replacing an earlier import of the same name. Throws
 * `release_file_exists` if a file created here has the name, `too_many_release_files`, `release_quota`,
 * `release_file_too_large`, `release_not_found`, and the errors of the store and the content; then nothing is stored.
 */
export async function storeForeignFile(
  deps: ReleaseDeps,
  repository: Repository,
  releaseId: string,
  file: ForeignFile,
  open: () => Promise<AsyncIterable<Uint8Array>>,
): Promise<void> {
  const name = parseFileName(cleanFileName(file.name));
  const { fileBytes } = deps.settings;
  const left = await bytesLeft(deps, deps.db.read, repository);
  const tooLarge = () => (left < fileBytes ? quotaExceeded() : fileTooLarge(fileBytes));
  const maxBytes = Math.min(left, fileBytes);
  if (maxBytes <= 0 || (file.bytes ?? 0) > maxBytes) throw tooLarge();
  const id = deps.random.uuid();
  const stored = await deps.objects.put(fileKey(id), await open(), {
    maxBytes,
    tooLarge,
    expected: {
      ...(file.bytes !== null && { bytes: file.bytes }),
      ...(file.sha256 !== null && { sha256: file.sha256 }),
    },
  });
  try {
    await deps.db.write(async (tx) => {
      const { manager } = tx;
      const [release, owner] = [
        await manager.findOneBy(releaseSchema, { id: releaseId }),
        await repositoryOf(tx, repository.id),
      ];
      if (release === null || owner === null) throw releaseNotFound();
      const before = await manager.findOneBy(releaseFileSchema, { releaseId, name });
      if (before !== null && before.origin === null) throw fileExists(name);
      if (before !== null) await manager.delete(releaseFileSchema, { id: before.id });
      else if ((await manager.countBy(releaseFileSchema, { releaseId })) >= limits.filesPerRelease)
        throw invalid('too_many_release_files', `A release can have at most ${limits.filesPerRelease} files.`, {
          field: 'files',
        });
      if (stored.bytes > (await bytesLeft(deps, manager, owner))) throw quotaExceeded();
      const { origin, createdAt } = file;
      const rest = { repositoryId: repository.id, downloads: 0, uploaderId: null, createdAt };
      await manager.insert(releaseFileSchema, { id, releaseId, name, origin, ...stored, ...rest });
    });
  } catch (error) {
    await deps.objects.remove(fileKey(id));
    throw error;
  }
}
