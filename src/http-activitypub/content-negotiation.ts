import type { Federation } from '../federation/index.ts';
import type { Context, Middleware } from '../http/index.ts';

const actorPage = /^\/(?:repos\/[^/]+\/[^/]+|(?:users|orgs)\/[^/]+)$/;

export const actorTypes = [
  'application/activity+json',
  'application/ld+json; profile="https://www.w3.org/ns/activitystreams"',
  'application/ld+json',
];

/** Only who names the type means the actor: browsers and scripts that take anything get the page. */
function wantsActor(ctx: Context): boolean {
  const best = ctx.accepts('text/html', ...actorTypes);
  return best !== false && actorTypes.includes(best);
}

/**
 * Content negotiation on pages of public repositories and of people: a request for ActivityPub is redirected to
 * the actor, and the page names the actor in a `Link` header.
 */
export function negotiateActors({ isOperational, publications }: Federation): Middleware {
  return async (ctx, next) => {
    const isPage = isOperational && (ctx.method === 'GET' || ctx.method === 'HEAD') && actorPage.test(ctx.path);
    if (!isPage) return next();
    ctx.vary('Accept');
    const actor = await publications.actorOfPage(ctx.path);
    if (actor !== null && wantsActor(ctx)) {
      ctx.redirect(actor);
      ctx.status = 302;
      ctx.set('Cache-Control', 'no-cache');
      return;
    }
    await next();
    // Again: a page says by itself what it depends on.
    ctx.vary('Accept');
    if (actor !== null && ctx.status === 200)
      ctx.append('Link', `<${actor}>; rel="alternate"; type="application/activity+json"`);
  };
}
