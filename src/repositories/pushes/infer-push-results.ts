import type { PushJournal, RefResult, RefUpdate } from './push-journal.ts';
import type { PushRow } from '../schema/push-schema.ts';
import { noRef } from '../../kernel/index.ts';

/** A command without a known result. */
interface OpenCommand extends RefUpdate {
  push: PushRow;
  ok: boolean;
}

/**
 * Derives the results of unreported pushes from the refs. A command took effect if its ref has the new value, or if a
 * command that took effect started from that value; but not if another push is known to have made the same move,
 * because git makes it only once. Only sound while no git process of these pushes is running.
 * @param pushes unsettled pushes of one repository
 * @param refs its current refs
 */
export async function inferPushResults(
  journal: PushJournal,
  pushes: readonly PushRow[],
  refs: ReadonlyMap<string, string>,
): Promise<Map<string, RefResult[]>> {
  const commands: OpenCommand[] = [];
  for (const push of pushes) {
    for (const update of await journal.updatesOf(push.id)) commands.push({ ...update, push, ok: false });
  }
  const since = Math.min(...pushes.map(({ createdAt }) => createdAt));
  const accepted = pushes.length === 0 ? [] : await journal.acceptedSince(pushes[0]!.repositoryId, since);
  const acceptedByRef = Map.groupBy(accepted, ({ ref }) => ref);
  for (const [ref, open] of Map.groupBy(commands, (command) => command.ref)) {
    resolveRef(open, acceptedByRef.get(ref) ?? [], refs.get(ref) ?? '');
  }

  const verdicts = new Map<string, RefResult[]>();
  for (const [push, own] of Map.groupBy(commands, (command) => command.push)) {
    const results = own.map(({ ref, ok }) => (ok ? { ref, ok } : { ref, ok, reason: 'interrupted' }));
    await journal.settle(push.id, own, results);
    verdicts.set(push.id, results);
  }
  return verdicts;
}

/**
 * Resolves the open commands on one ref by walking back from its current value: the command that led to it took effect,
 * and so did the command that led to the start of that one.
 */
function resolveRef(open: readonly OpenCommand[], accepted: readonly RefUpdate[], now: string): void {
  const isThere = (id: string) => (noRef.test(id) ? now === '' : now === id);
  const isStartOf = (id: string, moves: readonly RefUpdate[]) => moves.some(({ oldId }) => oldId === id);
  let undecided = open.filter((command) => !accepted.some((other) => isSameMove(command, other)));
  for (;;) {
    const done = open.filter(({ ok }) => ok);
    const next = undecided.find(({ newId }) => isThere(newId) || isStartOf(newId, accepted) || isStartOf(newId, done));
    if (next === undefined) return;
    next.ok = true;
    // One of two identical moves took effect; which one is unknown.
    undecided = undecided.filter((command) => !isSameMove(command, next));
  }
}

function isSameMove(a: RefUpdate, b: RefUpdate): boolean {
  return a.oldId === b.oldId && a.newId === b.newId;
}
