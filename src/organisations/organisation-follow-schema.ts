import { EntitySchema } from 'typeorm';

/** A user who follows a local organisation. */
interface OrganisationFollowRow {
  userId: string;
  organisationId: string;
  createdAt: number;
}

export const organisationFollowSchema = new EntitySchema<OrganisationFollowRow>({
  name: 'organisationFollow',
  tableName: 'organisation_follows',
  columns: {
    userId: { name: 'user_id', type: 'text', primary: true },
    organisationId: { name: 'organisation_id', type: 'text', primary: true },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});
