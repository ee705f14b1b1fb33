import type { RefPath, TreeEntry } from '../../git/index.ts';
import { nullIfNotFound } from '../../kernel/index.ts';
import type { CodeDeps } from './deps.ts';

const maxLinks = 5;
/** Deeper than any real path. */
const maxSteps = 256;
const maxTargetBytes = 4096;

interface LinkTarget {
  file: Buffer;
  /** Null for the root. */
  entry: TreeEntry | null;
}

/**
 * Resolves the symbolic links of a path, part by part, inside the tree of one commit; never reads the file system. Null
 * if the target is missing, is outside the tree, or needs more than five links.
 */
export async function followLinks(
  { objects }: CodeDeps['git'],
  path: string,
  { oid, file }: Pick<RefPath, 'oid' | 'file'>,
): Promise<LinkTarget | null> {
  // Names are bytes: latin1 preserves each.
  let ahead = file.toString('latin1').split('/');
  const behind: string[] = [];
  let entry: TreeEntry | null = null;
  let links = 0;
  for (let step = 0; ahead.length > 0; step += 1) {
    const part = ahead.shift()!;
    if (step >= maxSteps) return null;
    if (part === '' || part === '.') continue;
    if (entry !== null && entry.kind !== 'folder') return null;
    if (part === '..') {
      if (behind.pop() === undefined) return null;
      entry = behind.length === 0 ? null : await entryOf(objects, path, oid, behind);
      continue;
    }
    const found = await entryOf(objects, path, oid, [...behind, part]);
    if (found === null) return null;
    if (found.kind !== 'symlink') {
      behind.push(part);
      entry = found;
      continue;
    }
    const { content } = await objects.blob(path, found.oid, { maxBytes: maxTargetBytes });
    const target = content?.toString('latin1') ?? '';
    if ((links += 1) > maxLinks || target === '' || target.startsWith('/')) return null;
    ahead = [...target.split('/'), ...ahead];
  }
  return { file: Buffer.from(behind.join('/'), 'latin1'), entry };
}

async function entryOf(
  objects: CodeDeps['git']['objects'],
  path: string,
  oid: string,
  parts: readonly string[],
): Promise<TreeEntry | null> {
  return objects.entryAt(path, oid, Buffer.from(parts.join('/'), 'latin1')).catch(nullIfNotFound);
}
