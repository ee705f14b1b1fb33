import type { Viewer } from '../../access/index.ts';
import type { ImageUpload } from '../../images/index.ts';
import { bindRepositoryDeps } from '../bind-repository-deps.ts';
import type { RepositoryDeps } from '../deps.ts';
import { openImage, removeImage, replaceImage } from './repository-image.ts';

/** The image of a repository. */
export function createImageService(deps: RepositoryDeps) {
  const bindAt = bindRepositoryDeps(deps);
  return {
    replace: (viewer: Viewer, owner: string, name: string, upload: ImageUpload) =>
      replaceImage(deps, viewer, { owner, name }, upload),
    remove: bindAt(removeImage),
    open: bindAt(openImage),
  };
}
