import { EntitySchema } from 'typeorm';

export interface OrganisationRow {
  id: string;
  name: string;
  displayName: string | null;
  description: string;
  website: string;
  createdAt: number;
}

export const organisationSchema = new EntitySchema<OrganisationRow>({
  name: 'organisation',
  tableName: 'organisations',
  columns: {
    id: { type: 'text', primary: true },
    name: { type: 'text' },
    displayName: { name: 'display_name', type: 'text', nullable: true },
    description: { type: 'text' },
    website: { type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});
