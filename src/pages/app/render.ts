import type { Embedded } from '../../embedded/index.ts';
import type { Assets, Preferences } from '../../http/index.ts';
import type { Identity } from './context.ts';
import { currentLanguage, findLanguage, rich, t } from '../../translation/index.ts';
import { helpUrlOf } from './help-topics.ts';
import { roleName } from './role-names.view.ts';
import { hasDiagrams } from './diagrams.ts';
import { viewAvatar } from './avatar.view.ts';
import { scriptIn } from './script-words.ts';
import { viewUnread } from './unread.view.ts';

/** Locals of the layout of every page: the viewer and their preferences. */
interface LayoutContext {
  identity: Identity;
  preferences: Preferences;
  /** The path of this page, for the current item of the menu and the return from the appearance settings. */
  path: string;
  /** Scheme, host and port at which the viewer sees it; empty on error pages, which have no preview. */
  origin: string;
  /** Unread notifications of the user; 0 without one. */
  unread: number;
}

export type Render = (template: string, context: LayoutContext, locals: Record<string, unknown>) => string;

interface RenderDeps {
  embedded: Embedded;
  assets: Assets;
  /** Whether there are pages about mail. */
  sendsMail: boolean;
  /** Whether there are pages about external sign-in providers. */
  hasProviders: boolean;
  /** Whether other processes can serve the database. */
  hasNodes: boolean;
  /** Whether there are pages about followers on other servers. */
  federates: boolean;
}

/** Renders a template inside the layout. Templates get only view models, never a request or a database row. */
export function createRender({ embedded, assets, sendsMail, hasProviders, hasNodes, federates }: RenderDeps): Render {
  const withLayout: Render = (
    template,
    { identity: { person, viewer, avatarAt }, preferences, path, origin, unread },
    locals,
  ) =>
    embedded.renderTemplate(template, {
      ...locals,
      t,
      rich,
      roleName,
      site: {
        version: embedded.version,
        sendsMail,
        hasProviders,
        hasNodes,
        federates,
        theme: preferences.theme,
        keys: preferences.keys,
        path,
        origin,
        helpUrl: helpUrlOf(template),
        language: currentLanguage(),
        direction: findLanguage(currentLanguage())?.dir ?? 'ltr',
        assets: {
          style: assets.url('style.css'),
          subjects: subjectStyles(template).map((file) => assets.url(file)),
          script: assets.url(scriptIn('app', currentLanguage())),
          passkeys: passkeyTemplates.test(template) ? assets.url(scriptIn('passkeys', currentLanguage())) : null,
          runs: /^runs\/(job|run)$/.test(template) ? assets.url('runs.js') : null,
          boards: template === 'boards/board' && person !== null ? assets.url('boards.js') : null,
          // Anonymous viewers have no text fields.
          writing: person !== null && writingTemplates.test(template) ? assets.url('writing.js') : null,
          icons: assets.url('icons.svg'),
          favicon: assets.url('favicon.svg'),
          preview: assets.url('preview.png'),
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
  return (template, context, locals) => {
    const html = withLayout(template, context, locals);
    if (!hasDiagrams(html)) return html;
    const script = assets.url(scriptIn('diagrams', currentLanguage()));
    return html.replace('</head>', `<script type="module" src="${script}"></script></head>`);
  };
}

/** Stylesheets of a few pages, which other pages need not load: issues and the inbox, pull requests, security. */
function subjectStyles(template: string): string[] {
  if (template === 'pulls/changes') return ['issues.css', 'pulls.css', 'wide.css'];
  if (/^pulls\//.test(template)) return ['issues.css', 'pulls.css'];
  if (template === 'runs/tests') return ['runs.css', 'tests.css', 'admin.css'];
  if (template === 'runs/timeline') return ['runs.css', 'admin.css', 'timeline.css'];
  if (template === 'runs/runner') return ['runs.css', 'admin.css'];
  if (/^(?:admin\/|sign-in\/(?:new-invite|invites)$)/.test(template)) return ['admin.css'];
  if (/^runs\//.test(template)) return ['runs.css'];
  if (template === 'wiki/edit-wiki-page') return ['wiki.css', 'issues.css'];
  if (/^wiki\//.test(template)) return ['wiki.css'];
  if (/^packages\//.test(template)) return ['packages.css'];
  if (/^releases\//.test(template)) return ['issues.css', 'releases.css'];
  if (/^editing\//.test(template)) return ['issues.css', 'editing.css'];
  if (template === 'boards/board') return ['issues.css', 'boards.css'];
  if (/^(issues|notifications)\//.test(template)) return ['issues.css'];
  if (template === 'code/history') return ['code.css'];
  if (/^code\/(blob|blame|commit|compare)$/.test(template)) return ['code.css', 'wide.css'];
  return /^account\/(authenticator-app|recovery-codes|security)$/.test(template) ? ['security.css'] : [];
}

/** The templates with fields for texts, users, labels and milestones. */
const writingTemplates =
  /^(?:issues\/(?:issue|new-issue|saved-replies)|pulls\/(?:pull|new-pull|changes)|releases\/release-form|wiki\/edit-wiki-page|editing\/edit-file)$/;

/** The templates with a form that a passkey fills in. */
const passkeyTemplates = /^(account\/new-passkey|app\/confirm-identity|sign-in\/(passkey|second-factor))$/;
