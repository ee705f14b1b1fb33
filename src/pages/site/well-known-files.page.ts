import { notFound } from '../../kernel/index.ts';
import { content } from '../app/reply.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import type { SiteDeps } from './deps.ts';

const forever = 'public, max-age=31536000, immutable';

/** Only tells that the process runs; checks nothing else. */
export const showHealth: Page<RequestContext, SiteDeps> = () =>
  content('text/plain; charset=utf-8', 'ok\n', { headers: { 'Cache-Control': 'no-store' } });

/** Whether this server can take requests. Names the failing parts, never their paths or errors. */
export const showReadiness: Page<RequestContext, SiteDeps> = async (_context, { unready }) => {
  const parts = await unready();
  const ready = parts.length === 0;
  return content('text/plain; charset=utf-8', ready ? 'ready\n' : `not ready: ${parts.join(', ')}\n`, {
    status: ready ? 200 : 503,
    headers: { 'Cache-Control': 'no-store', ...(ready ? {} : { 'Retry-After': '5' }) },
  });
};

/** URLs of no use to crawlers: git itself, personal pages, and history pages, whose number is unlimited. */
const notForCrawlers = [
  '/git/',
  '/login',
  '/settings/',
  '/admin/',
  '/api/',
  '/ap/',
  '/search',
  ...['commits', 'commit', 'blame', 'raw', 'compare', 'archive', 'tree', 'blob'].map((page) => `/repos/*/*/${page}/`),
];

/** Crawlers get the pages that are cheap to render: front pages, users, organisations. */
export const showRobots: Page<RequestContext, SiteDeps> = () =>
  content(
    'text/plain; charset=utf-8',
    ['User-agent: *', 'Crawl-delay: 5', ...notForCrawlers.map((path) => `Disallow: ${path}`), ''].join('\n'),
  );

/**
 * `/assets/{hash}-{name}`, cached by browsers for ever. A URL with an old hash still returns the current file, so that
 * a page from before an upgrade keeps its styles, but no cache stores that response.
 */
export const showAsset: Page<RequestContext, SiteDeps> = async ({ params, bestEncoding }, { assets }) => {
  const found = assets.find(params.file ?? '');
  if (found === null) throw notFound();
  const encoding = bestEncoding('br', 'gzip');
  return content(found.asset.type, await found.asset.body(encoding), {
    headers: {
      'Cache-Control': found.isCurrent ? forever : 'no-cache',
      Vary: 'Accept-Encoding',
      ...(encoding === 'identity' ? {} : { 'Content-Encoding': encoding }),
    },
  });
};

/** Browsers request this without a link while they have not read a page yet. */
export const showFavicon: Page<RequestContext, SiteDeps> = async (_context, { assets }) => {
  const found = assets.find(assets.url('favicon.svg').slice('/assets/'.length));
  if (found === null) throw notFound();
  return content(found.asset.type, await found.asset.body('identity'), {
    headers: { 'Cache-Control': 'public, max-age=86400' },
  });
};

/** `/-/signing-key`: the keys with which this server signs commits, for `gpg.ssh.allowedSignersFile`. */
export const showSigningKey: Page<RequestContext, SiteDeps> = async (_context, { signing }) =>
  content('text/plain; charset=utf-8', await signing.allowedSigners(), { headers: { 'Cache-Control': 'no-cache' } });
