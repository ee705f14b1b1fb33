import { EntitySchema } from 'typeorm';

/** The kinds of events for which a repository publishes notes. */
export interface NoteChoices {
  /** Pushes to the default branch. */
  pushes: boolean;
  releases: boolean;
  /** Opened issues. */
  issues: boolean;
  /** Opened and merged pull requests. */
  pulls: boolean;
}

interface NoteChoiceRow extends NoteChoices {
  repositoryId: string;
}

export const noteChoiceSchema = new EntitySchema<NoteChoiceRow>({
  name: 'noteChoice',
  tableName: 'note_choices',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    pushes: { type: 'boolean' },
    releases: { type: 'boolean' },
    issues: { type: 'boolean' },
    pulls: { type: 'boolean' },
  },
});
