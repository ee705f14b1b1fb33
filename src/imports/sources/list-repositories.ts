import { sourceGone } from '../client/source-errors.ts';
import type { SourceClient } from '../client/source-client.ts';
import type { SourceKind } from '../schema/source-kind.ts';
import { idOf, objectOf, picturesOf, textOf } from './read-json.ts';
import type { Json } from './read-json.ts';
import { createPager } from './read-pages.ts';
import type { SourcePage, TellProblem } from './source.ts';

/** An account or an organisation of another forge. */
export interface ListedOwner {
  login: string;
  kind: 'user' | 'organisation';
  /** Key of its own list of repositories. */
  id: string;
  name: string;
  description: string;
  /** An e-mail address that the server vouches for; empty for none. */
  email: string;
  url: string;
  /** Addresses of its picture, most likely first; missing in lists of earlier versions. */
  pictures?: string[];
}

interface ListedRepository {
  /** `owner/name`; for GitLab including all groups. */
  project: string;
  name: string;
  url: string;
}

/** Lists of a server's content. Each method sends requests, and refuses as `SourceClient` does. */
export interface SourceListing {
  /** An account or an organisation by its name. Throws `source_gone`. */
  owner(login: string): Promise<ListedOwner>;
  /** All owners of the server, for a token of its administrator; null if the server has no such lists. */
  owners: ((cursor: string | null) => Promise<SourcePage<ListedOwner>>) | null;
  repositories(owner: ListedOwner, cursor: string | null): Promise<SourcePage<ListedRepository>>;
}

const readRepository = (row: Json): ListedRepository | null => {
  const project = textOf(row['full_name']) || textOf(row['path_with_namespace']);
  const name = textOf(row['path']) || textOf(row['name']);
  const url = textOf(row['html_url']) || textOf(row['web_url']);
  return /^[^/]+(?:\/[^/]+)+$/.test(project) && project.length <= 500 && name !== '' ? { project, name, url } : null;
};

const readOwner =
  (kind: ListedOwner['kind']) =>
  (row: Json): ListedOwner | null => {
    const login = textOf(row['login']) || textOf(row['username']) || textOf(row['full_path']) || textOf(row['name']);
    if (login === '' || login.length > 200) return null;
    const email = textOf(row['email']) || textOf(row['public_email']);
    return {
      login,
      kind,
      id: idOf(row['id']),
      name: textOf(row['full_name']) || textOf(row['name']),
      description: textOf(row['description']),
      email: kind === 'organisation' || /@(?:noreply\.|localhost$)/.test(email) ? '' : email,
      url: textOf(row['html_url']) || textOf(row['web_url']),
      pictures: picturesOf(row['avatar_url']),
    };
  };

/** The two lists one after the other: the cursor also identifies the list. */
function oneAfterTheOther(
  read: (path: string, cursor: string | null, kind: ListedOwner['kind']) => Promise<SourcePage<ListedOwner>>,
  organisations: string,
  users: string,
) {
  return async (cursor: string | null): Promise<SourcePage<ListedOwner>> => {
    const [path] = users.split('?');
    const isUsers = cursor !== null && cursor.split('?')[0] === path;
    const found = await read(
      isUsers ? users : organisations,
      cursor === users ? null : cursor,
      isUsers ? 'user' : 'organisation',
    );
    return { rows: found.rows, next: found.next ?? (isUsers ? null : users) };
  };
}

export function openListing(client: SourceClient, kind: SourceKind, api: string, tell: TellProblem): SourceListing {
  const { page } = createPager(client, { api, repo: kind === 'github' ? '' : '/version', project: 'such list', tell });
  const ownersAt = (path: string, cursor: string | null, of: ListedOwner['kind']) =>
    page({ since: null, cursor }, path, readOwner(of));
  const repositoriesAt = (path: string, cursor: string | null) => page({ since: null, cursor }, path, readRepository);
  const find = async (login: string, path: string, of: ListedOwner['kind']): Promise<ListedOwner | null> => {
    const { status, json } = await client.get(path);
    const row = Array.isArray(json) ? json[0] : json;
    return status === 404 || status === 410 || row == null ? null : { ...readOwner(of)(objectOf(row))!, login };
  };
  const gone = (login: string) => sourceGone(client.host, login);
  const part = encodeURIComponent;

  if (kind === 'gitlab') {
    const order = 'order_by=id&sort=asc&per_page=100&page=1';
    return {
      async owner(login) {
        const found =
          (await find(login, `/groups/${part(login)}?with_projects=false`, 'organisation')) ??
          (await find(login, `/users?username=${part(login)}`, 'user'));
        if (found === null) throw gone(login);
        return found;
      },
      owners: oneAfterTheOther(
        ownersAt,
        `/groups?top_level_only=true&${order}`,
        `/users?without_project_bots=true&${order}`,
      ),
      repositories: ({ login, id, kind: of }, cursor) =>
        repositoriesAt(
          of === 'organisation'
            ? `/groups/${part(login)}/projects?include_subgroups=true&with_shared=false&${order}`
            : `/users/${part(id)}/projects?${order}`,
          cursor,
        ),
    };
  }
  if (kind === 'github') {
    const pages = 'per_page=100';
    return {
      async owner(login) {
        const { status, json } = await client.get(`/users/${part(login)}`);
        if (status === 404) throw gone(login);
        const row = objectOf(json);
        return readOwner(textOf(row['type']) === 'Organization' ? 'organisation' : 'user')(row)!;
      },
      owners: null,
      async repositories({ login, kind: of }, cursor) {
        if (of === 'organisation') return repositoriesAt(`/orgs/${part(login)}/repos?type=all&${pages}`, cursor);
        // Its private repositories are visible only to itself, in a separate list.
        const own = `/user/repos?affiliation=owner&${pages}`;
        if (cursor !== null) return repositoriesAt(own, cursor);
        const me = await client.get('/user').catch(() => null);
        const isOwn = textOf(objectOf(me?.json)['login']).toLowerCase() === login.toLowerCase();
        return repositoriesAt(isOwn ? own : `/users/${part(login)}/repos?type=owner&${pages}`, null);
      },
    };
  }
  const pages = 'limit=50&page=1';
  return {
    async owner(login) {
      const found =
        (await find(login, `/orgs/${part(login)}`, 'organisation')) ??
        (await find(login, `/users/${part(login)}`, 'user'));
      if (found === null) throw gone(login);
      return found;
    },
    owners: oneAfterTheOther(ownersAt, `/admin/orgs?${pages}`, `/admin/users?${pages}`),
    repositories: ({ login, kind: of }, cursor) =>
      repositoriesAt(`/${of === 'organisation' ? 'orgs' : 'users'}/${part(login)}/repos?${pages}`, cursor),
  };
}
