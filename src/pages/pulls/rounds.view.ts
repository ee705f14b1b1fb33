import type { PairedRoundCommit, RoundChange, RoundCommitRow, RoundRow } from '../../pulls/index.ts';
import { t, translated } from '../../translation/index.ts';
import { commitUrl } from '../app/code-urls.ts';
import { viewName } from '../app/printable-names.ts';
import { viewTime } from '../app/times.view.ts';
import type { ChangesUrlBuilder, ChangesQuery } from './changes-urls.ts';

const changes: Readonly<Record<RoundChange, string>> = translated({
  first: 'pulls.rounds.the_first',
  added: 'pulls.rounds.commits_were_added',
  rebased: 'pulls.rounds.only_the_base_changed',
  edited: 'pulls.rounds.commits_were_changed',
  unknown: 'pulls.rounds.conflicts_with_the_previous_round',
});

interface RoundOption {
  value: string;
  label: string;
  isChosen: boolean;
}

/** The selection of rounds to compare; null for a pull request with a single round. */
interface RoundChoiceView {
  older: RoundOption[];
  shown: RoundOption[];
  links: { label: string; url: string; isCurrent: boolean }[];
  /** Other values that the form keeps, by field name. */
  kept: Record<string, string>;
}

/** @param reviewed the last round that the viewer has reviewed; null for none */
export function viewRoundChoice(
  rounds: readonly RoundRow[],
  { older, shown }: { older: RoundRow | null; shown: RoundRow },
  reviewed: number | null,
  { query, address }: { query: ChangesQuery; address: ChangesUrlBuilder },
): RoundChoiceView | null {
  const last = rounds.at(-1)!.round;
  if (last === 1) return null;
  const compare = (from: number | null, to = last) => ({
    url: address({
      from: from?.toString() ?? null,
      to: to === last ? null : String(to),
      plain: null,
      file: null,
      context: null,
    }),
    isCurrent: (older?.round ?? null) === from && shown.round === to,
  });
  const links = [{ label: t('pulls.rounds.all_changes'), ...compare(null) }];
  if (reviewed !== null && reviewed < last)
    links.push({ label: t('pulls.rounds.since_your_last_review'), ...compare(reviewed) });
  if (reviewed !== last - 1)
    links.push({ label: t('pulls.rounds.since_round_round', { round: last - 1 }), ...compare(last - 1) });
  return {
    older: [
      { value: '', label: t('pulls.rounds.the_base'), isChosen: older === null },
      ...rounds.slice(0, -1).map(({ round }) => ({
        value: String(round),
        label: t('pulls.rounds.round_round', { round }),
        isChosen: older?.round === round,
      })),
    ],
    shown: rounds.map(({ round }) => ({
      value: String(round),
      label:
        round === last ? t('pulls.rounds.round_round_latest', { round }) : t('pulls.rounds.round_round', { round }),
      isChosen: shown.round === round,
    })),
    links,
    kept: {
      ...(query.layout === 'split' ? { view: 'split' } : {}),
      ...(query.ignoreWhitespace ? { w: '1' } : {}),
    },
  };
}

/** The label of a round. */
export function viewRound({ round, change, note, createdAt, commitCount, headOid }: RoundRow, now: number) {
  return {
    number: round,
    change: round === 1 ? null : changes[change],
    note: viewName(note),
    at: viewTime(createdAt, now),
    commitCount,
    shortId: headOid.slice(0, 10),
  };
}

const kinds: Readonly<Record<PairedRoundCommit['kind'], { sign: string; label: string }>> = {
  equal: { sign: '=', label: 'unchanged' },
  changed: { sign: '!', label: 'changed' },
  removed: { sign: '−', label: 'removed' },
  added: { sign: '+', label: 'new' },
};

/** The commits of two rounds side by side. */
export function viewPairs(pairs: readonly PairedRoundCommit[], repositoryUrl: string) {
  const commit = (row: RoundCommitRow | null) =>
    row && {
      subject: viewName(row.subject) || t('pulls.rounds.no_message'),
      shortId: row.oid.slice(0, 10),
      url: commitUrl(repositoryUrl, row.oid),
    };
  return pairs.map(({ kind, before, after }) => ({
    ...kinds[kind],
    kind,
    before: commit(before),
    after: commit(after),
  }));
}
