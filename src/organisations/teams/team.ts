import { collaboratorRoles } from '../../access/index.ts';
import type { CollaboratorRole } from '../../access/index.ts';
import { parseText } from '../../accounts/index.ts';
import type { TextRule } from '../../accounts/index.ts';
import { invalid, notFound } from '../../kernel/index.ts';
import type { TeamRow } from './team-schema.ts';

/** A team of an organisation: members, and a role for each of its repositories. */
export interface Team extends Omit<TeamRow, 'nameFolded'> {
  /** Integer id for clients of the API. */
  serial: number;
}

/** Limits: teams per organisation, members per team, repositories per team. Nobody reads longer lists. */
export const teamLimits = { teams: 100, people: 200, repositories: 500 };

const grammar = /^[a-z0-9](?:[a-z0-9]|[-_.](?=[a-z0-9])){0,38}$/;

/** Normalised name, which must be unique. */
export const foldTeamName = (name: string): string => name.trim().toLowerCase();

/** `/teams/new` is a page; the OWNERs are shown to clients of the API as a team of this name. */
const reserved = ['new', 'owners'];

/** Validates a new name, which is written as `@organisation/name`. Throws `invalid_team_name`. */
export function parseTeamName(text: string): { name: string; nameFolded: string } {
  const name = text.trim();
  const nameFolded = foldTeamName(name);
  if (grammar.test(nameFolded) && !reserved.includes(nameFolded)) return { name, nameFolded };
  throw invalid(
    'invalid_team_name',
    'A team name has 1 to 39 letters and digits, with single "-", "_" or "." between them; "new" and "owners" are reserved.',
    { field: 'name' },
  );
}

const descriptionRule: TextRule = { field: 'description', called: 'The description', maxCharacters: 500 };

/** Throws `invalid_text`, `text_too_long`. */
export const parseTeamDescription = (text: string): string => parseText(text, descriptionRule);

/** Parses a role, ignoring case. Throws `invalid_role`. */
export function parseTeamRole(text: string): CollaboratorRole {
  const role = collaboratorRoles.find((known) => known === text.trim().toLowerCase());
  if (role === undefined)
    throw invalid('invalid_role', 'Choose one of the roles read, write and admin.', { field: 'role' });
  return role;
}

/** The error for an absent team, and for one that the viewer cannot see or manage. */
export const teamNotFound = () => notFound('team_not_found', 'Team not found');
