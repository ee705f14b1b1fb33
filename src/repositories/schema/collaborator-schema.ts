import { EntitySchema } from 'typeorm';
import type { CollaboratorRole } from '../../access/index.ts';

interface CollaboratorRow {
  repositoryId: string;
  userId: string;
  role: CollaboratorRole;
  createdAt: number;
}

export const collaboratorSchema = new EntitySchema<CollaboratorRow>({
  name: 'collaborator',
  tableName: 'collaborators',
  columns: {
    repositoryId: { name: 'repository_id', type: 'text', primary: true },
    userId: { name: 'user_id', type: 'text', primary: true },
    role: { type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});
