import type { ListedEntry, OtherIssue } from '../../issues/index.ts';
import { t, translated } from '../../translation/index.ts';
import { commitUrl } from '../app/code-urls.ts';
import { viewName } from '../app/printable-names.ts';
import type { EventPart, OtherIssueView } from './event-part.ts';
import { eventSentence } from './event-sentence.ts';
import { viewLabel } from './label.view.ts';
import { viewPerson } from './people.view.ts';
import type { People } from './people.view.ts';

export type { EventPart, OtherIssueView } from './event-part.ts';

/** The text of an event after the name of its actor. */
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
  const others: EventPart[] = other === null ? [] : [{ issue: around.viewOther(other) }];
  /** A sentence with the commit that closed or mentioned it, if any. */
  const withCommit = (key: string): EventPart[] => {
    const where = commit();
    return where.length === 0
      ? eventSentence(key)
      : eventSentence('issues.event.in_commit', { sentence: eventSentence(key), commit: where });
  };
  switch (entry.kind) {
    case 'closed':
      return {
        icon: 'issue-closed',
        parts: withCommit(closedKeys[String(details['reason'])] ?? 'issues.event.closed'),
      };
    case 'reopened':
      return { icon: 'issue', parts: eventSentence('issues.event.reopened') };
    case 'titled':
      return {
        icon: 'file',
        parts: eventSentence('issues.event.titled', { from: [strong(details['from'])], to: [strong(details['to'])] }),
      };
    case 'labelled':
      return {
        icon: 'label',
        parts: eventSentence('issues.event.labelled', { labels: labels() }, { count: labels().length }),
      };
    case 'unlabelled':
      return {
        icon: 'label',
        parts: eventSentence('issues.event.unlabelled', { labels: labels() }, { count: labels().length }),
      };
    case 'assigned':
      return {
        icon: 'person',
        parts: isOwn()
          ? eventSentence('issues.event.self_assigned')
          : eventSentence('issues.event.assigned', { users: users() }),
      };
    case 'unassigned':
      return {
        icon: 'person',
        parts: isOwn()
          ? eventSentence('issues.event.self_unassigned')
          : eventSentence('issues.event.unassigned', { users: users() }),
      };
    case 'milestoned':
      return {
        icon: 'milestone',
        parts:
          typeof details['milestone'] === 'string'
            ? eventSentence('issues.event.milestoned', { milestone: [strong(details['milestone'])] })
            : eventSentence('issues.event.demilestoned'),
      };
    case 'mentioned':
      return {
        icon: 'link',
        parts:
          others.length > 0
            ? eventSentence('issues.event.mentioned_in', { issue: others })
            : withCommit('issues.event.mentioned'),
      };
    case 'linked':
      return { icon: 'link', parts: linkParts(details, others) };
    case 'unlinked':
      return {
        icon: 'link',
        parts: eventSentence(
          'issues.event.unlinked',
          { issue: others },
          { link: linkWords[String(details['link'])] ?? t('issues.event.related') },
        ),
      };
    case 'locked':
      return { icon: 'lock', parts: eventSentence('issues.event.locked') };
    case 'unlocked':
      return { icon: 'unlock', parts: eventSentence('issues.event.unlocked') };
    case 'pinned':
      return { icon: 'pin', parts: eventSentence('issues.event.pinned') };
    case 'unpinned':
      return { icon: 'pin', parts: eventSentence('issues.event.unpinned') };
    case 'moved':
      return { icon: 'transfer', parts: eventSentence('issues.event.moved') };
    case 'board_added':
    case 'board_moved':
    case 'board_removed':
      return { icon: 'columns', parts: boardParts(entry.kind) };
    default:
      return { icon: 'circle', parts: eventSentence('issues.event.changed') };
  }

  /** The log does not contain the names of members-only boards. */
  function boardParts(kind: 'board_added' | 'board_moved' | 'board_removed'): EventPart[] {
    const isNamed = typeof details['board'] === 'string';
    if (!isNamed) return eventSentence(`issues.event.${kind}_unnamed`);
    return eventSentence(`issues.event.${kind}`, {
      board: [strong(details['board'])],
      ...(kind !== 'board_removed' && { column: [strong(details['to'])] }),
    });
  }

  function strong(value: unknown): EventPart {
    return { strong: viewName(typeof value === 'string' ? value : '') };
  }

  function labels(): EventPart[] {
    const given = Array.isArray(details['labels']) ? (details['labels'] as { name: string; colour: string }[]) : [];
    return given.map((label) => ({ label: viewLabel(label) }));
  }

  function ids(): string[] {
    return Array.isArray(details['users']) ? (details['users'] as string[]) : [];
  }

  function isOwn(): boolean {
    return ids().length === 1 && ids()[0] === entry.authorId && !Array.isArray(details['names']);
  }

  function users(): EventPart[] {
    // Imported events name people without an account here.
    const names = Array.isArray(details['names']) ? details['names'].map(strong) : [];
    const people = ids().map((id): EventPart => {
      const { name, url } = viewPerson(id, around.people);
      return url === null ? { strong: name } : { link: url, name };
    });
    return [...people, ...names].flatMap((part, index) => (index > 0 ? [{ text: ', ' }, part] : [part]));
  }

  /** The commit that closed or mentioned it: a link in its own repository, a plain id after the issue has moved. */
  function commit(): EventPart[] {
    const { commit: oid, repositoryId } = details;
    if (typeof oid !== 'string') return [];
    const name = oid.slice(0, 10);
    return [
      repositoryId === around.repositoryId
        ? { link: commitUrl(around.repositoryUrl, oid), name, isCode: true }
        : { strong: name },
    ];
  }
}

const closedKeys: Readonly<Record<string, string>> = translated({
  completed: 'issues.event.closed_as_completed',
  not_planned: 'issues.event.closed_as_not_planned',
  duplicate: 'issues.event.closed_as_duplicate',
});

/** The relation to the other issue, for sentences that begin with this issue. */
export const linkWords: Readonly<Record<string, string>> = translated({
  closes: 'issues.event.link.closes',
  needs: 'issues.event.link.needs',
  duplicates: 'issues.event.link.duplicates',
});

function linkParts(details: Readonly<Record<string, unknown>>, other: EventPart[]): EventPart[] {
  const isIncoming = details['isIncoming'] === true;
  const link = details['link'] === 'closes' || details['link'] === 'needs' ? details['link'] : 'duplicates';
  return eventSentence(`issues.event.linked.${link}${isIncoming ? '_incoming' : ''}`, { issue: other });
}
