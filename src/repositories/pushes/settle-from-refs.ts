import type { PushRow } from './push-schema.ts';
import type { PushJournal, RefResult } from './push-journal.ts';

const noRef = /^0+$/;

/**
 * Finds out by the refs themselves what became of a push whose report was never
 * seen. A command took effect when its ref is where it wanted it, or when a later
 * push started from there (and moved it on).
 *
 * Only sound while no git process of that push is still running.
 */
export async function settleFromRefs(
  journal: PushJournal,
  push: PushRow,
  refs: ReadonlyMap<string, string>,
): Promise<RefResult[]> {
  const results: RefResult[] = [];
  for (const { ref, newId } of await journal.updatesOf(push.id)) {
    const now = refs.get(ref) ?? '';
    const arrived = noRef.test(newId) ? now === '' : now === newId;
    const ok = arrived || (await journal.startedFrom(push, ref, newId));
    results.push(ok ? { ref, ok } : { ref, ok, reason: 'interrupted' });
  }
  await journal.settle(push.id, results);
  return results;
}
