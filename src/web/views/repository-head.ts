import type { Found } from '../../repositories/index.ts';
import { viewAvatar, type AvatarView } from './avatar.ts';
import { personUrl, repositoryUrl } from './urls.ts';

/** The head of every page of a repository: who, what, and the tabs that this viewer has. */
export interface RepositoryHeadView {
  owner: string;
  ownerUrl: string;
  name: string;
  url: string;
  description: string;
  isPrivate: boolean;
  isArchived: boolean;
  avatar: AvatarView;
  mayWrite: boolean;
  mayAdminister: boolean;
}

export function viewRepositoryHead({ repository, canonical, owner, level }: Found): RepositoryHeadView {
  return {
    owner: canonical.owner,
    ownerUrl: personUrl(canonical.owner),
    name: canonical.name,
    url: repositoryUrl(canonical),
    description: repository.description,
    isPrivate: repository.visibility === 'PRIVATE',
    isArchived: repository.archivedAt !== null,
    avatar: viewAvatar(owner.id),
    mayWrite: level === 'write' || level === 'admin',
    mayAdminister: level === 'admin',
  };
}
