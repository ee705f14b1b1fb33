import type { Git, TreeEntry } from '../git/index.ts';
import { unreadableExport } from '../issues/index.ts';
import type { ImportFile, ImportSource } from '../issues/index.ts';
import { invalid, isDomainError, nullIfNotFound } from '../kernel/index.ts';
import type { ReleaseSource } from '../releases/index.ts';

/** The metadata files of a bundle, read from its temporary repository. Skips links and folders. */
export function bundleFiles(git: Pick<Git, 'objects'>, scratch: string, commit: string): ImportSource {
  const fileOf = ({ name, oid }: TreeEntry): ImportFile => ({
    name,
    read: async (maxBytes) => (await git.objects.blob(scratch, oid, { maxBytes })).content,
  });
  return {
    async file(path) {
      const entry = await git.objects.entryAt(scratch, commit, path).catch(nullIfNotFound);
      return entry === null || !isPlain(entry) ? null : fileOf(entry);
    },
    async files(folder, maxFiles) {
      const tree = await git.objects
        .tree(scratch, commit, folder, { maxEntries: maxFiles })
        .catch(nullIfNotFound)
        .catch((error: unknown) => {
          // A folder with millions of entries would first exceed the limit per folder.
          if (isDomainError(error) && error.reason === 'object_too_large')
            throw unreadableExport(folder, 'has too many files');
          throw error;
        });
      if (tree?.truncated === true) throw unreadableExport(folder, `has more than ${maxFiles} files`);
      return (tree?.entries ?? []).filter(isPlain).map(fileOf);
    },
  };
}

const isPlain = ({ type, kind }: TreeEntry): boolean => type === 'blob' && kind !== 'symlink';

/** The files of the releases in a commit. */
export function releaseSource(git: Git, scratch: string, commit: string): ReleaseSource {
  const blobOf = async (name: string): Promise<string | null> => {
    const entry = await git.objects.entryAt(scratch, commit, name).catch(nullIfNotFound);
    return entry !== null && isPlain(entry) ? entry.oid : null;
  };
  return {
    async read(name, maxBytes) {
      const oid = await blobOf(name);
      const content = oid === null ? null : (await git.objects.blob(scratch, oid, { maxBytes })).content;
      if (oid !== null && content === null)
        throw invalid('parcel_unreadable', `The list of releases in this bundle is too large (${name}).`);
      return content;
    },
    async open(name) {
      const oid = await blobOf(name);
      return oid === null ? null : git.queries.streamBlob(scratch, oid);
    },
  };
}
