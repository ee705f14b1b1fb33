import { EntitySchema } from 'typeorm';

/** Commits of one author on one day, on the default branch of a repository. */
interface CommitCountRow {
  repositoryId: string;
  /** See `addresses.authorKeyOf` of accounts. */
  authorKey: string;
  /** Number of the day since the epoch, in UTC. */
  day: number;
  commits: number;
}

export const commitCountSchema = new EntitySchema<CommitCountRow>({
  name: 'CommitCount',
  tableName: 'commit_counts',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    authorKey: { name: 'author_key', type: 'text', primary: true },
    day: { type: 'integer', primary: true },
    commits: { type: 'integer' },
  },
});

/** The commit up to which a repository is counted; null if it was empty. */
interface CountedCommitsRow {
  repositoryId: string;
  commitId: string | null;
}

export const countedCommitsSchema = new EntitySchema<CountedCommitsRow>({
  name: 'CountedCommits',
  tableName: 'counted_commits',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    commitId: { name: 'commit_id', type: 'text', nullable: true },
  },
});
