import { EntitySchema } from 'typeorm';
import type { CollaboratorRole } from '../../access/index.ts';

/** A row of `teams`. */
export interface TeamRow {
  id: string;
  organisationId: string;
  /** The name as written; unique in its organisation, ignoring case. */
  name: string;
  nameFolded: string;
  description: string;
  /** Default role for repositories added to the team. */
  role: CollaboratorRole;
  /** Epoch milliseconds. */
  createdAt: number;
}

export const teamSchema = new EntitySchema<TeamRow>({
  name: 'team',
  tableName: 'teams',
  columns: {
    id: { type: 'text', primary: true },
    organisationId: { name: 'organisation_id', type: 'text' },
    name: { type: 'text' },
    nameFolded: { name: 'name_folded', type: 'text' },
    description: { type: 'text' },
    role: { type: 'text' },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});

/** Integer id for clients of Gitea's API; assigned by a trigger, and never reused. */
interface TeamSerialRow {
  serial: number;
  teamId: string;
}

export const teamSerialSchema = new EntitySchema<TeamSerialRow>({
  name: 'teamSerial',
  tableName: 'team_serials',
  columns: {
    serial: { type: 'integer', primary: true },
    teamId: { name: 'team_id', type: 'text' },
  },
});

interface TeamMemberRow {
  teamId: string;
  userId: string;
  /** Epoch milliseconds. */
  createdAt: number;
}

export const teamMemberSchema = new EntitySchema<TeamMemberRow>({
  name: 'teamMember',
  tableName: 'team_members',
  columns: {
    teamId: { name: 'team_id', type: 'text', primary: true },
    userId: { name: 'user_id', type: 'text', primary: true },
    createdAt: { name: 'created_at', type: 'integer' },
  },
});
