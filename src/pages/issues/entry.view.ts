import { hideReasons, reactionKinds } from '../../issues/index.ts';
import type { HideReason, IssueRights, ListedEntry, ReactionKind } from '../../issues/index.ts';
import { translated } from '../../translation/index.ts';
import { viewName } from '../app/printable-names.ts';
import { viewTime } from '../app/times.view.ts';
import type { TimeView } from '../app/times.view.ts';
import { viewEvent } from './event-parts.view.ts';
import type { EventContext, EventView } from './event-parts.view.ts';
import { entryUrl, pageUrl } from '../app/entry-urls.ts';
import { viewAuthor } from './people.view.ts';
import type { PersonView } from './people.view.ts';
import type { RenderedText } from '../markdown/render-text.ts';

/** One entry of a timeline. */
type EntryView = EventEntryView | TextView;

interface EventEntryView extends EventView {
  kind: 'event';
  anchor: string;
  url: string;
  author: PersonView;
  at: TimeView;
  /** The text of a review. */
  text: RenderedText | null;
}

/** The text of an issue, or a comment. */
interface TextView {
  kind: 'text';
  position: number;
  anchor: string;
  url: string;
  isOpening: boolean;
  author: PersonView;
  /** Whether the author of a comment opened the issue. */
  isByOpener: boolean;
  at: TimeView;
  edited: { at: TimeView; url: string } | null;
  /** Null once the comment is deleted. */
  text: RenderedText | null;
  isBlank: boolean;
  /** Imported files of the text that it does not show. */
  files: { name: string; url: string }[];
  /** `spam`; null for visible comments. */
  hiddenFor: string | null;
  isHeld: boolean;
  reactions: ReactionView[];
  /** URLs of the reply form with this text quoted, and of the text in an edit form. */
  quoteUrl: string;
  editUrl: string;
  /** The permissions of the viewer: each is a form or a link of the page. */
  may: { edit: boolean; remove: boolean; hide: boolean; react: boolean; quote: boolean; admit: boolean };
}

interface ReactionView {
  kind: ReactionKind;
  emoji: string;
  name: string;
  count: number;
  isOwn: boolean;
}

const emojis: Readonly<Record<ReactionKind, [emoji: string, name: string]>> = translated({
  '+1': ['👍', 'issues.entry.thumbs_up'],
  '-1': ['👎', 'issues.entry.thumbs_down'],
  laugh: ['😄', 'issues.entry.laugh'],
  heart: ['❤️', 'issues.entry.heart'],
  hooray: ['🎉', 'issues.entry.hooray'],
  confused: ['😕', 'issues.entry.confused'],
  rocket: ['🚀', 'issues.entry.rocket'],
  eyes: ['👀', 'issues.entry.eyes'],
});

const hideReasonWords: Readonly<Record<HideReason, string>> = translated({
  spam: 'issues.entry.spam',
  abuse: 'issues.entry.abuse',
  off_topic: 'issues.entry.off_topic',
  outdated: 'issues.entry.outdated',
  duplicate: 'issues.entry.duplicate',
  resolved: 'issues.entry.resolved',
});

export const hideChoices = (): { value: HideReason; text: string }[] =>
  hideReasons.map((value) => ({ value, text: hideReasonWords[value] }));

interface EntryContext extends EventContext {
  issueUrl: string;
  openerId: string | null;
  rights: IssueRights;
  /** Entries that only pull requests have; null for other entries. */
  viewEvent(entry: ListedEntry): EventView | null;
  /** Imported files, by the position of their entry. */
  files: ReadonlyMap<number, readonly { id: string; name: string }[]>;
  now: number;
}

/** @param text rendered; null for deleted comments, and for events without one */
export function viewEntry(entry: ListedEntry, text: RenderedText | null, around: EntryContext): EntryView {
  const { position, createdAt, kind } = entry;
  const place = {
    anchor: `e${position}`,
    url: entryUrl(around.issueUrl, position),
    author: viewAuthor(entry, around.people),
    at: viewTime(createdAt, around.now),
  };
  if (kind !== 'opened' && kind !== 'comment')
    return { kind: 'event', ...place, ...(around.viewEvent(entry) ?? viewEvent(entry, around)), text };
  const page = pageUrl(around.issueUrl, position);
  return {
    kind: 'text',
    position,
    ...place,
    isOpening: position === 0,
    isByOpener: position > 0 && entry.authorId !== null && entry.authorId === around.openerId,
    edited:
      entry.editedAt === null || entry.deletedAt !== null
        ? null
        : { at: viewTime(entry.editedAt, around.now), url: `${around.issueUrl}/history/${position}` },
    text,
    isBlank: entry.body?.trim() === '',
    files: viewFiles(around.files.get(position) ?? [], text, around.repositoryUrl),
    hiddenFor: entry.hiddenFor === null ? null : hideReasonWords[entry.hiddenFor].toLowerCase(),
    isHeld: entry.heldAt !== null,
    reactions: reactionKinds.map((each) => {
      const found = entry.reactions.find((reaction) => reaction.kind === each);
      const [emoji, name] = emojis[each];
      return { kind: each, emoji, name, count: found?.count ?? 0, isOwn: found?.isOwn ?? false };
    }),
    quoteUrl: `${withQuery(page, 'quote', position)}#reply`,
    editUrl: `${withQuery(page, 'edit', position)}#e${position}`,
    may: rightsOnEntry(entry, around.rights),
  };
}

const viewFiles = (
  files: readonly { id: string; name: string }[],
  text: RenderedText | null,
  repository: string,
): TextView['files'] =>
  files.flatMap(({ id, name }) => {
    const isShown = text === null || ('html' in text && text.html.includes(`/attachments/${id}`));
    return isShown ? [] : [{ name: viewName(name), url: `${repository}/attachments/${id}` }];
  });

const withQuery = (url: string, name: string, value: number): string =>
  `${url}${url.includes('?') ? '&' : '?'}${name}=${value}`;

function rightsOnEntry(entry: ListedEntry, rights: IssueRights): TextView['may'] {
  const isThere = entry.deletedAt === null;
  const isShown = isThere && entry.heldAt === null;
  const isComment = entry.kind === 'comment';
  const [contributes, triages] = [rights('contribute') === null, rights('triage') === null];
  return {
    edit: isThere && rights('edit_entry', entry) === null,
    remove: isThere && isComment && rights('delete_entry', entry) === null,
    hide: isShown && isComment && triages,
    react: isShown && contributes,
    quote: isShown && contributes,
    admit: entry.heldAt !== null && entry.authorId !== null && triages,
  };
}
