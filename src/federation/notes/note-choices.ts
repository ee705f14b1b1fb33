import type { EntityManager } from 'typeorm';
import type { FederationDeps } from '../deps.ts';
import { noteChoiceSchema } from '../schema/note-choice-schema.ts';
import type { NoteChoices } from '../schema/note-choice-schema.ts';

/** The defaults of a repository whose owner has chosen nothing. */
const usual: NoteChoices = { pushes: true, releases: true, issues: false, pulls: false };

/** The kinds of events for which a repository publishes notes. */
export async function readNoteChoices(manager: EntityManager, repositoryId: string): Promise<NoteChoices> {
  const row = await manager.findOneBy(noteChoiceSchema, { repositoryId });
  if (row === null) return usual;
  const { repositoryId: _, ...choices } = row;
  return choices;
}

export const noteChoicesOf = ({ db }: FederationDeps, repositoryId: string): Promise<NoteChoices> =>
  readNoteChoices(db.read, repositoryId);

/** Sets the kinds of events for which a repository publishes notes from now on. The caller checks permissions. */
export async function chooseNotes({ db }: FederationDeps, repositoryId: string, choices: NoteChoices): Promise<void> {
  await db.write(({ manager }) => manager.upsert(noteChoiceSchema, { ...choices, repositoryId }, ['repositoryId']));
}
