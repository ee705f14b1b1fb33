import type { PortableEntry } from './read-entries.ts';

const verdicts: Readonly<Record<string, string>> = { APPROVE: 'approved', REQUEST_CHANGES: 'requested changes' };

/** An entry that only pull requests have, as the rest of a sentence that begins with a name; null for all others. */
export function describePullEntry({ kind, details }: Pick<PortableEntry, 'kind' | 'details'>): string | null {
  const word = (key: string): string => (typeof details[key] === 'string' ? details[key].replace(/\s+/g, ' ') : '');
  const round = typeof details['round'] === 'number' ? ` in round ${details['round']}` : '';
  const { name } = (details['person'] ?? {}) as { name?: unknown };
  const whose = typeof name === 'string' ? ` by ${name}` : details['team'] === undefined ? '' : ' by a team';
  switch (kind) {
    case 'round':
      return `pushed round ${String(details['round'])}`;
    case 'retargeted':
      return `changed the base branch from ${word('from')} to ${word('to')}`;
    case 'draft':
      return 'marked this as a draft';
    case 'ready':
      return 'marked this as ready for review';
    case 'review':
      return `${verdicts[word('verdict')] ?? 'reviewed this'}${round}`;
    case 'dismissed':
      return `${details['withdrawn'] === true ? 'restored' : 'dismissed'} a review${whose}`;
    case 'asked':
      return `${details['removed'] === true ? 'took back the request for a review' : 'asked for a review'}${whose}`;
    case 'merge_when_ready':
      return details['cancelled'] === true
        ? 'ended the wish to merge this when it is ready'
        : 'asked to merge this as soon as it is ready';
    case 'merged':
      return `merged this into ${word('base')} as ${word('oid').slice(0, 12)}`;
    case 'branch_deleted':
      return `deleted the branch ${word('branch')}`;
    case 'branch_restored':
      return `restored the branch ${word('branch')}`;
    case 'applied':
      return `applied suggestions in ${word('oid').slice(0, 12)}`;
    case 'queued':
      return 'put this into the merge queue';
    case 'unqueued':
      return 'took this out of the merge queue';
    default:
      return null;
  }
}
