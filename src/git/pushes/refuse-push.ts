import type { GitLimits } from '../limits.ts';
import type { PushHead, RawUpdate } from './push-head.ts';
import { refuseRef } from '../refs/ref-name.ts';

export interface RefusedUpdate {
  update: RawUpdate;
  reason: string;
}

const noRef = /^0+$/;

/**
 * The ref policy. One refused command refuses the push: git would otherwise act on
 * half of what somebody meant as a whole.
 *
 * @param mayAdd whether the repository may get so many more refs; asked only when the push adds some
 * @returns a reason for every command, or null when git may have the push
 */
export async function refusePush(
  { updates, options }: PushHead,
  limits: GitLimits,
  mayAdd: (refs: number) => Promise<boolean>,
): Promise<RefusedUpdate[] | null> {
  const all = (reason: string) => updates.map((update) => ({ update, reason }));

  if (updates.length > limits.maxUpdatesPerPush) {
    return all(`one push may update at most ${limits.maxUpdatesPerPush} refs; push in parts`);
  }
  if (options.length > limits.maxPushOptions) return all(`one push may have at most ${limits.maxPushOptions} options`);

  const names = new Set<string>();
  const reasons = updates.map(({ rawRef, oldId }) => {
    const name = rawRef.toString('latin1');
    if (names.has(name)) return 'the push names this ref twice';
    names.add(name);
    return refuseRef(rawRef, noRef.test(oldId));
  });
  if (reasons.some((reason) => reason !== null)) {
    return updates.map((update, at) => ({ update, reason: reasons[at] ?? 'another ref of this push was refused' }));
  }

  const added = updates.filter(({ oldId, newId }) => noRef.test(oldId) && !noRef.test(newId)).length;
  const removed = updates.filter(({ oldId, newId }) => !noRef.test(oldId) && noRef.test(newId)).length;
  if (added > removed && !(await mayAdd(added - removed))) {
    return all(`a repository has at most ${limits.maxRefs} refs`);
  }
  return null;
}
