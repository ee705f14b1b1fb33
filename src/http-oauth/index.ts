import type { IncomingHttpHeaders } from 'node:http';
import type { SessionViewer } from '../accounts/index.ts';
import type { Middleware } from '../http/index.ts';
import type { Consents } from '../oauth/index.ts';
import { createConsents } from './consents.ts';
import type { OAuthHttpDeps } from './deps.ts';
import { createOAuthHandler } from './handler.ts';
import { createProviders } from './provider.ts';
import { personOf } from './signed-in.ts';

export { paths as oauthPaths } from './paths.ts';

/** A page in the frame of the website. */
type RenderPage = (
  frame: { signedIn: SessionViewer | null; headers: IncomingHttpHeaders },
  template: string,
  locals: Record<string, unknown>,
) => string;

/** The protocol's addresses, and what pages decide about its requests. */
export function createOAuthServer(deps: OAuthHttpDeps & { renderPage: RenderPage }): {
  handle: Middleware;
  consents: Consents;
} {
  const providerNow = createProviders({
    ...deps,
    render(request, template, locals) {
      return deps.renderPage({ signedIn: personOf(request), headers: request.headers }, template, locals);
    },
  });
  return { handle: createOAuthHandler(deps, providerNow), consents: createConsents(deps, providerNow) };
}
