import { EntitySchema } from 'typeorm';
import type { OrganisationRole } from '../access/index.ts';

interface MemberRow {
  organisationId: string;
  userId: string;
  role: OrganisationRole;
  createdAt: number;
  /** The issuer of the provider whose groups made the membership; null when a person made it. */
  mappedBy?: string | null;
  /** Whether the world sees that the person belongs to it. */
  isPublic: boolean;
}

export const memberSchema = new EntitySchema<MemberRow>({
  name: 'organisationMember',
  tableName: 'organisation_members',
  columns: {
    organisationId: { name: 'organisation_id', type: 'text', primary: true },
    userId: { name: 'user_id', type: 'text', primary: true },
    role: { type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
    mappedBy: { name: 'mapped_by', type: 'text', nullable: true },
    isPublic: { name: 'is_public', type: 'boolean' },
  },
});
