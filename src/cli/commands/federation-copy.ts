import type { Command } from 'commander';
import { localAdministrator } from '../../access/index.ts';
import type { Modules } from '../../app/index.ts';
import type { KeptCopy } from '../../copies/index.ts';
import { notFound } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull, never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { findPerson, nameOf } from './find-person.ts';

/** `hearth federation copy …`: copies of followed repositories. */
export function addCopyCommands(federation: Command, run: Run): void {
  const copy = addNoun(federation, 'copy', 'copies of followed repositories');
  withExamples(
    copy
      .command('list')
      .description('list copies of repositories with their size and state')
      .option('--user <name>', 'filter by user')
      .action(run(listCopies)),
    'hearth federation copy list --user alice',
  );
  withExamples(
    copy
      .command('keep')
      .description('keep a copy of a repository that a user follows')
      .argument('<target>', 'handle as shown by "hearth federation follows", or the id')
      .requiredOption('--user <name>', 'user who follows the repository and keeps the copy')
      .option('--name <name>', "name of the copy (default: the origin's name)")
      .action(run(keepCopy)),
    'hearth federation copy keep bob/tool@forge.example.org --user alice',
  );
  withExamples(
    copy
      .command('remove')
      .alias('delete')
      .description('move a copy to the trash')
      .argument('<target>', 'handle of the origin')
      .requiredOption('--user <name>', 'user who keeps the copy')
      .action(run(removeCopy)),
    'hearth federation copy remove bob/tool@forge.example.org --user alice',
  );
}

const perPage = 500;

async function allCopies({ copies }: Modules, userId?: string): Promise<KeptCopy[]> {
  const all: KeptCopy[] = [];
  for (let after: string | null = null; ; ) {
    const { rows, next } = await copies.list({ userId, after, limit: perPage });
    all.push(...rows);
    if (next === null) return all;
    after = next;
  }
}

type Row = KeptCopy & { user: string };

const columns: Column<Row>[] = [
  { title: 'USER', cell: ({ user }) => user, whole: true },
  { title: 'ORIGIN', cell: ({ handle }) => handle, whole: true },
  {
    title: 'COPY',
    cell: ({ place }) => (place === null ? 'in the trash' : `${place.owner}/${place.name}`),
    whole: true,
  },
  { title: 'BYTES', cell: ({ sizeBytes }) => String(sizeBytes) },
  { title: 'STATE', cell: ({ state, endsAt }) => (state === 'ending' ? `until ${isoOrNull(endsAt)}` : state) },
  { title: 'UNREACHABLE SINCE', cell: ({ since }) => never(since) },
  { title: 'COMPLETE TO', cell: ({ completeTo }) => completeTo?.slice(0, 10) ?? '' },
];

const listCopies: Action<{ user?: string }, []> = async (cli, { user }) => {
  const modules = await cli.openModules();
  const person = user === undefined ? undefined : await findPerson(modules, user);
  const found = await allCopies(modules, person?.id);
  const names = await modules.accounts.peopleById(found.map(({ userId }) => userId));
  const rows = found.map((each) => ({ ...each, user: nameOf(names.get(each.userId)) || each.userId }));
  cli.output.list(rows, columns, ['copy', 'copies'], (row) => ({
    id: row.repositoryId,
    user: row.user,
    origin: row.handle,
    actor: row.actorId,
    repository: row.place === null ? null : `${row.place.owner}/${row.place.name}`,
    bytes: row.sizeBytes,
    state: row.state,
    error: row.error,
    unreachableSince: isoOrNull(row.since),
    completeTo: row.completeTo,
    lastOkAt: isoOrNull(row.lastOkAt),
    endsAt: isoOrNull(row.endsAt),
  }));
};

const withoutPrefix = (target: string): string => target.replace(/^(acct:)?@?/i, '');

const keepCopy: Action<{ user: string; name?: string }, [string]> = async (cli, { user, name }, target) => {
  const modules = await cli.openModules();
  const person = await findPerson(modules, user);
  const follows = await modules.federation.listAllFollows({ userId: person.id });
  const wanted = withoutPrefix(target);
  const found = follows.find(({ id, handle, remoteActorId }) => [id, handle, remoteActorId].includes(wanted));
  if (found === undefined) throw notFound('unknown_follow', `${user} does not follow ${target}.`);
  const { copy, isNew } = await modules.copies.keep(localAdministrator, person, found.id, name);
  const place = `${copy.place!.owner}/${copy.place!.name}`;
  cli.output.result(
    isNew ? `${place} is now a copy of ${copy.handle}.` : `${place} is already a copy of ${copy.handle}.`,
    {
      id: copy.repositoryId,
      repository: place,
      origin: copy.handle,
      isNew,
    },
  );
};

const removeCopy: Action<{ user: string }, [string]> = async (cli, { user }, target) => {
  const modules = await cli.openModules();
  const person = await findPerson(modules, user);
  const wanted = withoutPrefix(target);
  const copies = await allCopies(modules, person.id);
  const found = copies.find(({ handle, actorId, repositoryId }) => [handle, actorId, repositoryId].includes(wanted));
  if (found === undefined) throw notFound('unknown_copy', `${user} does not keep a copy of ${target}.`);
  await modules.copies.drop(localAdministrator, person.id, found.repositoryId);
  cli.output.result(`Moved the copy of ${found.handle} to the trash.`, {
    id: found.repositoryId,
    origin: found.handle,
  });
};
