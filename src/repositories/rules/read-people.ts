import { accessGrantsOf, allows } from '../../access/index.ts';
import type { RuleTeam } from '../../access/index.ts';
import { invalid, nullIfNotFound } from '../../kernel/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import { repositoryFacts } from '../find-repository.ts';
import type { Repository } from '../schema/repository-schema.ts';

/** Limit for readability: people, and teams, named per action of a rule. */
export const maxRulePeople = 50;

export const tooManyPeople = (field: string) =>
  invalid('too_many_people', `At most ${maxRulePeople} users can be listed for one action.`, { field });

/** Teams of the owning organisation, as `organisation/team` or by name. */
export async function readTeams(
  deps: RepositoryDeps,
  { ownerOrganisationId }: Repository,
  names: readonly string[],
  { field, leavesOutUnknown }: { field: string; leavesOutUnknown: boolean },
): Promise<RuleTeam[]> {
  if (names.length > maxRulePeople) throw tooManyPeople(field);
  const ids = new Set<string>();
  for (const name of names) {
    const words = name.trim().replace(/^@/, '').split('/');
    const isOwn =
      words.length === 1 || (words.length === 2 && (await deps.owners.resolve(words[0]!))?.id === ownerOrganisationId);
    const found =
      isOwn && ownerOrganisationId !== null
        ? await deps.organisations.teams.named(ownerOrganisationId, words.at(-1)!)
        : null;
    if (found !== null) ids.add(found.id);
    else if (!leavesOutUnknown)
      throw invalid('no_such_team', `The owner of this repository has no team named ${name.trim()}.`, { field });
  }
  return [...ids].map((id) => ({ id, people: [] }));
}

/** User ids by handle. @param named people already in the rule */
export async function readPeople(
  deps: RepositoryDeps,
  repository: Repository,
  handles: readonly string[],
  { field, named, leavesOutUnknown }: { field: string; named: ReadonlySet<string>; leavesOutUnknown: boolean },
): Promise<string[]> {
  const wanted = handles.map((handle) => handle.trim().replace(/^@/, '')).filter((handle) => handle !== '');
  if (wanted.length > maxRulePeople) throw tooManyPeople(field);
  const ids = new Set<string>();
  for (const handle of wanted) {
    const person = await deps.accounts.personByUsername(handle).catch(nullIfNotFound);
    const isKept = person !== null && named.has(person.id);
    if (!leavesOutUnknown && (person === null || (person.disabledAt !== null && !isKept)))
      throw invalid('no_such_person', `There is no active user with the username ${handle}.`, { field });
    if (person === null) continue;
    const facts = await repositoryFacts(deps, deps.db.lookup, person.id, repository);
    const level = accessGrantsOf(person.id, facts)[0]?.level ?? 'none';
    if (allows(level, 'write') || isKept || leavesOutUnknown) ids.add(person.id);
    else
      throw invalid(
        'person_may_not_push',
        `${person.username} does not have write access here, and a rule cannot grant it.`,
        { field },
      );
  }
  return [...ids];
}
