import { localAdministrator } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import type { Found, RepositoryAddress } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { readersAmong } from '../find-pull.ts';
import { limits } from '../limits.ts';

/**
 * Users who could be asked to review pull requests of a repository, limited to those whose relation to it the viewer
 * may know: its owner and collaborators; for an organisation, members of teams with a role there if the viewer knows
 * the teams, and all members if the viewer is an OWNER. Only users with read access, at most `limits.reviewCandidates`.
 * Throws `repository_not_found` without write access: an author with read access names reviewers instead.
 * @returns their ids in no particular order
 */
export async function reviewCandidates(deps: PullDeps, viewer: Viewer, address: RepositoryAddress): Promise<string[]> {
  const found = await deps.repositories.find(viewer, address.owner, address.name, 'write');
  const { repository } = found;
  const ids = new Set(repository.ownerUserId === null ? [] : [repository.ownerUserId]);
  for (const id of [...(await collaboratorsOf(deps, found)), ...(await membersOf(deps, viewer, found))]) {
    if (ids.size >= limits.reviewCandidates) break;
    ids.add(id);
  }
  const people = await deps.accounts.peopleById([...ids]);
  const active = [...ids].filter((id) => people.get(id)?.disabledAt === null);
  return [...(await readersAmong(deps, repository, active))];
}

/** Viewers with write access see collaborators, with whom they work. The rest of the list is for administrators. */
async function collaboratorsOf({ repositories }: PullDeps, { canonical }: Found): Promise<string[]> {
  const { owner, name } = canonical;
  const ids: string[] = [];
  for (let after: string | null = null; ids.length < limits.reviewCandidates; ) {
    const page = await repositories.collaborators.listPage(localAdministrator, owner, name, { limit: 100, after });
    ids.push(...page.collaborators.map(({ person }) => person.id));
    if (page.next === null) break;
    after = page.next;
  }
  return ids;
}

/** Returns null if the viewer, or this token, may not see them, so that the others are still shown. */
function nullIfRefused(error: unknown): null {
  if (isDomainError(error) && (error.code === 'not_found' || error.code === 'forbidden')) return null;
  throw error;
}

/** Members of the organisation that the viewer may know. */
async function membersOf({ organisations, repositories }: PullDeps, viewer: Viewer, { canonical, repository }: Found) {
  if (repository.ownerOrganisationId === null) return [];
  const [teams, here, members] = await Promise.all([
    organisations.teams.list(viewer, canonical.owner).catch(nullIfRefused),
    repositories.teams.listOfRepository(localAdministrator, canonical.owner, canonical.name),
    organisations.listMembers(viewer, canonical.owner).catch(nullIfRefused),
  ]);
  const roles = new Set(here.map(({ team }) => team.id));
  const known = (teams ?? []).filter(({ id }) => roles.has(id));
  const people = await organisations.teams.peopleOf(known.map(({ id }) => id));
  return [...(members ?? []).map(({ person }) => person.id), ...[...people.values()].flat()];
}
