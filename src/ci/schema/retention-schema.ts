import { EntitySchema } from 'typeorm';

/**
 * A row of `ci_retention`: retention of artifacts and logs of a repository in days; null for the setting of the server.
 */
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
