import type { Person } from '../../accounts/index.ts';
import type { Organisation } from '../../organisations/index.ts';
import { instanceContext, personContext, repositoryContext } from '../documents/contexts.ts';
import { escapeHtml, isoTime } from '../documents/escape-html.ts';
import type { FederationSettings } from '../deps.ts';
import { instanceName, instancePath, repositoryAlias } from './actor-paths.ts';
import type { LocalActor } from '../local-actors.ts';
import type { PublicRepository } from './public-repositories.ts';

/** A document as served: plain JSON without secrets or e-mail addresses. */
export type Document = Readonly<Record<string, unknown>>;

type Facts = Pick<FederationSettings, 'origin' | 'sshOrigin'>;

const publicKeyOf = ({ id, publicKeyPem }: LocalActor) => ({ id: `${id}#main-key`, owner: id, publicKeyPem });

const paragraph = (text: string): string => `<p>${escapeHtml(text).replaceAll('\n', '<br>')}</p>`;

/**
 * A public repository as an actor (ForgeFed).
 * @param facts.ownerActorId actor id of the owner; omitted for an organisation without one
 * @param facts.approves whether new followers need approval
 */
export function repositoryDocument(
  actor: LocalActor,
  { repository, owner }: PublicRepository,
  { ownerActorId, approves }: { ownerActorId: string | null; approves: boolean },
  { origin, sshOrigin }: Facts,
): Document {
  const path = `${encodeURIComponent(owner.handle)}/${encodeURIComponent(repository.name)}`;
  const { imageContentType, imageUpdatedAt } = repository;
  const https = `${origin}/git/${path}.git`;
  return {
    '@context': repositoryContext,
    id: actor.id,
    // Microblogs know only the second type: without it they read neither the actor nor its key.
    type: ['Repository', 'Service'],
    preferredUsername: repositoryAlias(owner.handle, repository.name) ?? `${owner.handle}/${repository.name}`,
    name: repository.name,
    ...(repository.description === '' ? {} : { summary: paragraph(repository.description) }),
    url: `${origin}/repos/${path}`,
    published: isoTime(repository.createdAt),
    ...(ownerActorId === null ? {} : { attributedTo: ownerActorId }),
    inbox: `${actor.id}/inbox`,
    outbox: `${actor.id}/outbox`,
    followers: `${actor.id}/followers`,
    cloneUri: [https],
    pushUri: [https, ...(sshOrigin === null ? [] : [`${sshOrigin}/${path}.git`])],
    ...(imageContentType !== null && imageUpdatedAt !== null
      ? {
          icon: {
            type: 'Image',
            mediaType: imageContentType,
            url: `${origin}/repos/${path}/image?v=${imageUpdatedAt}`,
          },
        }
      : avatar(origin, owner)),
    attachment: [
      profileField('Handle', escapeHtml(`${owner.handle}/${repository.name}@${new URL(origin).host}`)),
      profileField('Clone', link(https)),
      ...websiteField(repository.website),
    ],
    discoverable: true,
    endpoints: sharedInbox(origin),
    manuallyApprovesFollowers: approves,
    publicKey: publicKeyOf(actor),
  };
}

/** Settings of an owner for its followers. */
interface Followable {
  /** Whether it can be followed. */
  isOpen: boolean;
  /** Whether new followers need approval. */
  approves: boolean;
}

/** A user. While only repositories can be followed, the document declares manual approval. */
export function personDocument(
  actor: LocalActor,
  person: Person & { username: string; avatarAt: number | null },
  { isOpen, approves }: Followable,
  { origin }: Facts,
): Document {
  return {
    '@context': personContext,
    id: actor.id,
    type: 'Person',
    preferredUsername: person.username,
    name: person.displayName || person.username,
    ...(person.bio === '' ? {} : { summary: paragraph(person.bio) }),
    url: `${origin}/users/${encodeURIComponent(person.username)}`,
    published: isoTime(person.createdAt),
    inbox: `${actor.id}/inbox`,
    outbox: `${actor.id}/outbox`,
    ...(isOpen ? { followers: `${actor.id}/followers` } : {}),
    repositories: `${actor.id}/repositories`,
    ...avatar(origin, person),
    ...(person.website === '' ? {} : { attachment: websiteField(person.website) }),
    discoverable: true,
    endpoints: sharedInbox(origin),
    manuallyApprovesFollowers: !isOpen || approves,
    publicKey: publicKeyOf(actor),
  };
}

/** An organisation; such actors exist only while organisations can be followed. */
export function organisationDocument(
  actor: LocalActor,
  organisation: Organisation & { avatarAt: number | null },
  { approves }: Pick<Followable, 'approves'>,
  { origin }: Facts,
): Document {
  const { name, displayName, description, createdAt } = organisation;
  return {
    '@context': personContext,
    id: actor.id,
    type: 'Organization',
    preferredUsername: name,
    name: displayName || name,
    ...(description === '' ? {} : { summary: paragraph(description) }),
    url: `${origin}/orgs/${encodeURIComponent(name)}`,
    published: isoTime(createdAt),
    inbox: `${actor.id}/inbox`,
    outbox: `${actor.id}/outbox`,
    followers: `${actor.id}/followers`,
    ...avatar(origin, organisation),
    discoverable: true,
    endpoints: sharedInbox(origin),
    manuallyApprovesFollowers: approves,
    publicKey: publicKeyOf(actor),
  };
}

/** The document of a deleted account: only the key, to verify its last activities. */
export function tombstoneDocument(actor: LocalActor): Document {
  return {
    '@context': personContext,
    id: actor.id,
    type: 'Person',
    preferredUsername: decodeURIComponent(actor.path.split('/').at(-1)!),
    inbox: `${actor.id}/inbox`,
    publicKey: publicKeyOf(actor),
  };
}

/** The instance actor: it signs all fetches, and reading its document needs no signature. */
export function instanceDocument(actor: LocalActor, { origin }: Facts): Document {
  const { host } = new URL(origin);
  return {
    '@context': instanceContext,
    id: actor.id,
    type: 'Application',
    preferredUsername: instanceName(origin),
    name: host,
    url: origin,
    inbox: `${actor.id}/inbox`,
    outbox: `${actor.id}/outbox`,
    publicKey: publicKeyOf(actor),
  };
}

/** The uploaded image only: the generated one is SVG, which other software does not show. */
const avatar = (origin: string, { id, avatarAt }: { id: string; avatarAt: number | null }) =>
  avatarAt === null ? {} : { icon: { type: 'Image', url: `${origin}/avatars/${id}?v=${avatarAt}` } };

const profileField = (name: string, value: string) => ({ type: 'PropertyValue', name, value });

const websiteField = (website: string) => (website === '' ? [] : [profileField('Website', link(website))]);

const link = (url: string): string => `<a href="${escapeHtml(url)}" rel="nofollow">${escapeHtml(url)}</a>`;

/** The inbox of the instance accepts activities for every local actor. */
const sharedInbox = (origin: string) => ({ sharedInbox: `${origin}${instancePath}/inbox` });
