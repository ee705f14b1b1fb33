import { EntitySchema } from 'typeorm';

/** One of the main languages of a repository. */
interface RepositoryLanguage {
  repositoryId: string;
  /** Rank from 0: the language with the most bytes. */
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

/** Time and commit of the last language count of a repository. */
interface LanguageCount {
  repositoryId: string;
  /** Null if there was no commit. */
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
