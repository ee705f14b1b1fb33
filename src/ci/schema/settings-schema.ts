import { EntitySchema } from 'typeorm';
import type { DefaultTaskPermissions } from '../../access/index.ts';

/** A row of `ci_repository_settings`; a repository without one has the defaults. */
interface CiRepositoryRow {
  repositoryId: string;
  /** Whether events start its workflows. */
  isEnabled: boolean;
  /** Permissions of the job token if the workflow does not set them; null for the default of the server. */
  tokenPermissions: DefaultTaskPermissions | null;
}

/** A row of `ci_disabled_workflows`: a workflow that nothing starts, on any branch. */
interface DisabledWorkflowRow {
  repositoryId: string;
  /** Path below the workflows folder. */
  workflowPath: string;
  /** UUID; null for the command line, and once the account is deleted. */
  disabledBy: string | null;
  disabledAt: number;
}

export const ciRepositorySchema = new EntitySchema<CiRepositoryRow>({
  name: 'ciRepositorySettings',
  tableName: 'ci_repository_settings',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    isEnabled: { name: 'is_enabled', type: 'boolean' },
    tokenPermissions: { name: 'token_permissions', type: 'text', nullable: true },
  },
});

export const disabledWorkflowSchema = new EntitySchema<DisabledWorkflowRow>({
  name: 'ciDisabledWorkflow',
  tableName: 'ci_disabled_workflows',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    workflowPath: { name: 'workflow_path', type: 'text', primary: true },
    disabledBy: { name: 'disabled_by', type: 'text', nullable: true },
    disabledAt: { name: 'disabled_at', type: 'integer' },
  },
});
