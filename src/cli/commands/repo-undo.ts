import type { Command } from 'commander';
import { localAdministrator } from '../../access/index.ts';
import { invalid, noRef } from '../../kernel/index.ts';
import type { LostTip } from '../../repositories/index.ts';
import type { Action, Run } from '../action.ts';
import { withExamples } from '../help.ts';
import { isoOrNull } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { findById } from './find-by-id.ts';
import { findRepository } from './find-repository.ts';

/** `hearth repo undo`: restores what forced pushes and deletions of branches removed. */
export function addRepoUndoCommand(repo: Command, run: Run): void {
  withExamples(
    repo
      .command('undo')
      .description('undo a force push or the deletion of a branch')
      .argument('<owner/name>', 'repository')
      .option('--list', 'only list what can be restored')
      .option('--restore <id>', 'restore an overwritten or deleted tip')
      .option('--as <branch>', 'with --restore: name of the new branch')
      .action(run(undo)),
    'hearth repo undo alice/garden',
    'hearth repo undo alice/garden --restore 3f2c81aa',
    'hearth repo undo alice/garden --restore 3f2c81aa --as rescued',
  );
}

const short = (id: string): string => (noRef.test(id) ? 'deleted' : id.slice(0, 10));

const columns: Column<LostTip>[] = [
  { title: 'ID', cell: ({ id }) => id, whole: true },
  { title: 'REF', cell: ({ ref }) => ref, whole: true },
  { title: 'OLD', cell: ({ oldId }) => short(oldId), whole: true },
  { title: 'NEW', cell: ({ newId }) => short(newId) },
  { title: 'BY', cell: ({ person }) => person?.username ?? '' },
  { title: 'WHEN', cell: ({ lostAt }) => ({ epochMs: lostAt, otherwise: '' }) },
  { title: 'EXPIRES', cell: ({ expiresAt }) => isoOrNull(expiresAt)!.slice(0, 10) },
];

const toJson = ({ id, ref, oldId, newId, forced, current, person, lostAt, expiresAt }: LostTip): object => ({
  id,
  ref,
  oldId,
  newId,
  forced,
  current,
  person: person?.username ?? null,
  lostAt: isoOrNull(lostAt),
  expiresAt: isoOrNull(expiresAt),
});

interface UndoOptions {
  list?: true;
  restore?: string;
  as?: string;
}

const undo: Action<UndoOptions, [string]> = async (cli, { list, restore, as }, text) => {
  if (list && restore !== undefined) throw invalid('usage', 'Use only one of --list and --restore.');
  if (as !== undefined && restore === undefined) throw invalid('usage', '--as requires --restore.');
  const modules = await cli.openModules();
  const found = await findRepository(modules, text);
  const { owner, name } = found.canonical;
  const tips = await modules.repositories.pushes.listLostTips(found);
  if (restore === undefined) return cli.output.list(tips, columns, ['lost tip', 'lost tips'], toJson);
  const tip = findById(tips, restore, { what: 'lost tip', reason: 'tip_not_found' });
  const { ref, oldId, newId } = await modules.repositories.pushes.undo(localAdministrator, owner, name, {
    id: tip.id,
    ...(as === undefined ? {} : { as }),
  });
  cli.output.result(`Restored ${ref} of ${owner}/${name} to ${short(newId)}.`, { owner, name, ref, oldId, newId });
};
