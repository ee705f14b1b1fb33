import type { Owner } from '../../owners/index.ts';
import { personUrl } from '../../http/index.ts';
import { t } from '../../translation/index.ts';
import { viewAvatar } from '../app/avatar.view.ts';
import type { AvatarView } from '../app/avatar.view.ts';
import { viewName } from '../app/printable-names.ts';

/** An actor or participant. */
export interface PersonView {
  name: string;
  /** Null for a person without an account here. */
  url: string | null;
  avatar: AvatarView | null;
}

export type People = ReadonlyMap<string, Pick<Owner, 'id' | 'handle' | 'avatarAt'>>;

/** A user by id; a deleted account has no name. */
export function viewPerson(id: string, people: People): PersonView {
  const person = people.get(id);
  if (person === undefined) return { name: t('issues.people.deleted_user'), url: null, avatar: null };
  return { name: person.handle, url: personUrl(person.handle), avatar: viewAvatar(person.id, person.avatarAt) };
}

/** A user by id, or by the name in an import; null for neither. */
export const viewSomeone = (
  { id, name }: { id: string | null; name: string | null },
  people: People,
): PersonView | null => (id === null && name === null ? null : viewAuthor({ authorId: id, authorName: name }, people));

/** The author of an issue or an entry: an account, an imported name, the server, or a deleted account. */
export function viewAuthor(
  { authorId, authorName, via }: { authorId: string | null; authorName: string | null; via?: string },
  people: People,
): PersonView {
  if (authorId !== null) return viewPerson(authorId, people);
  if (authorName === null && via === 'server') return { name: 'Hearth', url: null, avatar: null };
  return {
    name: authorName === null ? t('issues.people.deleted_user') : viewName(authorName),
    url: null,
    avatar: null,
  };
}
