import { notFound } from '../kernel/index.ts';
import {
  instanceDocument,
  organisationDocument,
  personDocument,
  repositoryDocument,
  tombstoneDocument,
} from './actors/actor-documents.ts';
import type { Document } from './actors/actor-documents.ts';
import { isSamePath, organisationPath, parseActorPath, personPath, repositoryPath } from './actors/actor-paths.ts';
import { followersOf, outboxOf, ownerFollowersOf, repositoriesOf } from './actors/collections.ts';
import { deletedActor } from './actors/deleted-actor.ts';
import { findActorAt, findOrganisationActor, personActor } from './actors/find-actor.ts';
import type { FoundActor } from './actors/find-actor.ts';
import { nodeInfo, nodeInfoLinks } from './actors/node-info.ts';
import { publicRepositoryAt } from './actors/public-repositories.ts';
import type { PublicRepository } from './actors/public-repositories.ts';
import { webFinger } from './actors/web-finger.ts';
import { approvesFollowers } from './followers/approvals.ts';
import { outboxSchema } from './schema/outbox-schema.ts';
import type { OutboxRow } from './schema/outbox-schema.ts';
import { isFederationOn } from './require-federation-on.ts';
import type { FederationDeps } from './deps.ts';

export type CollectionName = 'outbox' | 'followers' | 'repositories';

/**
 * All documents for other servers (SPEC §4.6). Private, absent and unsupported subjects all refuse with `not_found`;
 * each response checks whether the repository is public.
 */
export interface PublicDocuments {
  /**
   * @param path of an actor: `/ap/repos/alice/tool`, or the current name if its id has another path
   */
  actor(path: string): Promise<Document>;
  /** Like `actor`; if the path is only the current name of its actor, the id at which the document is served. */
  actorOrId(path: string): Promise<Document | string>;
  /** Whether an inbox at this path accepts activities. */
  hasInbox(path: string): Promise<boolean>;
  /** @param page `null` for the collection itself */
  collection(path: string, name: CollectionName, page: number | null): Promise<Document>;
  /**
   * An activity at its own id: a Push, which the outbox lists, and activities for one server (Follow, Undo, Accept),
   * which can be found only by their random id.
   */
  activity(path: string, uuid: string): Promise<Document>;
  /** A note at its own id. */
  note(path: string, uuid: string): Promise<Document>;
  /** Throws `invalid_resource` for an invalid resource. */
  webFinger(resource: string | null): Promise<Document>;
  nodeInfoLinks(): Promise<Document>;
  nodeInfo(): Promise<Document>;
  /** The actor id of a page, if any: `/repos/alice/tool`, `/users/alice`. */
  actorOfPage(path: string): Promise<string | null>;
}

export function createPublicDocuments(deps: FederationDeps): PublicDocuments {
  const { db, settings } = deps;

  /** A document is served only under its own id: a later name of its actor may get another owner. */
  async function findNamed(path: string): Promise<FoundActor> {
    const found = isFederationOn(settings) ? await findActorAt(deps, path) : null;
    if (found === null || !isSamePath(found.actor.path, path)) throw notFound();
    return found;
  }

  async function describe(found: FoundActor): Promise<Document> {
    if (found.kind === 'instance') return instanceDocument(found.actor, settings);
    if (found.kind === 'user') {
      const { avatarAt = null } = (await deps.owners.ownersById([found.person.id])).get(found.person.id) ?? {};
      const followable = { isOpen: settings.openFollowers, approves: await approves(found.person.id) };
      const person = { ...found.person, username: found.person.username!, avatarAt };
      return personDocument(found.actor, person, followable, settings);
    }
    if (found.kind === 'organisation') {
      const { organisation } = found;
      const { avatarAt = null } = (await deps.owners.ownersById([organisation.id])).get(organisation.id) ?? {};
      const followable = { approves: await approves(organisation.id) };
      return organisationDocument(found.actor, { ...organisation, avatarAt }, followable, settings);
    }
    const facts = { ownerActorId: await ownerActorId(found), approves: await approves(found.repository.id) };
    return repositoryDocument(found.actor, found, facts, settings);
  }

  const approves = (subjectId: string): Promise<boolean> => approvesFollowers(db.read, subjectId);

  async function ownerActorId({ repository: { ownerUserId }, owner }: PublicRepository): Promise<string | null> {
    if (ownerUserId !== null)
      return (await personActor(deps, await deps.accounts.personById(ownerUserId)))?.actor.id ?? null;
    return (await findOrganisationActor(deps, owner.handle))?.actor.id ?? null;
  }

  async function actor(path: string): Promise<Document> {
    const found = isFederationOn(settings) ? await findActorAt(deps, path) : null;
    if (found !== null) return describe(found);
    const deleted = isFederationOn(settings) ? await deletedActor(deps, path) : null;
    if (deleted === null) throw notFound();
    return tombstoneDocument(deleted);
  }

  /** An owner's activity about a repository is hidden with the repository. */
  const isShown = async ({ repositoryId }: OutboxRow): Promise<boolean> =>
    repositoryId === null || (await deps.repositories.isPublic(db.read, repositoryId));

  return {
    actor,
    async actorOrId(path) {
      const document = await actor(path);
      const id = String(document['id']);
      return isSamePath(id.slice(settings.origin.length), path) ? document : id;
    },
    hasInbox: async (path) => isFederationOn(settings) && (await findActorAt(deps, path)) !== null,
    async collection(path, name, page) {
      const found = await findNamed(path);
      if (name === 'outbox') return outboxOf(deps, found, page);
      if (name === 'followers' && found.kind === 'repository') return followersOf(deps, found, page);
      const isOwner = found.kind === 'user' || found.kind === 'organisation';
      if (name === 'followers' && settings.openFollowers && isOwner) return ownerFollowersOf(deps, found, page);
      if (name === 'repositories' && found.kind === 'user') return repositoriesOf(deps, found, page);
      throw notFound();
    },
    async activity(path, uuid) {
      const { actor } = await findNamed(path);
      const row = await db.read.findOneBy(outboxSchema, { id: uuid, actorPath: actor.path });
      if (row === null || !(await isShown(row))) throw notFound();
      return JSON.parse(row.activity) as Document;
    },
    async note(path, uuid) {
      const { actor: found } = await findNamed(path);
      const row = await db.read.findOneBy(outboxSchema, { id: uuid, actorPath: found.path, type: 'Create' });
      if (row === null || !(await isShown(row))) throw notFound();
      const { '@context': context, object } = JSON.parse(row.activity) as { '@context': unknown; object: Document };
      return { '@context': context, ...object };
    },
    async webFinger(resource) {
      const found = isFederationOn(settings) ? await webFinger(deps, resource) : null;
      if (found === null) throw notFound();
      return found;
    },
    async nodeInfoLinks() {
      if (!isFederationOn(settings)) throw notFound();
      return nodeInfoLinks(deps);
    },
    async nodeInfo() {
      if (!isFederationOn(settings)) throw notFound();
      return nodeInfo(deps);
    },
    async actorOfPage(path) {
      const address = isFederationOn(settings) ? parseActorPath(`/ap${path}`) : null;
      // By its current name: an actor path may belong to a repository that had this name before.
      if (address?.kind === 'repository') {
        const found = await publicRepositoryAt(deps, address.owner, address.name);
        if (found === null) return null;
        return deps.localActors.peekId(
          'repository',
          found.repository.id,
          repositoryPath(found.owner.handle, found.repository.name),
        );
      }
      if (address?.kind === 'organisation') {
        const owner = settings.openFollowers ? await deps.owners.resolve(address.name) : null;
        if (owner?.kind !== 'organisation') return null;
        return deps.localActors.peekId('organisation', owner.id, organisationPath(owner.handle));
      }
      if (address?.kind !== 'user') return null;
      const owner = await deps.owners.resolve(address.username);
      return owner?.kind === 'user' ? deps.localActors.peekId('user', owner.id, personPath(owner.handle)) : null;
    },
  };
}
