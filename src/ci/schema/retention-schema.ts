import { EntitySchema } from 'typeorm';

/** A row of `ci_retention`: how long a repository keeps what its jobs leave, in days; null for the server's setting. */
export interface RetentionRow {
  repositoryId: string;
  artifactDays: number | null;
  logDays: number | null;
}

export const retentionSchema = new EntitySchema<RetentionRow>({
  name: 'ciRetention',
  tableName: 'ci_retention',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    artifactDays: { name: 'artifact_days', type: 'integer', nullable: true },
    logDays: { name: 'log_days', type: 'integer', nullable: true },
  },
});
