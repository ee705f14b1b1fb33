import { localAdministrator } from '../../access/index.ts';
import { isRefusal } from '../../kernel/index.ts';
import { parseBranchName } from '../../repositories/index.ts';
import { stagedSchema } from '../schema/import-schema.ts';
import type { StagedRow } from '../schema/import-schema.ts';
import { compareRefs, knownRefs, noteRefs } from '../context/known-refs.ts';
import type { RunContext } from '../context/run-context.ts';

/**
 * Transfers branches, tags, notes and the commits of pull requests, and records which of these have moved at the
 * source.
 */
export async function transferRefs(context: RunContext): Promise<void> {
  const { row, source, transfer } = context;
  const before = await knownRefs(context, 'ref:');
  const isPull = (ref: string): boolean => !/^refs\/(?:heads|tags|notes)\//.test(ref);
  const base = new Map([...before].filter(([ref]) => !isPull(ref)));
  const { refs, pulls, problems, moved } = await transfer.refs({ pullRefs: source.pullRefs, base });
  context.renew('code');
  for (const problem of problems) context.tell('code', problem);
  const after = new Map([...refs, ...pulls]);
  // Not every forge updates the modification time of a pull request after a push to it.
  const pushed = row.isFull ? [] : [...pulls].filter(([ref, oid]) => before.get(ref) !== oid).map(([ref]) => ref);
  const numbers = pushed.flatMap((ref) => Number(/^refs\/[a-z-]+\/(\d{1,9})\/head$/.exec(ref)?.[1] ?? 0) || []);
  const staged: StagedRow[] = [];
  for (const there of numbers) {
    const number = (await source.numberOfPull?.(there)) ?? there;
    const pull = await source.pull(number);
    if (pull !== null) staged.push({ importId: row.id, number, kind: 'pull', item: '', data: JSON.stringify(pull) });
  }
  const differences = compareRefs(before, after);
  const hasChanges = context.progress.hasChanges || moved > 0 || differences.changed.length > 0;
  await context.save({ progress: { hasChanges } }, async (tx) => {
    await noteRefs(tx, context, 'ref:', differences);
    const { manager } = tx;
    if (staged.length > 0) await manager.upsert(stagedSchema, staged, ['importId', 'number', 'kind', 'item']);
  });
  await setDefaultBranch(context);
}

/** In the first run only; later it may have been changed here. */
async function setDefaultBranch(context: RunContext): Promise<void> {
  const { deps, row, progress, tell } = context;
  const branch = progress.described?.defaultBranch ?? null;
  if (row.run > 1 || branch === null) return;
  try {
    const { owner, name } = await context.at();
    await deps.repositories.edit(localAdministrator, owner, name, { defaultBranch: parseBranchName(branch) });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    tell('default branch', `${branch} was not set: ${error.message}`);
  }
}
