import type { Command } from 'commander';
import { localAdministrator, viewerForLog } from '../../access/index.ts';
import { conflict, notFound } from '../../kernel/index.ts';
import type { ReleasedHandle } from '../../owners/index.ts';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull, never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';

/** `hearth handle …`: former names of users and organisations. */
export function addHandleCommands(program: Command, run: Run): void {
  const handle = addNoun(program, 'handle', 'reserved names: former names of users and organisations');
  withExamples(
    handle
      .command('list')
      .description('list reserved names: former names of users and organisations')
      .action(run(listHandles)),
    'hearth handle list',
  );
  withExamples(
    handle
      .command('free')
      .description('release a reserved name so that everyone can use it; its redirects end')
      .argument('<name>', 'reserved name')
      .option('--dry-run', 'only show what would be released')
      .action(run(freeHandle)),
    'hearth handle free formerly-alice',
  );
}

const gone = { user: 'a person who is gone', organisation: 'an organisation that is gone' } as const;

const columns: Column<ReleasedHandle>[] = [
  { title: 'NAME', cell: ({ handle }) => handle, whole: true },
  { title: 'KIND', cell: ({ kind }) => (kind === 'user' ? 'person' : kind) },
  { title: 'NOW', cell: ({ owner }) => owner?.handle ?? 'gone' },
  { title: 'GIVEN UP', cell: ({ releasedAt }) => never(releasedAt) },
];

const toJson = ({ handle, kind, owner, releasedAt }: ReleasedHandle): object => ({
  handle,
  kind: kind === 'user' ? 'person' : kind,
  now: owner?.handle ?? null,
  releasedAt: isoOrNull(releasedAt),
});

const listHandles: Action<object, []> = async (cli) => {
  const { owners } = await cli.openModules();
  cli.output.list(await owners.listReleased(), columns, ['name', 'names'], toJson);
};

const freeHandle: Action<{ dryRun?: true }, [string]> = async (cli, { dryRun }, text) => {
  const { db, owners, logger } = await cli.openModules();
  const known = (await owners.listReleased()).find(({ handle }) => owners.fold(handle) === owners.fold(text));
  if (known === undefined) {
    if (await owners.isTaken(text)) throw conflict('handle_in_use', 'Another account now has this name.');
    throw notFound('handle_not_released', `${text} is not reserved: no account uses or has used it.`);
  }
  const whose = known.owner === null ? gone[known.kind] : `${known.owner.handle}, who would lose it permanently`;
  if (dryRun) return cli.output.result(`Would release ${known.handle}, which is reserved for ${whose}.`, toJson(known));
  await cli.confirm(
    `Release ${known.handle}? It is reserved for ${whose}. Old links, clones and other servers will then reach its new owner.`,
  );
  await db.write((tx) => owners.free(tx, known.handle));
  logger.info('handle.freed', {
    handle: known.handle,
    kind: known.kind,
    ownerId: known.ownerId,
    by: viewerForLog(localAdministrator),
  });
  cli.output.result(`Released ${known.handle}. It is now available to everyone.`, toJson(known));
};
