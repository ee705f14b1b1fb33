import { diagramPolicy } from '../../http/index.ts';
import { content } from '../app/reply.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import type { SiteDeps } from './deps.ts';

/**
 * `/assets/mermaid`: draws one diagram, whose source the embedding page sends, in a frame without an origin
 * (`sandbox="allow-scripts"`). It is the same for all viewers, and has access to that text only.
 */
export const showDiagramFrame: Page<RequestContext, SiteDeps> = ({ origin }, { assets }) => {
  const scripts = ['mermaid.js', 'diagram-frame.js'].map((name) => `<script src="${assets.url(name)}"></script>`);
  const style = '<style>body{margin:0}svg{display:block;margin:auto;max-width:100%}</style>';
  const html =
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Mermaid</title>' +
    `${style}</head><body><main id="drawing"></main>${scripts.join('')}</body></html>`;
  return content('text/html; charset=utf-8', html, {
    headers: { 'Content-Security-Policy': diagramPolicy(origin), 'Cache-Control': 'no-cache', Vary: 'Host' },
  });
};
