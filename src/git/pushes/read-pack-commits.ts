import { maxCheckedBytes, readOn } from './fast-forward-check.ts';
import type { FastForwardRequest } from './fast-forward-check.ts';
import { PackCommits } from './pack-commits.ts';
import type { PushHead, RefUpdate } from './push-head.ts';

/** The commits of a push's pack, as far as they are read; the bytes that were read stay in `head`, for git. */
export async function readPackCommits(
  request: FastForwardRequest,
  head: PushHead,
  { newId }: Pick<RefUpdate, 'newId'>,
): Promise<PackCommits> {
  const pack = new PackCommits(newId.length / 2);
  pack.push(Buffer.concat(head.pack));
  while (!pack.isDone && head.packBytes <= maxCheckedBytes) {
    const chunk = await readOn(request, head);
    if (chunk === null) break;
    pack.push(chunk);
  }
  return pack;
}

/**
 * Follows the pack's commits back from the new one, as far as the old one, commits that the pack does not contain, and
 * those in `known`.
 */
export function walkPack(
  { oldId, newId }: Pick<RefUpdate, 'oldId' | 'newId'>,
  pack: Pick<PackCommits, 'parentsOf'>,
  known: ReadonlySet<string>,
): { commits: string[]; ends: string[] } {
  const seen = new Set([newId]);
  const [commits, ends]: [string[], string[]] = [[], []];
  for (const id of seen) {
    if (id === oldId) continue;
    const parents = known.has(id) ? undefined : pack.parentsOf(id);
    if (parents === undefined) {
      ends.push(id);
      continue;
    }
    commits.push(id);
    for (const parent of parents) seen.add(parent);
  }
  return { commits, ends };
}
