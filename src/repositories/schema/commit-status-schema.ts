import { EntitySchema } from 'typeorm';

export type CommitState = 'pending' | 'success' | 'failure' | 'error';

/** A row of `commit_statuses`: the result of one check for a commit. */
export interface CommitStatus {
  repositoryId: string;
  /** Full object id. */
  sha: string;
  /** Name of the check: `CI / build (push)`. A newer status of the same check replaces the older one. */
  context: string;
  state: CommitState;
  /** A success with a warning. */
  isWarning?: boolean;
  description: string;
  /** Details: an absolute URL, or a path relative to the repository page (`runs/3`). */
  targetUrl: string | null;
  /** UUID of the user who reported it; null for Hearth's CI. */
  creatorId: string | null;
  createdAt: number;
  updatedAt: number;
}

export const commitStatusSchema = new EntitySchema<CommitStatus>({
  name: 'commitStatus',
  tableName: 'commit_statuses',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    sha: { type: 'text', primary: true },
    context: { type: 'text', primary: true },
    state: { type: 'text' },
    isWarning: { name: 'is_warning', type: 'boolean' },
    description: { type: 'text' },
    targetUrl: { name: 'target_url', type: 'text', nullable: true },
    creatorId: { name: 'creator_id', type: 'text', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
    updatedAt: { name: 'updated_at', type: 'integer' },
  },
});
