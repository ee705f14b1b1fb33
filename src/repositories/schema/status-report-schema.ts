import { EntitySchema } from 'typeorm';
import type { CommitState } from './commit-status-schema.ts';

/** A row of `status_reports`: a status that an external check reported for a commit. */
export interface StatusReportRow {
  id: number;
  repositoryId: string;
  sha: string;
  context: string;
  state: CommitState | 'warning';
  description: string;
  targetUrl: string | null;
  creatorId: string | null;
  /** Milliseconds since the epoch. */
  createdAt: number;
}

export const statusReportSchema = new EntitySchema<StatusReportRow>({
  name: 'statusReport',
  tableName: 'status_reports',
  columns: {
    id: { type: 'integer', primary: true, generated: 'increment' },
    repositoryId: { name: 'repository_id', type: 'text' },
    sha: { type: 'text' },
    context: { type: 'text' },
    state: { type: 'text' },
    description: { type: 'text' },
    targetUrl: { name: 'target_url', type: 'text', nullable: true },
    creatorId: { name: 'creator_id', type: 'text', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});
