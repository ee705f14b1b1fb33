import type { BlobRange } from '../../git/index.ts';
import type { LfsDeps } from '../deps.ts';
import { maxPointerBytes, minPointerBytes, readPointer } from './read-pointer.ts';
import type { LfsPointer } from './read-pointer.ts';

/**
 * The pointers in a repository, each object once: of all refs, including hidden ones, or of some commits. Throws unless
 * git has read everything without an error.
 */
export async function* scanPointers(
  { git }: Pick<LfsDeps, 'git'>,
  path: string,
  range: BlobRange,
  signal?: AbortSignal,
): AsyncGenerator<LfsPointer> {
  const seen = new Set<string>();
  for await (const { content } of git.objects.smallBlobs(path, range, {
    minBytes: minPointerBytes,
    maxBytes: maxPointerBytes,
    signal,
  })) {
    const pointer = readPointer(content);
    if (pointer === null || seen.has(pointer.oid)) continue;
    seen.add(pointer.oid);
    yield pointer;
  }
}
