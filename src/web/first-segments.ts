import type { GitHandlers } from './git/index.ts';
import { routes } from './routes.ts';

/**
 * The fixed first parts of all paths. No person or organisation may have one of
 * them as a handle, or their short address would lead elsewhere (web-ui §12.1).
 */
export function firstSegments(): Set<string> {
  const nobody = (): never => {
    throw new Error('not a server');
  };
  const git: GitHandlers = { infoRefs: nobody, uploadPack: nobody, receivePack: nobody };
  const segments = routes(git).map(({ path }) => path.split('/')[1] ?? '');
  return new Set(segments.filter((segment) => /^[a-z]/.test(segment)));
}
