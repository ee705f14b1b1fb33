import type { ListedEntry } from '../../issues/index.ts';
import { teamUrl } from '../../http/index.ts';
import { codeUrl, commitUrl } from '../app/code-urls.ts';
import { viewName } from '../app/printable-names.ts';
import { viewCount } from '../app/format-numbers.ts';
import type { EventPart, EventView } from '../issues/event-parts.view.ts';
import { viewPerson } from '../issues/people.view.ts';
import type { People } from '../issues/people.view.ts';
import type { AnsweredThread } from './talk-threads.ts';

/** What a push to a pull request did, in words; `first` is never an entry. */
const changeWords: Readonly<Record<string, string>> = {
  added: 'added commits',
  rebased: 'rebased the commits, and changed nothing else',
  edited: 'rewrote the commits',
  unknown: 'rewrote the commits on another base',
};

const verdictWords: Readonly<Record<string, [icon: string, words: string]>> = {
  APPROVE: ['check', 'approved these changes'],
  REQUEST_CHANGES: ['alert', 'requested changes'],
  COMMENT: ['eye', 'reviewed this'],
};

const styleWords: Readonly<Record<string, string>> = {
  MERGE: 'by a merge commit',
  SQUASH: 'as one commit',
  REBASE: 'by a rebase',
  FORWARD: 'by a fast-forward',
};

/** Words for the entries that only pull requests have, and for closing; null for all others. */
export function viewPullEvent(
  { kind, details, team, body }: ListedEntry,
  {
    repositoryUrl,
    pullUrl,
    people,
    answered,
  }: {
    repositoryUrl: string;
    pullUrl: string;
    people: People;
    /** By the id of a review: threads of earlier reviews that it answers. */
    answered: ReadonlyMap<string, readonly AnsweredThread[]>;
  },
): EventView | null {
  const text = (words: string): EventPart => ({ text: words });
  const word = (name: string): string => (typeof details[name] === 'string' ? (details[name] as string) : '');
  const strong = (name: string): EventPart => ({ strong: viewName(word(name)) });
  const person = (): EventPart => {
    // Of an import, where that is no account here.
    if (word('userName') !== '') return strong('userName');
    const { name, url } = viewPerson(word('userId'), people);
    return url === null ? { strong: name } : { link: url, name };
  };
  /** A team that is gone, or that the viewer may not know of, has no name. */
  const reviewer = (): EventPart => {
    if (details['teamId'] === undefined && details['teamName'] === undefined) return person();
    if (team === null) return text('a team');
    return { link: teamUrl(team.organisation, team.team), name: `${team.organisation}/${team.team}` };
  };
  const commit = (before: string): EventPart[] =>
    /^[0-9a-f]{40,64}$/.test(word('oid'))
      ? [text(before), { link: commitUrl(repositoryUrl, word('oid')), name: word('oid').slice(0, 10), isCode: true }]
      : [];
  const round = Number(details['round']);
  const reason = word('reason') === '' ? [] : [text(`: ${viewName(word('reason'))}`)];
  switch (kind) {
    case 'round':
      return {
        icon: 'up',
        parts: [
          text(`${changeWords[word('change')] ?? 'pushed'} (`),
          { link: `${pullUrl}/changes?from=${round - 1}&to=${round}`, name: `round ${round}` },
          text(`, ${viewCount(Number(details['commits']) || 0, 'commit')})`),
        ],
      };
    case 'retargeted':
      return {
        icon: 'branch',
        parts: [
          text('changed the base branch from '),
          strong('from'),
          text(' to '),
          strong('to'),
          ...(typeof details['landed'] === 'number' ? [text(`, because #${details['landed']} was merged`)] : []),
        ],
      };
    case 'draft':
      return { icon: 'pull', parts: [text('marked this as a draft')] };
    case 'ready':
      return { icon: 'eye', parts: [text('marked this as ready for review')] };
    case 'review': {
      const threads = answered.get(word('reviewId')) ?? [];
      // An answer alone is no review to its readers.
      if (word('verdict') === 'COMMENT' && !body && threads.length > 0 && threads.length === details['comments'])
        return {
          icon: 'comment',
          parts: [
            text('answered '),
            ...threads.flatMap(({ where, url }, at): EventPart[] => [
              ...(at === 0 ? [] : [text(', ')]),
              { link: url, name: where },
            ]),
          ],
        };
      const [icon, words] = verdictWords[word('verdict')] ?? verdictWords['COMMENT']!;
      return { icon, parts: [text(words), ...(round > 0 ? [text(` in round ${round}`)] : [])] };
    }
    case 'dismissed': {
      const isWithdrawn = details['withdrawn'] === true;
      const verb = isWithdrawn ? 'restored' : 'dismissed';
      return {
        icon: isWithdrawn ? 'eye' : 'cross',
        parts: [
          ...(word('userId') === '' ? [text(`${verb} a review`)] : [text(`${verb} the review by `), person()]),
          ...reason,
        ],
      };
    }
    case 'asked':
      return {
        icon: 'eye',
        parts: [
          text(details['removed'] === true ? 'took back the request for a review by ' : 'asked for a review by '),
          reviewer(),
          ...(details['reason'] === 'owner' ? [text(', an owner of changed files')] : []),
        ],
      };
    case 'merge_when_ready':
      return {
        icon: 'clock',
        parts:
          details['cancelled'] === true
            ? [text('ended the wish to merge this when it is ready'), ...reason]
            : [text('asked to merge this as soon as it is ready')],
      };
    case 'queued':
      return {
        icon: 'clock',
        parts: [
          text(details['first'] === true ? 'put this first in the merge queue' : 'added this to the merge queue'),
        ],
      };
    case 'unqueued': {
      const run = Number(details['run']);
      const ofRun: EventPart[] =
        run > 0 ? [text(' See '), { link: `${repositoryUrl}/runs/${run}`, name: `run ${run}` }, text('.')] : [];
      const why = [...reason, ...ofRun];
      return details['failed'] === true
        ? { icon: 'cross', parts: [text('took this out of the merge queue'), ...why] }
        : { icon: 'clock', parts: [text('took this out of the merge queue')] };
    }
    case 'merged': {
      const bypassed = Array.isArray(details['bypassed']) ? details['bypassed'].map(String) : [];
      return {
        icon: 'merge',
        parts: [
          text('merged this into '),
          { link: codeUrl(repositoryUrl, 'tree', word('base')), name: viewName(word('base')) },
          ...(styleWords[word('style')] === undefined ? [] : [text(` ${styleWords[word('style')]}`)]),
          ...commit(', as '),
          ...(bypassed.length === 0 ? [] : [text(`, in spite of: ${viewName(bypassed.join(' '))}`)]),
        ],
      };
    }
    case 'branch_deleted':
      return { icon: 'branch', parts: [text('deleted the branch '), strong('branch')] };
    case 'branch_restored':
      return { icon: 'branch', parts: [text('restored the branch '), strong('branch')] };
    case 'applied': {
      const threads = Array.isArray(details['threads']) ? details['threads'].length : Number(details['threads']);
      return {
        icon: 'commit',
        parts: [text(threads > 1 ? `applied ${threads} suggestions` : 'applied a suggestion'), ...commit(' in ')],
      };
    }
    case 'closed':
      return { icon: 'pull-closed', parts: [text('closed this')] };
    case 'reopened':
      return { icon: 'pull', parts: [text('reopened this')] };
    default:
      return null;
  }
}
