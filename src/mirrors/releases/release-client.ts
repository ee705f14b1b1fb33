import type { Readable } from 'node:stream';
import type { HttpRemote } from '../../git/index.ts';
import { isDomainError, isRefusal, unavailable } from '../../kernel/index.ts';
import { getFrom, hasNextPage } from '../forge-client.ts';
import type { MirrorDeps } from '../deps.ts';
import { releasesPrefix } from './releases-prefix.ts';
import { readRelease } from './remote-release.ts';
import type { ForgeKind, RemoteFile, RemoteRelease } from './remote-release.ts';

/** Thirty releases with long notes and a hundred files each. */
const maxPageBytes = 8 * 1024 * 1024;
const perPage = 30;
/** The limit of releases in a local repository. */
const maxPages = 334;
const maxRedirects = 3;
const patience = { silenceMs: 60_000, headMs: 60_000 };

/** The list of releases of a repository on a forge. */
interface ReleaseApi {
  kind: ForgeKind;
  endpoint: string;
  headers: Record<string, string>;
  /** Origins that receive the credentials. */
  trusted: ReadonlySet<string>;
}

export const releasesFailed = (why: string) => unavailable('remote_releases_failed', `${releasesPrefix}${why}.`);

/** Possible URLs for listing the releases of a repository, the likeliest first. */
function candidates({ url }: Pick<HttpRemote, 'url'>): { kind: ForgeKind; endpoint: string }[] {
  const parts = url.pathname
    .replace(/\/+$/, '')
    .replace(/\.git$/i, '')
    .split('/')
    .filter(Boolean);
  const [owner, name] = parts.slice(-2);
  if (owner === undefined || name === undefined) return [];
  const repository = `repos/${owner}/${name}/releases`;
  if (url.host === 'github.com') return [{ kind: 'github', endpoint: `https://api.github.com/${repository}` }];
  // The git URL may have a part that the API URL lacks: /git/ on a Hearth.
  const above = parts.slice(0, -2);
  const bases = above.at(-1) === 'git' ? [above, above.slice(0, -1)] : [above];
  const project = encodeURIComponent(parts.map(decodeURIComponent).join('/'));
  return [
    ...bases.map((base) => ({
      kind: 'gitea' as const,
      endpoint: `${[url.origin, ...base].join('/')}/api/v1/${repository}`,
    })),
    { kind: 'gitlab', endpoint: `${url.origin}/api/v4/projects/${project}/releases` },
    { kind: 'github', endpoint: `${url.origin}/api/v3/${repository}` },
  ];
}

/** Gitea also accepts a password that is not a token, as Basic; GitLab accepts only tokens. */
function authorization(kind: ForgeKind, { username, secret }: HttpRemote): Record<string, string> {
  if (secret === '') return {};
  return kind === 'gitlab' || username === ''
    ? { Authorization: `Bearer ${secret}` }
    : { Authorization: `Basic ${Buffer.from(`${username}:${secret}`).toString('base64')}` };
}

/**
 * Requests the releases of a remote from its forge, page by page; unreadable ones are null. Throws
 * `remote_releases_failed` if no API responds, and errors of `getFrom`.
 */
export async function* listRemoteReleases(
  deps: MirrorDeps,
  remote: HttpRemote,
): AsyncGenerator<{ api: ReleaseApi; releases: (RemoteRelease | null)[] }> {
  let refusal: unknown;
  for (const { kind, endpoint } of candidates(remote)) {
    const headers = authorization(kind, remote);
    const api = { kind, endpoint, headers, trusted: new Set([remote.url.origin, new URL(endpoint).origin]) };
    let page = await readPage(deps, api, 1).catch((error: unknown) => {
      // Other forges may respond in any way at this URL: if no API is found, the error from the first URL counts.
      if (!isRefusal(error)) throw error;
      refusal ??= error;
      return null;
    });
    if (page === null) continue;
    for (let number = 2; page !== null; number += 1) {
      yield { api, releases: page.releases };
      if (!page.hasNext) return;
      if (number > maxPages) throw releasesFailed('there are too many');
      page = await readPage(deps, api, number);
    }
    return;
  }
  if (refusal !== undefined) throw refusal;
  throw releasesFailed(
    `${remote.url.host} is none of GitHub, Gitea, Forgejo, GitLab and Hearth, or shows them to people with a token only`,
  );
}

/** Null if there is no such API. */
async function readPage(
  deps: MirrorDeps,
  { kind, endpoint, headers }: ReleaseApi,
  page: number,
): Promise<{ releases: (RemoteRelease | null)[]; hasNext: boolean } | null> {
  const url = `${endpoint}?per_page=${perPage}&limit=${perPage}&page=${page}`;
  try {
    const response = await getFrom(deps, url, { Accept: 'application/json', ...headers }, maxPageBytes);
    const rows = parse(response.body);
    if (!Array.isArray(rows)) return null;
    return {
      releases: rows.map((row: unknown) => readRelease(kind, row, endpoint, deps.clock.now())),
      hasNext: hasNextPage(response.headers.link, rows.length, perPage),
    };
  } catch (error) {
    if (isDomainError(error) && error.reason === 'elsewhere_not_found') return null;
    throw error;
  }
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
}

/**
 * The content of a file, through at most three redirects. Credentials are sent only to the remote and its API. A host
 * of the local network that an administrator has allowed is contacted only if it is the remote itself: otherwise the
 * remote could choose any address there. Throws `remote_releases_failed`, and errors of `outbound`.
 */
export async function openRemoteFile(
  { outbound, settings }: Pick<MirrorDeps, 'outbound' | 'settings'>,
  { headers, trusted }: ReleaseApi,
  file: RemoteFile,
): Promise<Readable> {
  let address = URL.parse(file.url);
  for (let step = 0; step <= maxRedirects && address !== null; step += 1) {
    const isTrusted = trusted.has(address.origin);
    if (!isTrusted && settings.isNamed(address))
      throw releasesFailed(`it is at ${address.host}, another host of the own network`);
    const {
      status,
      headers: answered,
      stream,
    } = await outbound.open({
      method: 'GET',
      url: address.href,
      headers: { Accept: 'application/octet-stream', ...(isTrusted ? headers : {}) },
      ...patience,
    });
    const isPage = /^text\/html\b/i.test(answered['content-type'] ?? '') && !/\.x?html?$/i.test(file.name);
    if (status === 200 && !isPage) return stream;
    stream.destroy();
    // A sign-in page, or one about a removed file.
    if (isPage) throw releasesFailed(`${address.host} answered with a page instead of the file`);
    if (![301, 302, 303, 307, 308].includes(status)) throw releasesFailed(`${address.host} answered ${status}`);
    address = URL.parse(answered.location ?? '', address.href);
  }
  throw releasesFailed('it has no address that can be followed');
}
