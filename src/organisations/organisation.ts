import { parseText } from '../accounts/index.ts';
import type { TextRule } from '../accounts/index.ts';
import { organisationRoles } from '../access/index.ts';
import type { OrganisationRole } from '../access/index.ts';
import { invalid, notFound } from '../kernel/index.ts';
import type { OrganisationRow } from './organisation-schema.ts';

/** A shared owner of repositories (SPEC §2.3). */
export interface Organisation {
  /** UUID. */
  id: string;
  /** The handle, as written by its creator. */
  name: string;
  /** May be empty; pages then show the name. */
  displayName: string;
  description: string;
  /** An http or https URL; may be empty. */
  website: string;
  /** Epoch milliseconds. */
  createdAt: number;
}

export function toOrganisation(row: OrganisationRow): Organisation {
  return { ...row, displayName: row.displayName ?? '' };
}

const displayNameRule: TextRule = { field: 'display_name', called: 'The display name', maxCharacters: 100 };
const descriptionRule: TextRule = { field: 'description', called: 'The description', maxCharacters: 500 };

/** Throws `invalid_text`, `text_too_long`. Stores blank text as no display name (SPEC §2.3: optional). */
export function parseDisplayName(text: string): string | null {
  return parseText(text, displayNameRule) || null;
}

export function parseOrganisationDescription(text: string): string {
  return parseText(text, descriptionRule);
}

/** Parses a role, ignoring case. Throws `invalid_role`. */
export function parseRole(text: string): OrganisationRole {
  const role = organisationRoles.find((known) => known === text.trim().toUpperCase());
  if (role === undefined)
    throw invalid('invalid_role', 'Choose one of the roles GUEST, MEMBER and OWNER.', { field: 'role' });
  return role;
}

/** The error for an absent organisation, and for one that the viewer may not manage. */
export const organisationNotFound = () => notFound('organisation_not_found', 'Organisation not found');
