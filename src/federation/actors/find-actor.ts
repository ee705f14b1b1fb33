import type { Person } from '../../accounts/index.ts';
import { nullIfNotFound } from '../../kernel/index.ts';
import type { Organisation } from '../../organisations/index.ts';
import type { FederationDeps } from '../deps.ts';
import { instancePath, organisationPath, parseActorPath, personPath, repositoryPath } from './actor-paths.ts';
import type { LocalActor } from '../local-actors.ts';
import { publicRepositoryAt, publicRepositoryById } from './public-repositories.ts';
import type { PublicRepository } from './public-repositories.ts';

/** A local actor with its subject. */
export type FoundActor =
  | ({ kind: 'repository'; actor: LocalActor } & PublicRepository)
  | { kind: 'user'; actor: LocalActor; person: Person }
  | { kind: 'organisation'; actor: LocalActor; organisation: Organisation }
  | { kind: 'instance'; actor: LocalActor };

export type RepositoryActor = Extract<FoundActor, { kind: 'repository' }>;
export type PersonActor = Extract<FoundActor, { kind: 'user' }>;
export type OrganisationActor = Extract<FoundActor, { kind: 'organisation' }>;

/**
 * The actor at a path: the actor whose permanent path it is, otherwise the current owner of the name, which has another
 * path. `null` for absent and for hidden actors alike (SPEC §4.6). Never cached, so that a repository that turns
 * private is hidden at once, even if another one now has its name.
 */
export async function findActorAt(deps: FederationDeps, path: string): Promise<FoundActor | null> {
  const address = parseActorPath(path);
  if (address === null) return null;
  switch (address.kind) {
    case 'instance':
      return { kind: 'instance', actor: await instanceActor(deps) };
    case 'repository':
      return (await deps.localActors.atPath(path)) === null
        ? findRepositoryActor(deps, address.owner, address.name)
        : repositoryWithPath(deps, path);
    case 'user':
      return (await deps.localActors.atPath(path)) === null
        ? findPersonActor(deps, address.username)
        : personWithPath(deps, path);
    case 'organisation':
      if (!deps.settings.openFollowers) return null;
      return (await deps.localActors.atPath(path)) === null
        ? findOrganisationActor(deps, address.name)
        : organisationWithPath(deps, path);
  }
}

/** The actor with exactly this id. */
export async function findActorById(deps: FederationDeps, id: string): Promise<FoundActor | null> {
  const { origin } = deps.settings;
  if (!id.startsWith(`${origin}/`)) return null;
  const found = await findActorAt(deps, id.slice(origin.length));
  return found?.actor.id === id ? found : null;
}

/**
 * The actor with another local URL: its page, or its id followed by a slash, a query or a fragment. `null` for an id,
 * which `findActorById` finds.
 */
export async function findActorNamed(deps: FederationDeps, text: string): Promise<FoundActor | null> {
  const { origin } = deps.settings;
  if (!text.startsWith(`${origin}/`) || text.length > 2_048) return null;
  const path = text
    .slice(origin.length)
    .replace(/[?#].*$/s, '')
    .replace(/\/{1,8}$/, '');
  return findActorAt(deps, path.startsWith('/ap/') ? path : `/ap${path}`);
}

/** By the repository's current path. */
export async function findRepositoryActor(
  deps: FederationDeps,
  owner: string,
  name: string,
): Promise<RepositoryActor | null> {
  const found = await publicRepositoryAt(deps, owner, name);
  return found === null ? null : repositoryActor(deps, found);
}

/** By the person's current handle. */
export async function findPersonActor(deps: FederationDeps, username: string): Promise<PersonActor | null> {
  const person = await deps.accounts.personByUsername(username).catch(nullIfNotFound);
  return person === null ? null : personActor(deps, person);
}

/** By its current name; always `null` while only repositories can be followed. */
export async function findOrganisationActor(deps: FederationDeps, name: string): Promise<OrganisationActor | null> {
  if (!deps.settings.openFollowers) return null;
  const organisation = await deps.organisations.find(name).catch(nullIfNotFound);
  return organisation === null ? null : organisationActor(deps, organisation);
}

async function organisationActor(deps: FederationDeps, organisation: Organisation): Promise<OrganisationActor> {
  const actor = await deps.localActors.ensure('organisation', organisation.id, organisationPath(organisation.name));
  return { kind: 'organisation', actor, organisation };
}

export async function repositoryActor(
  deps: FederationDeps,
  { repository, owner }: PublicRepository,
): Promise<RepositoryActor> {
  const actor = await deps.localActors.ensure(
    'repository',
    repository.id,
    repositoryPath(owner.handle, repository.name),
  );
  return { kind: 'repository', actor, repository, owner };
}

/** `null` for a user without a handle, who is visible nowhere (SPEC §2.4). */
export async function personActor(deps: FederationDeps, person: Person): Promise<PersonActor | null> {
  if (person.username === null) return null;
  return { kind: 'user', actor: await deps.localActors.ensure('user', person.id, personPath(person.username)), person };
}

export function instanceActor({ localActors }: Pick<FederationDeps, 'localActors'>): Promise<LocalActor> {
  return localActors.ensure('instance', 'instance', instancePath);
}

async function repositoryWithPath(deps: FederationDeps, path: string): Promise<RepositoryActor | null> {
  const actor = await deps.localActors.atPath(path);
  if (actor?.kind !== 'repository') return null;
  const found = await publicRepositoryById(deps, actor.ownerId);
  return found === null ? null : { kind: 'repository', actor, ...found };
}

async function personWithPath(deps: FederationDeps, path: string): Promise<PersonActor | null> {
  const actor = await deps.localActors.atPath(path);
  if (actor?.kind !== 'user') return null;
  const person = await deps.accounts.personById(actor.ownerId).catch(nullIfNotFound);
  return person?.username == null ? null : { kind: 'user', actor, person };
}

async function organisationWithPath(deps: FederationDeps, path: string): Promise<OrganisationActor | null> {
  const actor = await deps.localActors.atPath(path);
  if (actor?.kind !== 'organisation') return null;
  const organisation = (await deps.organisations.byIds([actor.ownerId])).get(actor.ownerId);
  return organisation === undefined ? null : { kind: 'organisation', actor, organisation };
}
