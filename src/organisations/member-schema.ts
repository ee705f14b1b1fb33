import { EntitySchema } from 'typeorm';
import type { OrganisationRole } from '../access/index.ts';

interface MemberRow {
  organisationId: string;
  userId: string;
  role: OrganisationRole;
  createdAt: number;
  /** Issuer of the provider whose groups created the membership; null if a user created it. */
  mappedBy?: string | null;
  /** Whether the membership is public. */
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
