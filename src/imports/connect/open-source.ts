import { invalid } from '../../kernel/index.ts';
import type { SourceClient } from '../client/source-client.ts';
import type { SourceKind } from '../schema/source-kind.ts';
import { createGithubSource } from '../sources/github/github-source.ts';
import { createGiteaSource } from '../sources/gitea/gitea-source.ts';
import { createGitlabSource } from '../sources/gitlab/gitlab-source.ts';
import type { SourceNumbers } from '../sources/source-numbers.ts';
import type { Source, TellProblem } from '../sources/source.ts';

/** A repository of another forge, parsed from its URL. */
export interface SourceAddress {
  kind: SourceKind;
  /** Root of the API, without a trailing slash. */
  api: string;
  /** `owner/name`; for GitLab including all groups. */
  project: string;
  /** Page URL, without a trailing slash; the clone URL appends `.git`. */
  url: string;
  host: string;
}

/** The authorization header for a token, by forge. */
export function authorization(kind: SourceKind, token: string): Record<string, string> {
  const own: Record<string, string> =
    kind === 'github' ? { Accept: 'application/vnd.github+json', 'X-GitHub-Api-Version': '2022-11-28' } : {};
  return token === '' ? own : { ...own, Authorization: `${kind === 'gitlab' ? 'Bearer' : 'token'} ${token}` };
}

export function openSource(
  client: SourceClient,
  address: SourceAddress,
  tell: TellProblem,
  numbers?: SourceNumbers,
): Source {
  if (address.kind === 'gitlab') return createGitlabSource(client, address, tell, numbers);
  const create = address.kind === 'github' ? createGithubSource : createGiteaSource;
  return create(client, address.api, address.project, tell);
}

const refuse = (message: string) => invalid('invalid_import_address', message, { field: 'address' });

/** Parses the URL of a repository: its page or clone URL. Throws `invalid_import_address`. */
export function parseSourceAddress(given: string, kind: SourceKind): SourceAddress {
  const text = given.trim();
  const url = text.length > 1_000 ? null : URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `https://${text}`);
  if (url === null || !/^https?:$/.test(url.protocol)) throw refuse('This is not the address of a repository.');
  if (url.username !== '' || url.password !== '') throw refuse('Give the token in its own field.');
  const parts = url.pathname.split('/').filter(Boolean);
  // Further segments are a page of the repository: `/issues`, `/src/branch/main`, `/-/issues`.
  const end = parts.findIndex((part, at) => at >= 2 && (kind === 'gitlab' ? part === '-' : pageNames.has(part)));
  const path = (end === -1 ? parts : parts.slice(0, end)).map((part) => decode(part));
  const name = path.at(-1)?.replace(/\.git$/i, '');
  const owner = path.at(-2);
  if (!name || !owner) throw refuse('The address names no repository: https://git.example.org/alice/site');
  if (kind === 'gitlab') {
    const project = [...path.slice(0, -1), name].join('/');
    const page = [url.origin, ...project.split('/').map(encodeURIComponent)].join('/');
    return { kind, api: `${url.origin}/api/v4`, project, url: page, host: url.host };
  }
  const above = path.slice(0, -2).map(encodeURIComponent);
  const base = [url.origin, ...above].join('/');
  const project = `${owner}/${name}`;
  const page = `${base}/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;
  return { kind, api: apiOf(kind, url.host, base), project, url: page, host: url.host };
}

/** The URL of a server, derived from that of its API. */
export function serverOf({ kind, api }: Pick<SourceAddress, 'kind' | 'api'>): string {
  if (kind === 'github' && api === 'https://api.github.com') return 'https://github.com';
  return api.replace(/\/api\/v\d$/, '');
}

/** An account, an organisation or a group; the whole server if `account` is empty. */
export interface AccountAddress extends Omit<SourceAddress, 'project'> {
  account: string;
}

/**
 * Parses the URL of an account or of a server. Throws `invalid_import_address`.
 * @param isServer whether the path belongs to the server
 */
export function parseAccountAddress(given: string, kind: SourceKind, isServer: boolean): AccountAddress {
  const text = given.trim();
  const url = text.length > 1_000 ? null : URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `https://${text}`);
  if (url === null || !/^https?:$/.test(url.protocol)) throw refuse('This is not the address of an account.');
  if (url.username !== '' || url.password !== '') throw refuse('Give the token in its own field.');
  const path = url.pathname.split('/').filter(Boolean).map(decode);
  const isWhole = kind === 'gitlab';
  const account = isServer ? '' : isWhole ? path.filter((part) => part !== 'groups').join('/') : (path.at(-1) ?? '');
  if (!isServer && account === '') throw refuse('The address names no account: https://git.example.org/alice');
  const above = isServer ? path : isWhole ? [] : path.slice(0, -1);
  const base = [url.origin, ...(isWhole ? [] : above).map(encodeURIComponent)].join('/');
  const page = account === '' ? base : `${base}/${account.split('/').map(encodeURIComponent).join('/')}`;
  const api = isWhole ? `${url.origin}/api/v4` : apiOf(kind, url.host, base);
  return { kind, api, account, url: page, host: url.host };
}

/** GitHub Enterprise servers and compatible ones have the API below their own URL. */
function apiOf(kind: SourceKind, host: string, base: string): string {
  if (kind !== 'github') return `${base}/api/v1`;
  return host === 'github.com' ? 'https://api.github.com' : `${base}/api/v3`;
}

/** Possible kinds of forge of a URL, most likely first; only one if the host name contains its name. */
export function kindsOf(address: string): readonly SourceKind[] {
  const [, host = ''] = /^(?:https?:\/\/)?(?:www\.)?([^/:]*)/i.exec(address.trim()) ?? [];
  if (/^github\.com$/i.test(host)) return ['github'];
  if (/^gitlab\.com$/i.test(host)) return ['gitlab'];
  // GitLab groups have subgroups; for other forges, segments before the owner belong to the server's path.
  return /\/-(?:\/|$)|^(?:https?:\/\/)?(?:gitlab\.|[^/]+(?:\/[^/]+){3})/i.test(address.trim())
    ? ['gitlab', 'gitea', 'github']
    : ['gitea', 'gitlab', 'github'];
}

const pageNames = new Set([
  'issues',
  'pulls',
  'src',
  'releases',
  'wiki',
  'settings',
  'activity',
  'commits',
  'projects',
]);

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw refuse('This is not the address of a repository.');
  }
}
