import type { Embedded } from '../../embedded/index.ts';
import type { Assets, Identity, Preferences } from '../../http/index.ts';
import { viewAvatar } from './avatar.view.ts';
import { viewUnread } from './unread.view.ts';

/** What the frame around every page needs: who is looking and how they like it. */
export interface Frame {
  identity: Identity;
  preferences: Preferences;
  /** The path of this page, so that the menu can mark it and appearance can return to it. */
  path: string;
  /** Unread notifications of the person; 0 without one. */
  unread: number;
}

export type Render = (template: string, frame: Frame, locals: Record<string, unknown>) => string;

interface RenderDeps {
  embedded: Embedded;
  assets: Assets;
  /** Whether there are pages about mail. */
  sendsMail: boolean;
}

/**
 * Renders a template inside the frame. Templates get picked fields only, never
 * a request, a record or anything else with more in it than the page shows.
 */
export function createRender({ embedded, assets, sendsMail }: RenderDeps): Render {
  return (template, { identity: { person, viewer, avatarAt }, preferences, path, unread }, locals) =>
    embedded.renderTemplate(template, {
      ...locals,
      site: {
        version: embedded.version,
        sendsMail,
        theme: preferences.theme,
        keys: preferences.keys,
        path,
        assets: {
          style: assets.url('style.css'),
          /** Of conversations and the inbox, and of pull requests: no other page has to load them. */
          subjects: [
            ...(/^(issues|notifications|pulls)\//.test(template) ? [assets.url('issues.css')] : []),
            ...(/^pulls\//.test(template) ? [assets.url('pulls.css')] : []),
          ],
          script: assets.url('app.js'),
          icons: assets.url('icons.svg'),
          favicon: assets.url('favicon.svg'),
        },
        person: person && {
          username: person.username,
          name: person.displayName || person.username,
          avatar: viewAvatar(person.id, avatarAt),
          isAdministrator: viewer.kind === 'person' && viewer.isAdministrator,
          unread: unread === 0 ? null : viewUnread(unread),
        },
      },
    });
}
