import type { ChangedFile, Git, RefPath } from '../../git/index.ts';
import { noRef } from '../../kernel/index.ts';
import { imageSize } from '../../images/index.ts';
import type { ImageSize } from '../../images/index.ts';
import { sizeImages } from '../markdown/size-images.ts';
import { codeUrl, decodePath } from '../app/code-urls.ts';

/** Larger images are not read: git returns all of a blob or nothing, and only its first bytes are needed. */
const maxReadBytes = 2 * 1024 * 1024;
const maxRemembered = 5_000;

/** Sizes by blob id, or by commit and path; both always name the same bytes. */
const known = new Map<string, ImageSize | null>();

function remember(key: string, size: ImageSize | null): ImageSize | null {
  known.set(key, size);
  if (known.size > maxRemembered) known.delete(known.keys().next().value!);
  return size;
}

/** The size of an image in a repository; null if it is not an image, or too large to be read. */
async function readBlobImageSize(git: Git, path: string, oid: string): Promise<ImageSize | null> {
  const before = known.get(oid);
  if (before !== undefined) return before;
  const { content } = await git.objects.blob(path, oid, { maxBytes: maxReadBytes });
  return remember(oid, content === null ? null : imageSize(content));
}

/** Sizes of both versions of changed images, by blob id. */
export async function readBlobImageSizes(
  git: Git,
  path: string,
  files: readonly ChangedFile[],
): Promise<Map<string, ImageSize | null>> {
  const blobs = new Set(files.flatMap(({ oldOid, newOid }) => [oldOid, newOid]).filter((oid) => !noRef.test(oid)));
  return new Map(
    await Promise.all(
      [...blobs].map(
        async (oid): Promise<[string, ImageSize | null]> => [
          oid,
          await readBlobImageSize(git, path, oid).catch(() => null),
        ],
      ),
    ),
  );
}

/** Sets width and height of the images in a document that are files of the same repository. */
export function setImageSizes(
  git: Git,
  path: string,
  repositoryUrl: string,
  at: RefPath,
  html: string,
): Promise<string> {
  const start = `${codeUrl(repositoryUrl, 'raw', at.ref)}/`;
  return sizeImages(html, async (address) => {
    if (!address.startsWith(start)) return null;
    const file = address.slice(start.length);
    const key = `${at.oid} ${file}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    try {
      const entry = await git.objects.entryAt(path, at.oid, decodePath(file));
      if (entry.kind !== 'file' && entry.kind !== 'executable') return null;
      return remember(key, await readBlobImageSize(git, path, entry.oid));
    } catch {
      // A document may link to a missing image.
      return null;
    }
  });
}
