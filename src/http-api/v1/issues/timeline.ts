import { z } from 'zod';
import type { EntryKind, Label, ListedEntry } from '../../../issues/index.ts';
import { commentPayload, labelPayload } from '../../../gitea-shapes/index.ts';
import type { LabelPayload } from '../../../gitea-shapes/index.ts';
import { listed } from '../../responses.ts';
import { operation } from '../../operation.ts';
import {
  describeOne,
  issueAt,
  numberIn,
  oneIssueAt,
  payloadContextOf,
  readPageInTurn,
  repositoryAt,
  usersById,
} from '../shapes/issues-parts.ts';
import { numberedPaging, timelineEntry } from '../shapes/issues-schemas.ts';

/** Gitea's names; events unknown to Gitea keep ours. */
const types: Partial<Record<EntryKind, string>> = {
  closed: 'close',
  reopened: 'reopen',
  titled: 'change_title',
  labelled: 'label',
  unlabelled: 'label',
  assigned: 'assignees',
  unassigned: 'assignees',
  milestoned: 'milestone',
  mentioned: 'issue_ref',
  locked: 'lock',
  unlocked: 'unlock',
  pinned: 'pin',
  unpinned: 'unpin',
};

const typeOf = ({ kind, details }: ListedEntry): string => {
  if (kind === 'mentioned' && typeof details['commit'] === 'string') return 'commit_ref';
  if (kind === 'linked' && details['link'] === 'needs') return 'add_dependency';
  if (kind === 'unlinked' && details['link'] === 'needs') return 'remove_dependency';
  return types[kind] ?? kind;
};

const textIn = (details: Readonly<Record<string, unknown>>, name: string): string =>
  typeof details[name] === 'string' ? details[name] : '';

const labelsIn = ({ details }: ListedEntry): { name: string; colour: string }[] =>
  Array.isArray(details['labels']) ? (details['labels'] as { name: string; colour: string }[]) : [];

/** Labels of the log, which has their former names and colours: their other properties now, by name. */
function labelShower(known: readonly Label[], place: Parameters<typeof labelPayload>[1]) {
  const byName = new Map(known.map((label) => [label.name, label]));
  return ({ name, colour }: { name: string; colour: string }): LabelPayload => {
    const label = byName.get(name);
    return label === undefined
      ? { id: 0, name, color: colour, description: '', exclusive: false, is_archived: false, url: '' }
      : { ...labelPayload(label, place), color: colour };
  };
}

const usersIn = ({ kind, details }: ListedEntry): string[] =>
  (kind === 'assigned' || kind === 'unassigned') && Array.isArray(details['users'])
    ? details['users'].filter((id): id is string => typeof id === 'string')
    : [];

export const listTimeline = operation({
  id: 'listIssueTimeline',
  method: 'GET',
  path: `${oneIssueAt}/timeline`,
  tag: 'Issues',
  summary: 'List an issue’s timeline with its comments, oldest first',
  description: 'The issue’s own text is not included.',
  access: 'repository:read',
  cost: 'rows',
  status: 200,
  isPaged: true,
  query: z.object(numberedPaging),
  response: z.array(timelineEntry),
  async run({ viewer, found, params, query, deps, origin }) {
    const at = issueAt(found, params.number);
    const place = payloadContextOf({ found, origin });
    const issue = await describeOne(deps, viewer, at);
    const { rows, next } = await readPageInTurn(query, async (after, limit) => {
      const from = after === null ? 1 : numberIn(after);
      const page = await deps.issues.listEntries(viewer, at, { from, limit });
      return { rows: page.entries.filter(({ position }) => position > 0), next: page.next?.toString() ?? null };
    });
    const people = await deps.accounts.peopleById(
      rows.flatMap((entry) => [entry.authorId ?? [], usersIn(entry)].flat()),
    );
    const user = await usersById(deps, rows.flatMap(usersIn), origin);
    const located = await deps.repositories.locate(rows.flatMap(({ other }) => other?.repositoryId ?? []));
    const isLabelled = rows.some((entry) => labelsIn(entry).length > 0);
    const known = isLabelled ? await deps.issues.listLabels(viewer, repositoryAt(found)) : [];
    const showLabel = labelShower(known, { origin, at: found.canonical });
    const otherOf = ({ other }: ListedEntry) => {
      const where = other === null ? undefined : located.get(other.repositoryId);
      if (other === null || where === undefined) return null;
      const repository = `${where.owner.handle}/${where.repository.name}`;
      return {
        number: other.number,
        title: other.title,
        state: other.state === 'OPEN' ? ('open' as const) : ('closed' as const),
        repository,
        html_url: `${origin}/repos/${repository}/issues/${other.number}`,
      };
    };
    return listed(
      rows.map((entry) => {
        const { kind, details, authorId } = entry;
        const labels = labelsIn(entry).map(showLabel);
        const assignees = usersIn(entry).map(user);
        return {
          ...commentPayload(entry, authorId === null ? null : (people.get(authorId) ?? null), issue, place),
          // Gitea's form of an added label.
          ...(kind === 'labelled' && { body: '1' }),
          type: typeOf(entry),
          label: labels[0] ?? null,
          labels,
          old_title: textIn(details, 'from'),
          new_title: textIn(details, 'to'),
          milestone_title: kind === 'milestoned' ? textIn(details, 'milestone') || null : null,
          assignee: assignees[0] ?? null,
          assignees,
          removed_assignee: kind === 'unassigned',
          ref_commit_sha: textIn(details, 'commit'),
          ref_issue: otherOf(entry),
          kind,
          reactions: entry.reactions.map(({ kind: content, count, isOwn }) => ({ content, count, own: isOwn })),
        };
      }),
      next,
    );
  },
});
