import type { Person } from '../../accounts/index.ts';
import type { ListedRepository } from '../../repositories/index.ts';
import { markHits } from '../../search/index.ts';
import type { Piece } from '../../search/index.ts';
import { viewAvatar, type AvatarView } from './avatar.ts';
import { viewRepositoryRow, type RepositoryRowView } from './repository-row.ts';
import { personUrl } from './urls.ts';

/** A repository that was found, with the places where it was found marked. */
export interface RepositoryHitView extends RepositoryRowView {
  marked: { owner: Piece[]; name: Piece[]; description: Piece[] };
}

export interface PersonHitView {
  url: string;
  avatar: AvatarView;
  marked: { username: Piece[]; displayName: Piece[] };
}

export function viewRepositoryHit(repository: ListedRepository, query: string, now: number): RepositoryHitView {
  const row = viewRepositoryRow(repository, now);
  const marked = {
    owner: markHits(row.owner, query),
    name: markHits(row.name, query),
    description: markHits(row.description, query),
  };
  return { ...row, marked };
}

export function viewPersonHit(person: Person, avatarAt: number | null, query: string): PersonHitView {
  const username = person.username ?? '';
  return {
    url: personUrl(username),
    avatar: viewAvatar(person.id, avatarAt),
    marked: { username: markHits(username, query), displayName: markHits(person.displayName, query) },
  };
}
