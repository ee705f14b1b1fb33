import type { WebDeps } from '../http/index.ts';
import { renderForMail } from './markdown/render-for-mail.ts';
import { prerenderText } from './markdown/render-text.ts';

/**
 * Renders the texts of issues when they are written, by any transport, so that the first reader does not wait; and
 * those of mails.
 */
export function prerenderTexts(deps: Pick<WebDeps, 'issues' | 'notifications' | 'workers' | 'config'>): void {
  deps.issues.onText((text) => prerenderText(deps, text));
  deps.notifications.renderMarkdownBy((text) => renderForMail(deps, text));
}
