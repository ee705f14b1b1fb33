import type { FoundPerson, FoundRepository, TextSegment } from '../../search/index.ts';
import { viewAvatar, type AvatarView } from '../app/avatar.view.ts';
import { viewTime, type TimeView } from '../app/times.view.ts';
import { personUrl, repositoryImageUrl, repositoryUrl } from '../../http/index.ts';

/** A repository in search results, with the matches marked. */
interface RepositoryHitView {
  url: string;
  isPrivate: boolean;
  isArchived: boolean;
  isFork: boolean;
  avatar: AvatarView;
  updated: TimeView;
  marked: { owner: TextSegment[]; name: TextSegment[]; description: TextSegment[] };
}

interface PersonHitView {
  url: string;
  avatar: AvatarView;
  marked: { username: TextSegment[]; displayName: TextSegment[] };
}

type Mark = (text: string) => TextSegment[];

/**
 * @param mark splits a text at the matches of the query
 */
export function viewRepositoryHit(
  { hit, ownerId, avatarAt, archivedAt, isFork, imageAt, changedAt }: FoundRepository,
  mark: Mark,
  now: number,
): RepositoryHitView {
  const url = repositoryUrl(hit);
  return {
    url,
    isPrivate: hit.visibility === 'PRIVATE',
    isArchived: archivedAt !== null,
    isFork,
    avatar: imageAt === null ? viewAvatar(ownerId, avatarAt) : { src: repositoryImageUrl(url, imageAt) },
    updated: viewTime(changedAt, now),
    marked: { owner: mark(hit.owner), name: mark(hit.name), description: mark(hit.description) },
  };
}

export function viewPersonHit({ hit, id, avatarAt }: FoundPerson, mark: Mark): PersonHitView {
  return {
    url: personUrl(hit.username),
    avatar: viewAvatar(id, avatarAt),
    marked: { username: mark(hit.username), displayName: mark(hit.displayName) },
  };
}
