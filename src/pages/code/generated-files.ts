import type { Git } from '../../git/index.ts';
import { isUsuallyGenerated, linguistAttributes } from '../../highlighting/index.ts';
import { maxFoldersOfPage, readFiles } from './read-editor-configs.ts';

/** Whether a file was made by a program, so that its changes are folded. */
export type IsGenerated = (path: string) => boolean;

/**
 * Which of these files are generated: by `linguist-generated` in `.gitattributes` of a commit, else by their names. A
 * page that cannot read the attributes goes by the names.
 */
export async function readGenerated(
  { found }: { found: { path: string } },
  deps: { git: Git },
  commit: string | null,
  paths: readonly string[],
): Promise<IsGenerated> {
  if (commit === null) return isUsuallyGenerated;
  const place = { deps, repository: found.path, commit };
  const byFolder = Map.groupBy(paths, (path) => path.slice(0, path.lastIndexOf('/') + 1));
  const stated = new Map<string, boolean>();
  const reads = [...byFolder.values()].slice(0, maxFoldersOfPage).map(async (inFolder) => {
    const attributesOf = linguistAttributes(await readFiles(place, inFolder[0]!, '.gitattributes').catch(() => []));
    for (const path of inFolder) {
      const { isGenerated } = attributesOf(path);
      if (isGenerated !== null) stated.set(path, isGenerated);
    }
  });
  await Promise.all(reads);
  return (path) => stated.get(path) ?? isUsuallyGenerated(path);
}
