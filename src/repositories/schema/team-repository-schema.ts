import { EntitySchema } from 'typeorm';
import type { CollaboratorRole } from '../../access/index.ts';

/** The role of a team's members in one repository of its organisation. */
interface TeamRepositoryRow {
  teamId: string;
  repositoryId: string;
  role: CollaboratorRole;
  /** Epoch milliseconds. */
  createdAt: number;
}

export const teamRepositorySchema = new EntitySchema<TeamRepositoryRow>({
  name: 'teamRepository',
  tableName: 'team_repositories',
  columns: {
    teamId: { name: 'team_id', type: 'text', primary: true },
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    role: { type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});

/** A row of the view `team_grants`: access that one team gives one user. */
interface TeamGrantRow {
  userId: string;
  repositoryId: string;
  role: CollaboratorRole;
  teamId: string;
}

export const teamGrantSchema = new EntitySchema<TeamGrantRow>({
  name: 'teamGrant',
  tableName: 'team_grants',
  columns: {
    userId: { name: 'user_id', type: 'text', primary: true },
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    role: { type: 'text' },
    teamId: { name: 'team_id', type: 'text', primary: true },
  },
});
