import type { ListedEntry } from '../../issues/index.ts';
import { teamUrl } from '../../http/index.ts';
import { t, translated } from '../../translation/index.ts';
import { codeUrl, commitUrl } from '../app/code-urls.ts';
import { viewName } from '../app/printable-names.ts';
import { viewCount } from '../app/format-numbers.ts';
import type { EventPart, EventView } from '../issues/event-parts.view.ts';
import { eventSentence } from '../issues/event-sentence.ts';
import { viewPerson } from '../issues/people.view.ts';
import type { People } from '../issues/people.view.ts';
import type { AnsweredThread } from './talk-threads.ts';

/** The text of a push to a pull request; `first` is never an entry. */
const changeWords: Readonly<Record<string, string>> = translated({
  added: 'pulls.event.change.added',
  rebased: 'pulls.event.change.rebased',
  edited: 'pulls.event.change.edited',
  unknown: 'pulls.event.change.unknown',
});

const verdictWords: Readonly<Record<string, [icon: string, words: string]>> = translated({
  APPROVE: ['check', 'pulls.event.verdict.approved'],
  REQUEST_CHANGES: ['alert', 'pulls.event.verdict.requested'],
  COMMENT: ['review', 'pulls.event.verdict.reviewed'],
});

const styleWords: Readonly<Record<string, string>> = translated({
  MERGE: 'pulls.event.style.merge',
  SQUASH: 'pulls.event.style.squash',
  REBASE: 'pulls.event.style.rebase',
  FORWARD: 'pulls.event.style.forward',
});

/** Texts of the entries that only pull requests have, and of closing; null for other entries. */
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
    /** By the id of a review: the threads of earlier reviews that it replies to. */
    answered: ReadonlyMap<string, readonly AnsweredThread[]>;
  },
): EventView | null {
  const text = (words: string): EventPart => ({ text: words });
  const word = (name: string): string => (typeof details[name] === 'string' ? (details[name] as string) : '');
  const strong = (name: string): EventPart => ({ strong: viewName(word(name)) });
  const person = (): EventPart => {
    // The imported name, if it is not an account here.
    if (word('userName') !== '') return strong('userName');
    const { name, url } = viewPerson(word('userId'), people);
    return url === null ? { strong: name } : { link: url, name };
  };
  /** A team that was deleted, or that the viewer may not know of, has no name. */
  const reviewer = (): EventPart => {
    if (details['teamId'] === undefined && details['teamName'] === undefined) return person();
    if (team === null) return { text: t('pulls.event.a_team') };
    return { link: teamUrl(team.organisation, team.team), name: `${team.organisation}/${team.team}` };
  };
  const commit = (): EventPart[] =>
    /^[0-9a-f]{40,64}$/.test(word('oid'))
      ? [{ link: commitUrl(repositoryUrl, word('oid')), name: word('oid').slice(0, 10), isCode: true }]
      : [];
  const round = Number(details['round']);
  const reason = word('reason') === '' ? [] : [text(`: ${viewName(word('reason'))}`)];
  switch (kind) {
    case 'round':
      return {
        icon: 'commit',
        parts: [
          text(`${changeWords[word('change')] ?? t('pulls.event.pushed')} (`),
          { link: `${pullUrl}/changes?from=${round - 1}&to=${round}`, name: t('pulls.event.round', { round }) },
          text(`, ${viewCount(Number(details['commits']) || 0, 'commit')})`),
        ],
      };
    case 'retargeted':
      return {
        icon: 'branch',
        parts: [
          ...eventSentence('pulls.event.retargeted', { from: [strong('from')], to: [strong('to')] }),
          ...(typeof details['landed'] === 'number'
            ? [text(t('pulls.event.because_merged', { number: String(details['landed']) }))]
            : []),
        ],
      };
    case 'draft':
      return { icon: 'pull', parts: eventSentence('pulls.event.draft') };
    case 'ready':
      return { icon: 'pull', parts: eventSentence('pulls.event.ready') };
    case 'review': {
      const threads = answered.get(word('reviewId')) ?? [];
      // Readers do not see a mere reply as a review.
      if (word('verdict') === 'COMMENT' && !body && threads.length > 0 && threads.length === details['comments'])
        return {
          icon: 'comment',
          parts: eventSentence('pulls.event.answered', {
            threads: threads.flatMap(({ where, url }, at): EventPart[] => [
              ...(at === 0 ? [] : [text(', ')]),
              { link: url, name: where },
            ]),
          }),
        };
      const [icon, words] = verdictWords[word('verdict')] ?? verdictWords['COMMENT']!;
      return { icon, parts: [text(round > 0 ? t('pulls.event.in_round', { words, round }) : words)] };
    }
    case 'dismissed': {
      const isWithdrawn = details['withdrawn'] === true;
      const verb = isWithdrawn ? 'restored' : 'dismissed';
      const key = `pulls.event.${verb}` as const;
      return {
        icon: isWithdrawn ? 'review' : 'cross',
        parts: [
          ...(word('userId') === '' ? eventSentence(key) : eventSentence(`${key}_of`, { person: [person()] })),
          ...reason,
        ],
      };
    }
    case 'asked':
      return {
        icon: 'review',
        parts: [
          ...eventSentence(details['removed'] === true ? 'pulls.event.asked_removed' : 'pulls.event.asked', {
            reviewer: [reviewer()],
          }),
          ...(details['reason'] === 'owner' ? [text(t('pulls.event.owner_of_files'))] : []),
        ],
      };
    case 'merge_when_ready':
      return {
        icon: 'clock',
        parts:
          details['cancelled'] === true
            ? [...eventSentence('pulls.event.auto_merge_off'), ...reason]
            : eventSentence('pulls.event.auto_merge_on'),
      };
    case 'queued':
      return {
        icon: 'clock',
        parts: eventSentence(details['first'] === true ? 'pulls.event.queued_first' : 'pulls.event.queued'),
      };
    case 'unqueued': {
      const run = Number(details['run']);
      const ofRun: EventPart[] =
        run > 0
          ? eventSentence('pulls.event.see_run', {
              link: [{ link: `${repositoryUrl}/runs/${run}`, name: t('pulls.event.run', { run }) }],
            })
          : [];
      const why = [...reason, ...ofRun];
      return details['failed'] === true
        ? { icon: 'cross', parts: [...eventSentence('pulls.event.unqueued'), ...why] }
        : { icon: 'clock', parts: eventSentence('pulls.event.unqueued') };
    }
    case 'merged': {
      const bypassed = Array.isArray(details['bypassed']) ? details['bypassed'].map(String) : [];
      return {
        icon: 'merge',
        parts: [
          ...eventSentence('pulls.event.merged', {
            base: [{ link: codeUrl(repositoryUrl, 'tree', word('base')), name: viewName(word('base')) }],
          }),
          ...(styleWords[word('style')] === undefined ? [] : [text(` ${styleWords[word('style')]}`)]),
          ...(commit().length === 0 ? [] : eventSentence('pulls.event.as_commit', { commit: commit() })),
          ...(bypassed.length === 0 ? [] : [text(t('pulls.event.bypassed', { rules: viewName(bypassed.join(' ')) }))]),
        ],
      };
    }
    case 'branch_deleted':
      return { icon: 'branch', parts: eventSentence('pulls.event.branch_deleted', { branch: [strong('branch')] }) };
    case 'branch_restored':
      return { icon: 'branch', parts: eventSentence('pulls.event.branch_restored', { branch: [strong('branch')] }) };
    case 'applied': {
      const threads = Array.isArray(details['threads']) ? details['threads'].length : Number(details['threads']);
      return {
        icon: 'commit',
        parts:
          commit().length === 0
            ? eventSentence('pulls.event.applied', {}, { count: threads })
            : eventSentence('issues.event.in_commit', {
                sentence: eventSentence('pulls.event.applied', {}, { count: threads }),
                commit: commit(),
              }),
      };
    }
    case 'closed':
      return { icon: 'pull-closed', parts: eventSentence('issues.event.closed') };
    case 'reopened':
      return { icon: 'pull', parts: eventSentence('issues.event.reopened') };
    default:
      return null;
  }
}
