import { localAdministrator } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import type { Found, RepositoryAddress } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { readersAmong } from '../find-pull.ts';
import { limits } from '../limits.ts';

/**
 * People who could be asked to review pull requests of a repository, as far as the viewer may know that they have
 * something to do with it: its owner and its collaborators; in a repository of an organisation the people of teams that
 * have a role there, for who knows of these teams, and all members, for an OWNER. Only those who may read it.
 * At most `limits.reviewCandidates`. Refuses `repository_not_found` to viewers who may not write: an author who may
 * only read asks people by name.
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

/** Who may write knows them: they are those to work with. The rest of the list is for who administers. */
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

/** Who may not see them, or only without this token, is shown the others. */
function nullIfRefused(error: unknown): null {
  if (isDomainError(error) && (error.code === 'not_found' || error.code === 'forbidden')) return null;
  throw error;
}

/** People of the organisation, by what the viewer may know of it. */
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
