import type { PushJournal, RefResult, RefUpdate } from './push-journal.ts';
import type { PushRow } from './push-schema.ts';

const noRef = /^0+$/;

/** One command whose verdict nobody has seen. */
interface OpenCommand extends RefUpdate {
  push: PushRow;
  ok: boolean;
}

/**
 * Finds out by the refs themselves what became of pushes whose report was never
 * seen. A command took effect when its ref is where it wanted it, or when a command
 * that took effect started from there and moved it on; but not when another push is
 * known to have made the very same move, because git makes it only once.
 *
 * Only sound while no git process of these pushes is still running.
 * @param pushes unsettled ones of one repository
 * @param refs its refs now
 */
export async function settleFromRefs(
  journal: PushJournal,
  pushes: readonly PushRow[],
  refs: ReadonlyMap<string, string>,
): Promise<Map<string, RefResult[]>> {
  const commands: OpenCommand[] = [];
  for (const push of pushes) {
    for (const { ref, oldId, newId } of await journal.updatesOf(push.id)) commands.push({ ref, oldId, newId, push, ok: false });
  }
  for (const [ref, open] of Map.groupBy(commands, (command) => command.ref)) {
    await judgeRef(journal, open, refs.get(ref) ?? '');
  }

  const verdicts = new Map<string, RefResult[]>();
  for (const push of pushes) {
    const results = commands
      .filter((command) => command.push === push)
      .map(({ ref, ok }) => (ok ? { ref, ok } : { ref, ok, reason: 'interrupted' }));
    await journal.settle(push.id, results);
    verdicts.set(push.id, results);
  }
  return verdicts;
}

/** Walks from where the ref is now backwards: whoever led there took effect, and so whoever led to its start. */
async function judgeRef(journal: PushJournal, open: readonly OpenCommand[], now: string): Promise<void> {
  const isThere = (id: string) => (noRef.test(id) ? now === '' : now === id);
  const since = Math.min(...open.map(({ push }) => push.createdAt));
  const { ref, push } = open[0]!;
  const accepted = await journal.acceptedSince(push.repositoryId, since, ref);

  const starts = (id: string, from: readonly RefUpdate[]) => from.some(({ oldId }) => oldId === id);
  let undecided = open.filter((command) => !accepted.some((other) => isSameMove(command, other)));
  for (let found = true; found; ) {
    const settled = open.filter(({ ok }) => ok);
    const next = undecided.filter(
      ({ newId }) => isThere(newId) || starts(newId, accepted) || starts(newId, settled),
    );
    // Two pushes that wanted the same move: one of them made it, and nobody can tell which.
    const first = next.filter((command, at) => next.findIndex((other) => isSameMove(command, other)) === at);
    for (const command of first) command.ok = true;
    undecided = undecided.filter((command) => !next.some((decided) => isSameMove(command, decided)));
    found = next.length > 0;
  }
}

function isSameMove(a: RefUpdate, b: RefUpdate): boolean {
  return a.oldId === b.oldId && a.newId === b.newId;
}
