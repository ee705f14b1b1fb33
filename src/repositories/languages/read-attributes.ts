import type { Git, ListedFile } from '../../git/index.ts';
import { linguistAttributes } from '../../highlighting/index.ts';
import type { LinguistAttributes } from '../../highlighting/index.ts';

const maxFiles = 20;
const maxBytes = 32 * 1024;
/** Limit of comparisons between rules and paths; further rules of a large repository are ignored. */
const maxComparisons = 2_000_000;

/**
 * Linguist attributes of files in a tree, from the `.gitattributes` files in it; ignores unreadable ones.
 * @param path of the bare repository
 * @param files all files of the tree
 */
export function readAttributes(
  git: Pick<Git, 'objects'>,
  path: string,
  files: readonly ListedFile[],
): Promise<(path: string) => LinguistAttributes> {
  const reading = known.get(files) ?? read(git, path, files);
  known.set(files, reading);
  return reading;
}

/** A cached list, such as that of a commit, always has the same attributes. */
const known = new WeakMap<readonly ListedFile[], Promise<(path: string) => LinguistAttributes>>();

async function read(
  git: Pick<Git, 'objects'>,
  path: string,
  files: readonly ListedFile[],
): Promise<(path: string) => LinguistAttributes> {
  const found = files.filter(({ path: name }) => /(?:^|\/)\.gitattributes$/.test(name.toString('latin1')));
  const texts = await Promise.all(
    found.slice(0, maxFiles).map(async ({ path: name, oid }) => {
      const { content } = await git.objects.blob(path, oid, { maxBytes }).catch(() => ({ content: null }));
      const text = name.toString();
      return { folder: text.slice(0, Math.max(0, text.lastIndexOf('/'))), text: content?.toString() ?? '' };
    }),
  );
  return linguistAttributes(texts, Math.ceil(maxComparisons / Math.max(1, files.length)));
}
