import { forbidden, isRefusal, notFound, unavailable } from '../kernel/index.ts';
import type { OutboundResponse } from '../outbound/index.ts';
import { describeFailure } from './remote-credentials.ts';
import type { MirrorDeps } from './deps.ts';

/** A repository in another forge's listing. */
export interface RemoteRepository {
  name: string;
  /** `owner/name` on that forge. */
  fullName: string;
  description: string;
  isPrivate: boolean;
  cloneUrl: string;
}

interface RemoteAccount {
  /** API of GitHub, or of a forge with a compatible API. */
  api: string;
  login: string;
  /** Lists starred repositories of the account instead of its own. */
  isStarred: boolean;
  /** A token of that account, which also allows listing its private repositories. */
  secret: string;
}

const maxKeysBytes = 512 * 1024;
const maxPageBytes = 16 * 1024 * 1024;
/**
 * The maximum of GitHub, and of Gitea: each ignores the other's parameter, and an administrator may have set a lower
 * one.
 */
const [perPage, limit] = [100, 50];
const maxPages = 50;
const maxRedirects = 3;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * The public keys at a URL, one per line, as in `https://github.com/alice.keys`. Throws `elsewhere_refused` if this
 * server may not connect, `elsewhere_not_found`, `elsewhere_failed`.
 */
export async function keysAt(deps: MirrorDeps, url: string): Promise<string[]> {
  const { body } = await getFrom(deps, url, {}, maxKeysBytes);
  return body
    .toString('utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** The repositories of an account. Throws the errors of `keysAt`. */
export async function repositoriesAt(
  deps: MirrorDeps,
  { api, login, isStarred, secret }: RemoteAccount,
): Promise<RemoteRepository[]> {
  const whose = isStarred
    ? `users/${encodeURIComponent(login)}/starred`
    : secret === ''
      ? `users/${encodeURIComponent(login)}/repos`
      : 'user/repos';
  const found: RemoteRepository[] = [];
  for (let page = 1; page <= maxPages; page += 1) {
    const query = `per_page=${perPage}&limit=${limit}&page=${page}${whose === 'user/repos' ? '&affiliation=owner' : ''}`;
    const headers = { Accept: 'application/json', ...(secret === '' ? {} : { Authorization: `Bearer ${secret}` }) };
    const { headers: responseHeaders, body } = await getFrom(
      deps,
      `${api.replace(/\/$/, '')}/${whose}?${query}`,
      headers,
      maxPageBytes,
    );
    const listed = readList(body);
    found.push(...listed);
    if (!hasNextPage(responseHeaders.link, listed.length, perPage)) break;
  }
  return found;
}

/** A server that paginates sends `Link`; without the header the list is complete, unless the page is full. */
export function hasNextPage(link: string | string[] | undefined, count: number, perPage: number): boolean {
  return link === undefined ? count >= perPage : /rel="?next"?/.test(String(link));
}

/** A forge's response; refusals become error messages. Throws the errors of `keysAt`. */
export async function getFrom(
  { outbound }: MirrorDeps,
  url: string,
  headers: Record<string, string>,
  maxBytes: number,
): Promise<OutboundResponse> {
  const ask = (address: string): Promise<OutboundResponse> =>
    outbound.send({ method: 'GET', url: address, headers, maxBytes }).catch((error: unknown) => {
      if (!isRefusal(error)) throw error;
      throw error.code === 'unavailable'
        ? unavailable('elsewhere_failed', error.message, { cause: error })
        : forbidden('elsewhere_refused', describeFailure(error, url), { cause: error });
    });
  let response = await ask(url);
  for (let step = 0; step < maxRedirects && redirects.has(response.status); step += 1) {
    // A renamed repository leads to another path; another origin would get the token.
    const next = URL.parse(response.headers.location ?? '', url);
    if (next === null || next.origin !== new URL(url).origin) break;
    response = await ask(next.href);
  }
  const { status } = response;
  const { host } = new URL(url);
  if (status === 404) throw notFound('elsewhere_not_found', `${host} has no account of this name.`);
  if (status === 401) throw forbidden('elsewhere_refused', `${host} does not accept this token.`);
  if (status === 403 || status === 429)
    throw unavailable(
      'elsewhere_failed',
      `${host} has reached its request limit (status ${status}). A token raises the limit.`,
    );
  if (status !== 200) throw unavailable('elsewhere_failed', `${host} answered with status ${status}.`);
  return response;
}

function readList(body: Buffer): RemoteRepository[] {
  const strange = () => unavailable('elsewhere_failed', 'The response is not a list of repositories.');
  let rows: unknown;
  try {
    rows = JSON.parse(body.toString('utf8'));
  } catch {
    throw strange();
  }
  if (!Array.isArray(rows)) throw strange();
  return rows.map((row: Record<string, unknown> | null): RemoteRepository => {
    const { name, full_name: fullName, clone_url: cloneUrl, description, private: isPrivate } = row ?? {};
    if (typeof name !== 'string' || typeof fullName !== 'string' || typeof cloneUrl !== 'string') throw strange();
    return {
      name,
      fullName,
      cloneUrl,
      description: typeof description === 'string' ? description : '',
      isPrivate: isPrivate !== false,
    };
  });
}
