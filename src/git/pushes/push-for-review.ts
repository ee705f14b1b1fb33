import { readCommit } from '../objects/browse.ts';
import { parseCommit } from '../objects/parse-objects.ts';
import { isForReview } from '../refs/ref-name.ts';
import type { FastForwardDeps, FastForwardRequest } from './fast-forward-check.ts';
import type { IncomingCommits, RewrittenRef } from './push.ts';
import type { PushHeader, RawUpdate } from './push-header.ts';
import { readPackCommits, walkPack } from './read-pack-commits.ts';

/** Whether a command proposes commits for a branch, by the name `refs/for/<branch>`. */
export const isPushForReview = ({ rawRef }: Pick<RawUpdate, 'rawRef'>): boolean => isForReview(rawRef);

/** Reads the commits of a push for review before the hook decides about it; the bytes stay in `head`, for git. */
export async function readIncomingCommits(
  { readers, logger }: Pick<FastForwardDeps, 'readers' | 'logger'>,
  request: FastForwardRequest,
  head: PushHeader,
  { newId }: Pick<RawUpdate, 'newId'>,
): Promise<IncomingCommits> {
  const pack = await readPackCommits(request, head, { newId });
  const content = pack.contentOf(newId);
  const { commits, ends } = walkPack({ oldId: '', newId }, pack, new Set());
  const read = (oid: string) => {
    const found = pack.contentOf(oid);
    return found === undefined ? null : parseCommit(oid, found);
  };
  if (content !== undefined) return { tip: parseCommit(newId, content), isKnown: false, commits, ends, read };
  try {
    const tip = await readers.use(request.path, async (reader) => {
      const [info] = await reader.infos([newId]);
      return info?.type === 'commit' ? await readCommit(reader, newId) : null;
    });
    return { tip, isKnown: tip !== null, commits, ends, read };
  } catch (error) {
    logger.warn('push.tip_unknown', { path: request.path, error });
    return { tip: null, isKnown: false, commits, ends, read };
  }
}

/**
 * Replaces the ref in the command itself by the ref that git should write: refusals and reports are keyed by the
 * command.
 */
export function rewriteCommand(updates: readonly RawUpdate[], { ref, to, oldId }: RewrittenRef): void {
  for (const update of updates)
    if (update.ref === ref) Object.assign(update, { clientRef: update.rawRef, rawRef: to, ref: to, oldId });
}
