import type { Located } from '../repositories/index.ts';
import { numericId } from './numeric-id.ts';
import type { ServerPlace } from './place.ts';
import type { UserPayload } from './user.ts';

const time = (ms: number): string => new Date(Math.min(Math.max(ms, -8.64e15), 8.64e15)).toISOString();

/** A repository in Gitea's form. */
export type RepositoryPayload = {
  id: number;
  owner: UserPayload;
  name: string;
  full_name: string;
  description: string;
  empty: boolean;
  private: boolean;
  fork: boolean;
  mirror: boolean;
  archived: boolean;
  forks_count: number;
  size: number;
  html_url: string;
  url: string;
  clone_url: string;
  ssh_url: string;
  default_branch: string;
  created_at: string;
  updated_at: string;
};

export function repositoryPayload(
  { repository, owner }: Pick<Located, 'repository' | 'owner'>,
  { baseUrl, sshOrigin }: ServerPlace,
): RepositoryPayload {
  const fullName = `${owner.handle}/${repository.name}`;
  const ownerPage = `${baseUrl ?? ''}/${owner.kind === 'user' ? 'users' : 'orgs'}/${owner.handle}`;
  return {
    id: numericId(repository.id),
    owner: {
      id: numericId(owner.id),
      login: owner.handle,
      username: owner.handle,
      full_name: '',
      email: '',
      avatar_url: `${baseUrl ?? ''}/avatars/${owner.id}.svg`,
      html_url: ownerPage,
    },
    name: repository.name,
    full_name: fullName,
    description: repository.description,
    empty: repository.pushedAt === null,
    private: repository.visibility === 'PRIVATE',
    fork: repository.forkedFromId !== null,
    mirror: false,
    archived: repository.archivedAt !== null,
    forks_count: Number(repository.forkCount),
    size: Math.round(repository.sizeBytes / 1024),
    html_url: `${baseUrl ?? ''}/repos/${fullName}`,
    url: `${baseUrl ?? ''}/api/v1/repos/${fullName}`,
    clone_url: `${baseUrl ?? ''}/git/${fullName}.git`,
    ssh_url: sshOrigin === null ? '' : `${sshOrigin}/${fullName}.git`,
    default_branch: repository.defaultBranch,
    created_at: time(repository.createdAt),
    updated_at: time(repository.updatedAt),
  };
}
