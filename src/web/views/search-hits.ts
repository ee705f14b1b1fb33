import { markHits } from '../../search/index.ts';
import type { FoundPerson, FoundRepository, Piece } from '../../search/index.ts';
import { viewAvatar, type AvatarView } from './avatar.ts';
import { viewRepositoryPicture } from './repository-picture.ts';
import { viewTime, type TimeView } from './times.ts';
import { personUrl, repositoryUrl } from './urls.ts';

/** A repository that was found, with the places where it was found marked. */
export interface RepositoryHitView {
  url: string;
  isPrivate: boolean;
  isArchived: boolean;
  avatar: AvatarView;
  updated: TimeView;
  marked: { owner: Piece[]; name: Piece[]; description: Piece[] };
}

export interface PersonHitView {
  url: string;
  avatar: AvatarView;
  marked: { username: Piece[]; displayName: Piece[] };
}

export function viewRepositoryHit(repository: FoundRepository, query: string, now: number): RepositoryHitView {
  const { owner, name } = repository;
  return {
    url: repositoryUrl({ owner: owner.handle, name }),
    isPrivate: repository.visibility === 'PRIVATE',
    isArchived: repository.archivedAt !== null,
    avatar: viewRepositoryPicture(repository, owner),
    updated: viewTime(repository.changedAt, now),
    marked: {
      owner: markHits(owner.handle, query),
      name: markHits(name, query),
      description: markHits(repository.description, query),
    },
  };
}

export function viewPersonHit({ id, username, displayName, avatarAt }: FoundPerson, query: string): PersonHitView {
  return {
    url: personUrl(username),
    avatar: viewAvatar(id, avatarAt),
    marked: { username: markHits(username, query), displayName: markHits(displayName, query) },
  };
}
