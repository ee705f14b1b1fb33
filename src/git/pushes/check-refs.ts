import { noRef, visitAll } from '../../kernel/index.ts';
import type { GitLimits } from '../limits.ts';
import { isForReview, refuseRef, reservedForServer, reviewFolder } from '../refs/ref-name.ts';
import type { PushHeader, RawUpdate } from './push-header.ts';

/** Refused commands of a push, with the reason that the client shows. */
export type Refusals = Map<RawUpdate, string>;

interface RefRules {
  limits: Pick<GitLimits, 'maxUpdatesPerPush' | 'maxPushOptions' | 'maxRefs'>;
  /** Ref namespaces that this repository accepts besides the usual ones. */
  extraFolders: readonly string[];
  /** Called only if the push adds refs: returns how many of the requested number the repository may get. */
  grant(refs: number): Promise<number>;
}

/** git's message for the other commands if `--atomic` was requested and one is refused. */
export const atomicFailure = 'atomic push failure';

export const isAtomic = ({ capabilities }: Pick<PushHeader, 'capabilities'>): boolean => capabilities.has('atomic');

/**
 * Checks the ref policy command by command, as git's own `receive-pack` does: refused commands are reported, the others
 * are executed. Only limits of the push as a whole refuse all of it.
 */
export async function checkRefs(
  { updates, options }: Pick<PushHeader, 'updates' | 'options'>,
  { limits, extraFolders, grant }: RefRules,
): Promise<Refusals> {
  const all = (reason: string): Refusals => new Map(updates.map((update) => [update, reason]));
  if (updates.length > limits.maxUpdatesPerPush)
    return all(`one push may update at most ${limits.maxUpdatesPerPush} refs; push in parts`);
  if (options.length > limits.maxPushOptions) return all(`one push may have at most ${limits.maxPushOptions} options`);

  const refusals: Refusals = new Map();
  const named = new Set<string>();
  const namedTwice = new Set<string>();
  let hasReview = false;
  await visitAll(updates, ({ rawRef }) => {
    (named.has(rawRef) ? namedTwice : named).add(rawRef);
    hasReview ||= isForReview(rawRef);
  });
  const isReview = hasReview && extraFolders.includes(reviewFolder);
  const added: RawUpdate[] = [];
  let removed = 0;
  await visitAll(updates, (update) => {
    const { rawRef, oldId, newId } = update;
    const creates = noRef.test(oldId);
    const reason = namedTwice.has(rawRef)
      ? 'the push names this ref twice'
      : (refuseRef(Buffer.from(rawRef, 'latin1'), creates, extraFolders) ??
        (isReview ? refuseForReview(update, updates.length) : null));
    if (reason !== null) refusals.set(update, reason);
    else if (creates && !noRef.test(newId) && !isForReview(rawRef)) added.push(update);
    else if (!creates && noRef.test(newId)) removed += 1;
  });

  if (added.length > removed) {
    const granted = removed + (await grant(added.length - removed));
    await visitAll(added.slice(granted), (update) =>
      refusals.set(update, `a repository has at most ${limits.maxRefs} refs`),
    );
  }
  return refusals;
}

/**
 * Reason to refuse a command of a push for review, or null: it must be the only command, because its commits form one
 * pull request, and must not delete a `refs/for/` name.
 * @param commands number of commands in the push, one of which is for review
 */
function refuseForReview({ rawRef, newId }: RawUpdate, commands: number): string | null {
  if (commands > 1) return 'refs/for/ is pushed by itself: one push for each pull request, and branches apart';
  return noRef.test(newId) && isForReview(rawRef) ? 'refs/for/ holds nothing that could be deleted' : null;
}

/** Refuses every command without a reason with this one; with `--atomic`, one refused command refuses all. */
export function refuseTheRest(refusals: Refusals, updates: readonly RawUpdate[], reason: string): void {
  for (const update of updates) if (!refusals.has(update)) refusals.set(update, reason);
}

/** Line limit of the summary; a push has refs in few folders. */
const maxLines = 10;
/**
 * Number of refs with the same folder and reason from which they are summarised in one line; fewer remain readable one
 * by one.
 */
const manyRefs = 10;

/** Summarises the refused refs of a push: git prints a line for each, which is unreadable for thousands. */
export async function summarise(refusals: Refusals): Promise<string[]> {
  const groups = new Map<string, { count: number; rawRef: string; reason: string }>();
  await visitAll(refusals, ([update, reason]) => {
    const rawRef = nameOf(update);
    const key = `${folderOf(rawRef)} ${reason}`;
    const group = groups.get(key) ?? { count: 0, rawRef, reason };
    group.count += 1;
    groups.set(key, group);
  });
  return [...groups.values()]
    .filter(({ count, reason }) => count >= manyRefs || reason === reservedForServer)
    .slice(0, maxLines)
    .map(({ count, rawRef, reason }) => {
      const refs = `${count.toLocaleString('en')} ${count === 1 ? 'ref' : 'refs'} under ${folderOf(rawRef)}`;
      const own = count === 1 ? "it is the server's own" : "they are the server's own";
      return `${refs} ${count === 1 ? 'was' : 'were'} left out: ${reason === reservedForServer ? own : reason}`;
    });
}

const nameOf = ({ clientRef, rawRef }: RawUpdate): string => clientRef ?? rawRef;

/** `refs/pull/` of `refs/pull/7/head`. */
const folderOf = (rawRef: string): string => /^refs\/[^/]+\//.exec(rawRef)?.[0] ?? 'no known folder';
