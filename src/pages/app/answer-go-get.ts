import type { Config } from '../../config/index.ts';
import { reservedHandles } from '../../owners/index.ts';
import type { Middleware } from './context.ts';

const address = /^\/([A-Za-z0-9][A-Za-z0-9._-]{0,38})\/([A-Za-z0-9._-]{1,100})(?:\/|$)/;

// Nothing that the address may have needs more.
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/**
 * Tells `go get` the repository of a package: every GET with `go-get=1` at `/{owner}/{name}` and below, for modules in
 * folders and packages (go.dev/ref/mod, "Finding a repository for a module path"). The response depends only on the
 * URL, so it reveals nothing about what exists; git asks for credentials itself.
 */
export const answerGoGet =
  ({ baseUrl }: Pick<Config, 'baseUrl'>): Middleware =>
  (ctx, next) => {
    if ((ctx.method !== 'GET' && ctx.method !== 'HEAD') || !/[?&]go-get=1(?:&|$)/.test(ctx.search)) return next();
    const [, owner = '', name = ''] = address.exec(ctx.path) ?? [];
    const repository = name.replace(/\.git$/i, '');
    if (owner === '' || reservedHandles.has(owner.toLowerCase()) || /^\.*$/.test(repository)) return next();
    const origin = baseUrl ?? ctx.state.origin;
    const prefix = escapeHtml(`${new URL(origin).host}/${owner}/${repository}`);
    const page = escapeHtml(`${origin}/repos/${owner}/${repository}`);
    const clone = escapeHtml(`${origin}/git/${owner}/${repository}.git`);
    ctx.type = 'html';
    ctx.set('Cache-Control', 'no-cache');
    ctx.body = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>go get ${prefix}</title>
<meta name="go-import" content="${prefix} git ${clone}">
<meta name="go-source" content="${prefix} ${page} ${page}/tree/HEAD{/dir} ${page}/blob/HEAD{/dir}/{file}#L{line}">
</head><body>go get ${prefix}</body></html>
`;
    return undefined;
  };
