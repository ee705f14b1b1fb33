import type { WebDeps } from '../http/index.ts';
import { renderAhead } from './markdown/render-text.ts';

/** Renders the texts of issues when they are written, by any transport, so that the first reader does not wait. */
export function renderTextsAhead(deps: Pick<WebDeps, 'issues' | 'workers' | 'config'>): void {
  deps.issues.onText((text) => renderAhead(deps, text));
}
