import type { ListedEntry, OtherIssue } from '../../issues/index.ts';
import { commitUrl } from '../app/code-urls.ts';
import { viewName } from '../app/printable-names.ts';
import type { IssueStateView } from './issue-row.view.ts';
import { viewLabel } from './label.view.ts';
import type { LabelView } from './label.view.ts';
import { viewPerson } from './people.view.ts';
import type { People } from './people.view.ts';

/** A sentence in segments, so that the template escapes each. */
export type EventPart =
  | { text: string }
  | { strong: string }
  | { label: LabelView }
  | { link: string; name: string; isCode?: boolean }
  /** Another issue, with its state. */
  | { issue: OtherIssueView };

export interface OtherIssueView {
  url: string;
  /** `#7` or `owner/name#7`. */
  name: string;
  title: string;
  isOpen: boolean;
  state: IssueStateView;
}

/** What an event says behind the name of who did it. */
export interface EventView {
  icon: string;
  parts: EventPart[];
}

export interface EventContext {
  repositoryId: string;
  repositoryUrl: string;
  people: People;
  viewOther(issue: OtherIssue): OtherIssueView;
}

export function viewEvent(entry: ListedEntry, around: EventContext): EventView {
  const { details, other } = entry;
  const text = (words: string): EventPart => ({ text: words });
  const others: EventPart[] = other === null ? [] : [{ issue: around.viewOther(other) }];
  switch (entry.kind) {
    case 'closed':
      return {
        icon: 'issue-closed',
        parts: [text(closedWords[String(details['reason'])] ?? 'closed this'), ...commit(' in ')],
      };
    case 'reopened':
      return { icon: 'issue', parts: [text('reopened this')] };
    case 'titled':
      return {
        icon: 'file',
        parts: [text('changed the title from '), strong(details['from']), text(' to '), strong(details['to'])],
      };
    case 'labelled':
      return { icon: 'tag', parts: [text('added '), ...labels()] };
    case 'unlabelled':
      return { icon: 'tag', parts: [text('removed '), ...labels()] };
    case 'assigned':
      return { icon: 'person', parts: isOwn() ? [text('self-assigned this')] : [text('assigned '), ...users()] };
    case 'unassigned':
      return {
        icon: 'person',
        parts: isOwn() ? [text('removed their assignment')] : [text('unassigned '), ...users()],
      };
    case 'milestoned':
      return typeof details['milestone'] === 'string'
        ? { icon: 'milestone', parts: [text('added this to the milestone '), strong(details['milestone'])] }
        : { icon: 'milestone', parts: [text('removed this from its milestone')] };
    case 'mentioned':
      return {
        icon: 'link',
        parts:
          others.length > 0 ? [text('mentioned this in '), ...others] : [text('mentioned this'), ...commit(' in ')],
      };
    case 'linked':
      return { icon: 'link', parts: linkParts(details, others) };
    case 'unlinked':
      return {
        icon: 'link',
        parts: [text(`removed the link “${linkWords[String(details['link'])] ?? 'related'}” to `), ...others],
      };
    case 'locked':
      return { icon: 'lock', parts: [text('locked the conversation')] };
    case 'unlocked':
      return { icon: 'key', parts: [text('unlocked the conversation')] };
    case 'pinned':
      return { icon: 'pin', parts: [text('pinned this')] };
    case 'unpinned':
      return { icon: 'pin', parts: [text('unpinned this')] };
    case 'moved':
      return { icon: 'up', parts: [text('moved this here from another repository')] };
    default:
      return { icon: 'circle', parts: [text('changed this')] };
  }

  function strong(value: unknown): EventPart {
    return { strong: viewName(typeof value === 'string' ? value : '') };
  }

  function labels(): EventPart[] {
    const given = Array.isArray(details['labels']) ? (details['labels'] as { name: string; colour: string }[]) : [];
    return [...given.map((label) => ({ label: viewLabel(label) })), text(given.length === 1 ? ' label' : ' labels')];
  }

  function ids(): string[] {
    return Array.isArray(details['users']) ? (details['users'] as string[]) : [];
  }

  function isOwn(): boolean {
    return ids().length === 1 && ids()[0] === entry.authorId && !Array.isArray(details['names']);
  }

  function users(): EventPart[] {
    // An import has names of people without an account here.
    const names = Array.isArray(details['names']) ? details['names'].map(strong) : [];
    const people = ids().map((id): EventPart => {
      const { name, url } = viewPerson(id, around.people);
      return url === null ? { strong: name } : { link: url, name };
    });
    return [...people, ...names].flatMap((part, index) => (index > 0 ? [text(', '), part] : [part]));
  }

  /** The commit that closed or mentioned it: a link in its own repository, an id after the issue has moved. */
  function commit(before: string): EventPart[] {
    const { commit: oid, repositoryId } = details;
    if (typeof oid !== 'string') return [];
    const name = oid.slice(0, 10);
    return [
      text(before),
      repositoryId === around.repositoryId
        ? { link: commitUrl(around.repositoryUrl, oid), name, isCode: true }
        : { strong: name },
    ];
  }
}

const closedWords: Readonly<Record<string, string>> = {
  completed: 'closed this as completed',
  not_planned: 'closed this as not planned',
  duplicate: 'closed this as a duplicate',
};

/** What the issue does to the other one, where it begins with the issue itself. */
export const linkWords: Readonly<Record<string, string>> = {
  closes: 'closes',
  needs: 'needs',
  duplicates: 'duplicate of',
};

function linkParts(details: Readonly<Record<string, unknown>>, other: EventPart[]): EventPart[] {
  const isIncoming = details['isIncoming'] === true;
  switch (details['link']) {
    case 'closes':
      return isIncoming
        ? [{ text: 'noted that this is closed by ' }, ...other]
        : [{ text: 'noted that this closes ' }, ...other];
    case 'needs':
      return isIncoming
        ? [{ text: 'noted that this is needed by ' }, ...other]
        : [{ text: 'noted that this needs ' }, ...other];
    default:
      return isIncoming
        ? [{ text: 'marked ' }, ...other, { text: ' as a duplicate of this' }]
        : [{ text: 'marked this as a duplicate of ' }, ...other];
  }
}
