import type { Command } from 'commander';
import { Option } from 'commander';
import type { ListedNote, NoteChoices } from '../../federation/index.ts';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull, never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { findById } from './find-by-id.ts';
import { findRepository } from './find-repository.ts';
import { readCount } from './read-count.ts';

/** `hearth federation note …`: the notes that followers on microblogs get from a repository. */
export function addNoteCommands(federation: Command, run: Run): void {
  const note = addNoun(federation, 'note', 'notes sent to followers on microblogs');
  const command = (name: string, description: string): Command =>
    note.command(name).description(description).argument('<owner/name>', 'repository');
  withExamples(
    command('list', 'list the newest notes; they are kept for thirty days')
      .option('--limit <count>', 'maximum number to list', '30')
      .action(run(listNotes)),
    'hearth federation note list alice/garden',
  );
  withExamples(
    command('remove', 'delete a note about a public repository; the servers that received it are notified')
      .alias('delete')
      .argument('<note>', 'note id, as shown in the list')
      .action(run(removeNote)),
    'hearth federation note remove alice/garden 3f2a9c41',
  );
  const choices = command('choices', 'show or change which events create notes; omitted options stay unchanged');
  for (const kind of kinds)
    choices.addOption(new Option(`--${kind} <choice>`, `whether ${told[kind]} create notes`).choices(['yes', 'no']));
  withExamples(
    choices.action(run(chooseNotes)),
    'hearth federation note choices alice/garden',
    'hearth federation note choices alice/garden --pushes no --pulls yes',
  );
}

const kinds = ['pushes', 'releases', 'issues', 'pulls'] as const satisfies (keyof NoteChoices)[];
const told: Record<keyof NoteChoices, string> = {
  pushes: 'pushes to the default branch',
  releases: 'releases',
  issues: 'opened issues',
  pulls: 'opened and merged pull requests',
};

const mostListed = 1_000;

const columns: Column<ListedNote>[] = [
  { title: 'ID', cell: ({ id }) => ({ id }) },
  { title: 'PUBLISHED', cell: ({ publishedAt }) => never(publishedAt) },
  { title: 'PAGE', cell: ({ url }) => url, whole: true },
  { title: 'TEXT', cell: ({ text }) => text },
];

/** In the shape of the API. */
const toJson = ({ id, uri, url, html, publishedAt }: ListedNote) => ({
  id,
  uri,
  url,
  content: html,
  publishedAt: isoOrNull(publishedAt),
});

const listNotes: Action<{ limit: string }, [string]> = async (cli, { limit }, text) => {
  const count = Math.min(readCount(limit), mostListed);
  const modules = await cli.openModules();
  const { repository } = await findRepository(modules, text);
  const notes = await modules.federation.listNotes(repository.id, { limit: count });
  cli.output.list(notes, columns, ['note', 'notes'], toJson);
};

const removeNote: Action<object, [string, string]> = async (cli, _options, text, id) => {
  const modules = await cli.openModules();
  const { repository } = await findRepository(modules, text);
  const notes = await modules.federation.listNotes(repository.id, { limit: mostListed });
  const found = findById(notes, id, { what: 'note', reason: 'no_such_note' });
  await modules.federation.deleteNote(repository.id, found.id);
  cli.output.result('Note deleted. The servers that received it are notified.', { id: found.id, removed: true });
};

type ChoiceOptions = Partial<Record<keyof NoteChoices, 'yes' | 'no'>>;

const chooseNotes: Action<ChoiceOptions, [string]> = async (cli, options, text) => {
  const modules = await cli.openModules();
  const { federation } = modules;
  const { repository } = await findRepository(modules, text);
  const before = await federation.noteChoices(repository.id);
  const given = kinds.flatMap((kind) =>
    options[kind] === undefined ? [] : [[kind, options[kind] === 'yes'] as const],
  );
  const choices: NoteChoices = { ...before, ...Object.fromEntries(given) };
  if (given.length > 0) await federation.chooseNotes(repository.id, choices);
  cli.output.show(
    kinds.map((kind) => [kind[0]!.toUpperCase() + kind.slice(1), choices[kind] ? 'yes' : 'no']),
    choices,
  );
};
