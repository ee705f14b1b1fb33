import type { SourceClient } from '../client/source-client.ts';
import type { SourceKind } from '../schema/source-kind.ts';
import { readPerson as readGiteaPerson } from '../sources/gitea/gitea-shapes.ts';
import { readPerson as readGithubPerson } from '../sources/github/github-shapes.ts';
import { readPerson as readGitlabPerson } from '../sources/gitlab/gitlab-shapes.ts';
import { flagOf, idOf, numberOf, objectOf, textOf } from '../sources/read-json.ts';
import type { Json } from '../sources/read-json.ts';
import { createPager } from '../sources/read-pages.ts';
import type { SourcePerson, TellProblem } from '../sources/source.ts';

type TeamRole = 'read' | 'write' | 'admin';

/** A team of an organisation. Everything is untrusted. */
export interface SourceTeam {
  /** Key at the source. */
  id: string;
  name: string;
  description: string;
  /** Null if its members see only parts of its repositories: a role here would show them all. */
  role: TeamRole | null;
  members: SourcePerson[];
  /** `owner/name`, with the role there; null as for the team. */
  repositories: { project: string; role: TeamRole | null }[];
}

/** Members of the organisation itself, who have a role in all of its repositories, and its teams. */
interface SourceMembers {
  members: { person: SourcePerson; role: 'OWNER' | 'MEMBER' | 'GUEST' }[];
  teams: SourceTeam[];
}

/** More teams than an organisation can have here. */
const mostTeams = 200;

/**
 * The members and teams of an organisation. What the token may not read is a line of the report and empty. Refuses as
 * `SourceClient` does.
 */
export async function listMembers(
  client: SourceClient,
  { kind, api, login }: { kind: SourceKind; api: string; login: string },
  tell: TellProblem,
): Promise<SourceMembers> {
  const { every, withRights } = createPager(client, {
    api,
    repo: kind === 'github' ? '' : '/version',
    project: 'such list',
    tell,
  });
  const part = encodeURIComponent;
  const list = <Row>(what: string, path: string, read: (row: Json) => Row | null) =>
    withRights(what, () => every(path, read));

  if (kind === 'gitlab') {
    const members = await list('members', `/groups/${part(login)}/members?per_page=100&page=1`, (row) => {
      const person = readGitlabPerson(row);
      const role = gitlabRole(numberOf(row['access_level']) ?? 0);
      return person === null || textOf(row['state']) === 'blocked' || role === null ? null : { person, role };
    });
    return { members, teams: [] };
  }
  const isGithub = kind === 'github';
  const pages = isGithub ? 'per_page=100' : 'limit=50&page=1';
  const readPerson = isGithub ? readGithubPerson : readGiteaPerson;
  const raw = await list('teams', `/orgs/${part(login)}/teams?${pages}`, (row) => row);
  const teams: SourceTeam[] = [];
  let owners: SourcePerson[] = isGithub
    ? await list('owners', `/orgs/${part(login)}/members?role=admin&${pages}`, readPerson)
    : [];
  for (const row of raw.slice(0, mostTeams)) {
    const id = isGithub ? textOf(row['slug']) : idOf(row['id']);
    const at = isGithub ? `/orgs/${part(login)}/teams/${part(id)}` : `/teams/${part(id)}`;
    const name = textOf(row['name']);
    const members = await list(`members of ${name}`, `${at}/members?${pages}`, readPerson);
    if (!isGithub && textOf(row['permission']) === 'owner') {
      owners = members;
      continue;
    }
    const role = isGithub ? githubRole(row) : giteaRole(row);
    const repositories = await list(`repositories of ${name}`, `${at}/repos?${pages}`, (one) => ({
      project: textOf(one['full_name']),
      role: isGithub ? githubRole(one) : role,
    }));
    teams.push({ id, name, description: textOf(row['description']), role, members, repositories });
  }
  if (raw.length > mostTeams) tell('teams', `only the first ${mostTeams} were read`);
  return { members: owners.map((person) => ({ person, role: 'OWNER' })), teams };
}

/** Rights of a role here, by the parts of a repository in Gitea. */
const parts = ['repo.code', 'repo.issues', 'repo.pulls', 'repo.releases', 'repo.wiki'];

/** The least of the rights in the parts of a repository; null if a part is hidden from the team. */
function giteaRole(row: Json): TeamRole | null {
  const permission = textOf(row['permission']);
  if (permission === 'admin') return 'admin';
  const units = objectOf(row['units_map']);
  const rights = parts.map((name) => textOf(units[name]) || (name in units ? 'none' : permissionOf(row, name)));
  if (rights.some((right) => !['read', 'write', 'admin', 'owner'].includes(right))) return null;
  return rights.includes('read') ? 'read' : 'write';
}

/** Servers before `units_map` have one right for all units of a team. */
function permissionOf(row: Json, name: string): string {
  if (row['units_map'] != null) return 'none';
  return Array.isArray(row['units']) && row['units'].includes(name) ? textOf(row['permission']) : 'none';
}

function githubRole(row: Json): TeamRole {
  const rights = objectOf(row['permissions']);
  const name = textOf(row['permission']);
  if (flagOf(rights['admin']) || name === 'admin') return 'admin';
  return flagOf(rights['push']) || ['push', 'maintain'].includes(name) ? 'write' : 'read';
}

/** Levels of GitLab: 20 reads, 30 writes, 50 owns; below, the code of a private project is hidden. */
function gitlabRole(level: number): 'OWNER' | 'MEMBER' | 'GUEST' | null {
  if (level >= 50) return 'OWNER';
  return level >= 30 ? 'MEMBER' : level >= 20 ? 'GUEST' : null;
}
