import type { Owner } from '../../owners/index.ts';
import type { Repository } from '../../repositories/index.ts';
import { viewAvatar, type AvatarView } from './avatar.view.ts';
import { repositoryImageUrl, repositoryUrl } from '../../http/index.ts';

/** A repository's own image, otherwise its owner's picture (SPEC §4.3). */
export function viewRepositoryAvatar(
  { name, imageContentType, imageUpdatedAt }: Pick<Repository, 'name' | 'imageContentType' | 'imageUpdatedAt'>,
  owner: Pick<Owner, 'id' | 'handle' | 'avatarAt'>,
): AvatarView {
  if (imageContentType === null) return viewAvatar(owner.id, owner.avatarAt);
  return { src: repositoryImageUrl(repositoryUrl({ owner: owner.handle, name }), imageUpdatedAt) };
}
