import { invalid } from '../../kernel/index.ts';
import type { FederationDeps } from '../deps.ts';
import type { Document } from './actor-documents.ts';
import { instanceName, readAlias } from './actor-paths.ts';
import {
  findActorById,
  findOrganisationActor,
  findPersonActor,
  findRepositoryActor,
  instanceActor,
} from './find-actor.ts';
import type { FoundActor } from './find-actor.ts';

const maxLength = 512;

/**
 * Serves WebFinger (RFC 7033) for `acct:user@host`, `acct:owner/name@host`, its alias `acct:owner--name@host`, the
 * instance (whose name is the host name, so that servers find the signer), and the URLs of actors and pages. The host
 * may include its port, and case is ignored (SPEC §4.6). `null` for foreign, unknown and private subjects alike. Throws
 * `invalid_resource` if the resource is missing, too long or in none of these forms.
 */
export async function webFinger(deps: FederationDeps, resource: string | null): Promise<Document | null> {
  if (resource === null || resource === '' || resource.length > maxLength) {
    throw invalid('invalid_resource', `A resource can have at most ${maxLength} characters.`);
  }
  const found = await findResource(deps, resource);
  return found === null ? null : describe(deps.settings.origin, found, isAlias(resource));
}

async function findResource(deps: FederationDeps, resource: string): Promise<FoundActor | null> {
  if (/^https?:\/\//i.test(resource)) return findByUrl(deps, resource);
  const account = /^acct:/i.test(resource) ? resource.slice('acct:'.length) : resource;
  const at = account.lastIndexOf('@');
  if (at <= 0) throw invalid('invalid_resource', 'A resource must be acct:name@host or a URL.');
  const name = decode(account.slice(0, at).replace(/^@/, ''));
  if (!isOurHost(deps.settings.origin, account.slice(at + 1)) || name === null) return null;
  // Checked before users: servers look up the signer of each request.
  if (isInstanceName(deps.settings.origin, name)) return { kind: 'instance', actor: await instanceActor(deps) };
  const slash = name.indexOf('/');
  if (slash !== -1) return findRepositoryActor(deps, name.slice(0, slash), name.slice(slash + 1));
  const alias = readAlias(name);
  if (alias !== null) return findRepositoryActor(deps, alias.owner, alias.name);
  return (await findPersonActor(deps, name)) ?? findOrganisationActor(deps, name);
}

/** An actor id, or the page URL of a repository or user. */
async function findByUrl(deps: FederationDeps, text: string): Promise<FoundActor | null> {
  const url = URL.parse(text);
  if (url?.origin !== deps.settings.origin) return null;
  const actor = await findActorById(deps, url.origin + url.pathname);
  if (actor !== null) return actor;
  const [, kind, first = '', second] = /^\/(repos|users|orgs)\/([^/]+)(?:\/([^/]+))?\/?$/.exec(url.pathname) ?? [];
  const owner = decode(first);
  const name = decode(second ?? '');
  if (owner === null || name === null) return null;
  if (kind === 'repos' && name !== '') return findRepositoryActor(deps, owner, name);
  if (kind === 'orgs' && name === '') return findOrganisationActor(deps, owner);
  return kind === 'users' && name === '' ? findPersonActor(deps, owner) : null;
}

/** The response repeats the requested name: clients treat any other name as another account. */
const isAlias = (resource: string): boolean => !/^https?:|%2f|\//i.test(resource) && resource.includes('--');

const isInstanceName = (origin: string, name: string): boolean =>
  name.toLowerCase() === instanceName(origin) || name.toLowerCase() === 'instance';

function isOurHost(origin: string, host: string): boolean {
  const { host: withPort, hostname } = new URL(origin);
  const ownHost = host.toLowerCase();
  return ownHost === withPort || ownHost === hostname;
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

const pages = { user: 'users', organisation: 'orgs', repository: 'repos' } as const;

function nameOf(found: Exclude<FoundActor, { kind: 'instance' }>): string {
  if (found.kind === 'user') return found.person.username!;
  return found.kind === 'organisation' ? found.organisation.name : `${found.owner.handle}/${found.repository.name}`;
}

function describe(origin: string, found: FoundActor, byAlias: boolean): Document {
  const { host } = new URL(origin);
  const { actor } = found;
  if (found.kind === 'instance') {
    return {
      subject: `acct:${instanceName(origin)}@${host}`,
      aliases: [actor.id],
      links: [{ rel: 'self', type: 'application/activity+json', href: actor.id }],
    };
  }
  const name = nameOf(found);
  const path = name.split('/').map(encodeURIComponent).join('/');
  const page = `${origin}/${pages[found.kind]}/${path}`;
  return {
    subject: `acct:${byAlias ? name.replace('/', '--') : name}@${host}`,
    aliases: [actor.id, page],
    links: [
      { rel: 'self', type: 'application/activity+json', href: actor.id },
      { rel: 'http://webfinger.net/rel/profile-page', type: 'text/html', href: page },
      // The page on which this user follows subjects of other servers.
      ...(found.kind === 'user'
        ? [{ rel: 'http://ostatus.org/schema/1.0/subscribe', template: `${origin}/following?target={uri}` }]
        : []),
    ],
  };
}
