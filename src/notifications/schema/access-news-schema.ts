import { EntitySchema } from 'typeorm';

/** A row of `access_news`: access given by another user. One of the three places is set; times are milliseconds. */
interface AccessNewsRow {
  id: number;
  userId: string;
  /** `repository:<id>`, `organisation:<id>` or `team:<id>`. */
  place: string;
  repositoryId: string | null;
  organisationId: string | null;
  teamId: string | null;
  role: string | null;
  actorId: string | null;
  createdAt: number;
  readAt: number | null;
}

export const accessNewsSchema = new EntitySchema<AccessNewsRow>({
  name: 'accessNews',
  tableName: 'access_news',
  columns: {
    id: { type: 'integer', primary: true, generated: 'increment' },
    userId: { name: 'user_id', type: 'text' },
    place: { type: 'text' },
    repositoryId: { name: 'repository_id', type: 'text', nullable: true },
    organisationId: { name: 'organisation_id', type: 'text', nullable: true },
    teamId: { name: 'team_id', type: 'text', nullable: true },
    role: { type: 'text', nullable: true },
    actorId: { name: 'actor_id', type: 'text', nullable: true },
    createdAt: { name: 'created_at', type: 'integer' },
    readAt: { name: 'read_at', type: 'integer', nullable: true },
  },
});
