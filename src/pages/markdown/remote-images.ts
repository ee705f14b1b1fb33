import type { WebDeps } from '../../web/index.ts';
import type { FoundWithHeader } from '../app/context.ts';
import type { DocumentLocation } from './repository-links.ts';

/** Files and badges of this server, which documents often link by their full URL. */
const ownImage = /^\/repos\/[^/?#]+\/[^/?#]+\/(?:raw|runs\/badge|attachments)\/[^#]*$/;

/** Whether a repository's documents show images of other hosts through the proxy, or as links. */
export function remoteImagesOf(
  { repository }: Pick<FoundWithHeader, 'repository'>,
  { config, imageProxy }: Pick<WebDeps, 'config' | 'imageProxy'>,
  origin: string,
): Pick<DocumentLocation, 'showsRemoteImages'> & Required<Pick<DocumentLocation, 'remote'>> {
  const scope = { repositoryId: repository.id, isPublic: repository.visibility === 'PUBLIC' };
  return {
    showsRemoteImages: config.repositories.remoteImages,
    remote(url) {
      const path = url.startsWith(`${origin}/`) ? url.slice(origin.length) : '';
      if (ownImage.test(path)) return path;
      const address = imageProxy.sign(scope, url);
      return address === null ? null : `/-/images/${address}`;
    },
  };
}
