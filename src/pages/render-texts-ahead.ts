import type { WebDeps } from '../http/index.ts';
import { renderAhead } from './issues/render-text.ts';

/** Renders the texts of issues when they are written, by any transport, so that the first reader does not wait. */
export function renderTextsAhead({ issues, workers, config }: Pick<WebDeps, 'issues' | 'workers' | 'config'>): void {
  const { remoteImages } = config.repositories;
  issues.onText((text) => renderAhead(workers, { ...text, showsRemoteImages: remoteImages }));
}
