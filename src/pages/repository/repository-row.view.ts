import { languageCalled } from '../../highlighting/index.ts';
import type { ListedRepository } from '../../repositories/index.ts';
import type { AvatarView } from '../app/avatar.view.ts';
import { viewRepositoryAvatar } from '../app/repository-avatar.view.ts';
import { viewTime, type TimeView } from '../app/times.view.ts';
import { repositoryUrl } from '../../http/index.ts';

/** One repository in a list. */
interface RepositoryRowView {
  owner: string;
  name: string;
  url: string;
  description: string;
  isPrivate: boolean;
  isArchived: boolean;
  isFork: boolean;
  avatar: AvatarView;
  languages: { name: string; colour: string }[];
  updated: TimeView;
}

export function viewRepositoryRow(repository: ListedRepository, now: number): RepositoryRowView {
  const { owner, name } = repository;
  return {
    owner: owner.handle,
    name,
    url: repositoryUrl({ owner: owner.handle, name }),
    description: repository.description,
    isPrivate: repository.visibility === 'PRIVATE',
    isArchived: repository.archivedAt !== null,
    isFork: repository.forkedFromId !== null,
    avatar: viewRepositoryAvatar(repository, owner),
    // A language that a later version dropped has no colour.
    languages: repository.languages.map((name) => ({ name, colour: languageCalled(name)?.colour ?? '#8a8078' })),
    updated: viewTime(repository.pushedAt ?? repository.updatedAt, now),
  };
}
