import type { EntityManager } from 'typeorm';
import { refusalOnTeam } from '../../access/index.ts';
import type { TeamAct, Viewer } from '../../access/index.ts';
import { nullIfNotFound } from '../../kernel/index.ts';
import type { OrganisationDeps } from '../deps.ts';
import { findOrganisation, insufficientScope, roleOf } from '../find-organisation.ts';
import type { Organisation } from '../organisation.ts';
import { organisationSchema } from '../organisation-schema.ts';
import { toOrganisation } from '../organisation.ts';
import { foldTeamName, teamNotFound } from './team.ts';
import type { Team } from './team.ts';
import { teamMemberSchema, teamSchema, teamSerialSchema } from './team-schema.ts';
import type { TeamRow } from './team-schema.ts';

/** A team reference: `@organisation/name`. */
export interface TeamAddress {
  organisation: string;
  name: string;
}

/** A team that the viewer can see. */
export interface FoundTeam {
  team: Team;
  organisation: Organisation;
  /** Whether the viewer may change it, with a session or the command line. */
  mayManage: boolean;
}

/**
 * Finds a team by its reference or its integer id, ignoring case. Throws `team_not_found` for absent organisations and
 * teams, and without permission for the action; `insufficient_scope`.
 */
export async function findTeam(
  deps: OrganisationDeps,
  viewer: Viewer,
  at: TeamAddress | number,
  act: TeamAct = 'read',
): Promise<FoundTeam> {
  const row = typeof at === 'number' ? await rowBySerial(deps, at) : await rowByName(deps, at);
  const organisation =
    row === null ? null : await deps.db.read.findOneBy(organisationSchema, { id: row.organisationId });
  if (row === null || organisation === null) throw teamNotFound();
  await requireOnTeam(deps.db.read, viewer, row, act);
  const serial = await deps.db.read.findOneByOrFail(teamSerialSchema, { teamId: row.id });
  return {
    team: toTeam(row, serial.serial),
    organisation: toOrganisation(organisation),
    mayManage: (await refusalFor(deps.db.read, viewer, row, 'manage')) === null,
  };
}

export function toTeam({ nameFolded: _, ...row }: TeamRow, serial: number): Team {
  return { ...row, serial };
}

async function rowByName(deps: OrganisationDeps, { organisation, name }: TeamAddress): Promise<TeamRow | null> {
  const found = await findOrganisation(deps, organisation).catch(nullIfNotFound);
  if (found === null) return null;
  return deps.db.read.findOneBy(teamSchema, { organisationId: found.id, nameFolded: foldTeamName(name) });
}

async function rowBySerial({ db }: OrganisationDeps, serial: number): Promise<TeamRow | null> {
  if (!Number.isSafeInteger(serial)) return null;
  const found = await db.read.findOneBy(teamSerialSchema, { serial });
  return found === null ? null : db.read.findOneBy(teamSchema, { id: found.teamId });
}

async function refusalFor(
  manager: EntityManager,
  viewer: Viewer,
  { id, organisationId }: Pick<TeamRow, 'id' | 'organisationId'>,
  act: TeamAct,
) {
  const userId = viewer.kind === 'person' ? viewer.id : null;
  const [organisationRole, isMember] =
    userId === null
      ? [null, false]
      : [
          await roleOf(manager, userId, organisationId),
          await manager.existsBy(teamMemberSchema, { teamId: id, userId }),
        ];
  return refusalOnTeam(viewer, { organisationRole, isMember }, act);
}

/** Checked again inside a transaction: a role may be gone since. Throws `team_not_found`, `insufficient_scope`. */
export async function requireOnTeam(
  manager: EntityManager,
  viewer: Viewer,
  team: Pick<TeamRow, 'id' | 'organisationId'>,
  act: TeamAct,
): Promise<void> {
  const refusal = await refusalFor(manager, viewer, team, act);
  if (refusal === 'hidden') throw teamNotFound();
  if (refusal === 'scope') throw insufficientScope();
}

/** Reads the team and checks permission again, in the transaction that changes it. */
export async function teamInWrite(manager: EntityManager, viewer: Viewer, { id }: Pick<Team, 'id'>): Promise<TeamRow> {
  const row = await manager.findOneBy(teamSchema, { id });
  if (row === null) throw teamNotFound();
  await requireOnTeam(manager, viewer, row, 'manage');
  return row;
}
