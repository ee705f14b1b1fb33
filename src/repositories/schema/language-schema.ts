import { EntitySchema } from 'typeorm';

/** One of the main languages of a repository. */
interface RepositoryLanguage {
  repositoryId: string;
  /** From 0: the one with the most bytes. */
  position: number;
  language: string;
}

export const repositoryLanguageSchema = new EntitySchema<RepositoryLanguage>({
  name: 'repository_language',
  tableName: 'repository_languages',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    position: { type: 'integer', primary: true },
    language: { type: 'text' },
  },
});

/** When the languages of a repository were last counted, and of which commit. */
interface LanguageCount {
  repositoryId: string;
  /** Null when there was none. */
  commitId: string | null;
  countedAt: number;
}

export const languageCountSchema = new EntitySchema<LanguageCount>({
  name: 'language_count',
  tableName: 'language_counts',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    commitId: { name: 'commit_id', type: 'text', nullable: true },
    countedAt: { name: 'counted_at', type: 'integer' },
  },
});
