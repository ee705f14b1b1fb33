import type { GitLimits } from '../limits.ts';
import { isReserved, refuseRef } from '../refs/ref-name.ts';
import { noRef } from './push-head.ts';
import type { PushHead, RawUpdate } from './push-head.ts';

/** Why which commands of a push are not executed, in words for the person who pushes. */
export type Refusals = Map<RawUpdate, string>;

export interface RefRules {
  limits: Pick<GitLimits, 'maxUpdatesPerPush' | 'maxPushOptions' | 'maxRefs'>;
  /** Folders of refs that this repository takes besides the usual ones. */
  extraFolders: readonly string[];
  /** Asked only when the push adds refs: how many of so many the repository may get. */
  grant(refs: number): Promise<number>;
}

/** What git says of the other commands when `--atomic` was asked for and one cannot be executed. */
export const atomicFailure = 'atomic push failure';

export const isAtomic = ({ capabilities }: Pick<PushHead, 'capabilities'>): boolean => capabilities.has('atomic');

/**
 * The ref policy, command by command, as git's own `receive-pack` judges: what is refused is reported, the
 * rest is executed. Only limits of the push as a whole refuse all of it.
 */
export async function judgeRefs(
  { updates, options }: Pick<PushHead, 'updates' | 'options'>,
  { limits, extraFolders, grant }: RefRules,
): Promise<Refusals> {
  const all = (reason: string): Refusals => new Map(updates.map((update) => [update, reason]));
  if (updates.length > limits.maxUpdatesPerPush)
    return all(`one push may update at most ${limits.maxUpdatesPerPush} refs; push in parts`);
  if (options.length > limits.maxPushOptions) return all(`one push may have at most ${limits.maxPushOptions} options`);

  const refusals: Refusals = new Map();
  const named = new Set<string>();
  const namedTwice = new Set<string>();
  for (const { rawRef } of updates) (named.has(rawRef) ? namedTwice : named).add(rawRef);
  for (const update of updates) {
    const reason = namedTwice.has(update.rawRef)
      ? 'the push names this ref twice'
      : refuseRef(Buffer.from(update.rawRef, 'latin1'), noRef.test(update.oldId), extraFolders);
    if (reason !== null) refusals.set(update, reason);
  }

  const left = updates.filter((update) => !refusals.has(update));
  const added = left.filter(({ oldId, newId }) => noRef.test(oldId) && !noRef.test(newId));
  const removed = left.filter(({ oldId, newId }) => !noRef.test(oldId) && noRef.test(newId)).length;
  if (added.length > removed) {
    const granted = removed + (await grant(added.length - removed));
    for (const update of added.slice(granted)) refusals.set(update, `a repository has at most ${limits.maxRefs} refs`);
  }
  return refusals;
}

/** Gives every command that has no reason yet this one; with `--atomic`, one refused command refuses all. */
export function refuseTheRest(refusals: Refusals, updates: readonly RawUpdate[], reason: string): void {
  for (const update of updates) if (!refusals.has(update)) refusals.set(update, reason);
}

/** Lines of the summary; a push has refs in few folders. */
const maxLines = 10;
/** So many refs that share folder and reason get a line; fewer show well enough beside their names. */
const manyRefs = 10;

/**
 * What a push left out, in a few lines: git prints one for each ref, and among thousands of them nobody
 * sees what became of the rest.
 */
export function summarise(refusals: Refusals): string[] {
  const groups = Map.groupBy(refusals, ([{ rawRef }, reason]) => `${folderOf(rawRef)} ${reason}`);
  return [...groups.values()]
    .map((group) => ({ count: group.length, rawRef: group[0]![0].rawRef, reason: group[0]![1] }))
    .filter(({ count, rawRef }) => count >= manyRefs || isReserved(rawRef))
    .slice(0, maxLines)
    .map(({ count, rawRef, reason }) => {
      const refs = `${count.toLocaleString('en')} ${count === 1 ? 'ref' : 'refs'} under ${folderOf(rawRef)}`;
      const own = count === 1 ? "it is the server's own" : "they are the server's own";
      return `${refs} ${count === 1 ? 'was' : 'were'} left out: ${isReserved(rawRef) ? own : reason}`;
    });
}

/** `refs/pull/` of `refs/pull/7/head`. */
const folderOf = (rawRef: string): string => /^refs\/[^/]+\//.exec(rawRef)?.[0] ?? 'no known folder';
