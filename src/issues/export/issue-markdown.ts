import type { IssueDeps } from '../deps.ts';
import { silentKinds } from '../entry.ts';
import type { ListedIssue } from '../lists/read-issues.ts';
import { portableIssue } from './issue-json.ts';
import type { ExportOptions, PortableIssue } from './issue-json.ts';
import { describePullEntry } from './describe-pull-entry.ts';
import { readEntries } from './read-entries.ts';
import type { PortableEntry } from './read-entries.ts';
import { PeopleNames } from './portable-details.ts';
import type { PortablePerson } from './portable-details.ts';

/** The log of an issue as readable text, in chunks. Keeps one page of the log in memory. */
export async function* issueAsMarkdown(
  deps: IssueDeps,
  issue: ListedIssue,
  options: ExportOptions = { isWhole: false },
): AsyncGenerator<string> {
  yield headOf(await portableIssue(deps, issue, options));
  for await (const entry of readEntries(deps, issue, new PeopleNames(deps, options.isWhole), false))
    if (!silent.has(entry.kind)) yield shown(entry);
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ');
const nameOf = (person: PortablePerson | null): string => oneLine(person?.name ?? 'a deleted account');
const dayOf = (time: string): string => `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;

function headOf(issue: PortableIssue): string {
  const { title, number, state, closeReason, labels, milestone, assignees, createdAt, author } = issue;
  const reason = closeReason === null ? '' : ` (${closeReason.replace('_', ' ')})`;
  const lines = [
    `# ${oneLine(title)} (#${number})`,
    '',
    `${state === 'open' ? 'Open' : state === 'merged' ? 'Merged' : `Closed${reason}`}, opened by ${nameOf(author)} on ${dayOf(createdAt)}`,
    ...(labels.length === 0 ? [] : [`Labels: ${labels.map(oneLine).join(', ')}`]),
    ...(milestone === null ? [] : [`Milestone: ${oneLine(milestone)}`]),
    ...(assignees.length === 0 ? [] : [`Assignees: ${assignees.map(nameOf).join(', ')}`]),
    ...issue.links.map((link) => `${words[link.kind] ?? link.kind} #${link.number}`),
  ];
  return `${lines.join('\n')}\n`;
}

/** Entries that the timeline omits: the texts themselves show the result. */
const silent = new Set<string>(silentKinds);

const words: Record<string, string> = {
  mentions: 'Mentions',
  closes: 'Closes',
  needs: 'Needs',
  duplicates: 'Duplicate of',
};

function shown(entry: PortableEntry): string {
  const { kind, author, createdAt, body, isDeleted, editedAt, hiddenFor } = entry;
  const isText = kind === 'opened' || kind === 'comment';
  if (!isText) {
    const happened = `\n* ${nameOf(author)} ${describePullEntry(entry) ?? whatHappened(entry)} on ${dayOf(createdAt)}\n`;
    return body === null || body === '' ? happened : `${happened}\n${body.replace(/\n*$/, '\n')}`;
  }
  const head =
    kind === 'opened'
      ? '\n---\n'
      : `\n---\n\n**${nameOf(author)}** commented on ${dayOf(createdAt)}${editedAt === null ? '' : ' (edited)'}${hiddenFor === null ? '' : ` (hidden: ${hiddenFor.replace('_', ' ')})`}\n`;
  if (isDeleted) return `${head}\n*This comment was deleted.*\n`;
  return body === null || body === '' ? head : `${head}\n${body.replace(/\n*$/, '\n')}`;
}

/** The rest of a sentence that begins with a name. */
function whatHappened({ kind, details }: PortableEntry): string {
  const text = (key: string): string => (typeof details[key] === 'string' ? oneLine(details[key]) : '');
  const names = (key: string): string =>
    (Array.isArray(details[key]) ? (details[key] as { name?: unknown }[]) : [])
      .map(({ name }) => oneLine(String(name)))
      .join(', ');
  const commit = text('commit') === '' ? '' : ` in ${text('commit').slice(0, 12)}`;
  const other = typeof details['number'] === 'number' ? `#${details['number']}` : '';
  switch (kind) {
    case 'closed':
      return `closed this as ${text('reason').replace('_', ' ')}${commit}`;
    case 'reopened':
      return 'reopened this';
    case 'titled':
      return `changed the title from “${text('from')}” to “${text('to')}”`;
    case 'labelled':
      return `added ${names('labels')}`;
    case 'unlabelled':
      return `removed ${names('labels')}`;
    case 'assigned':
      return `assigned ${names('people')}`;
    case 'unassigned':
      return `unassigned ${names('people')}`;
    case 'milestoned':
      return text('milestone') === '' ? 'removed this from its milestone' : `added this to ${text('milestone')}`;
    case 'mentioned':
      return other === '' ? `mentioned this${commit}` : `mentioned this in ${other}`;
    case 'linked':
      return `linked ${other}`;
    case 'unlinked':
      return `removed the link to ${other}`;
    case 'moved':
      return 'moved this from another repository';
    case 'board_added':
    case 'board_moved':
    case 'board_removed':
      return onBoard(kind, text('board'), text('to'));
    default:
      return `${kind} this`;
  }
}

function onBoard(kind: 'board_added' | 'board_moved' | 'board_removed', board: string, column: string): string {
  const name = board === '' ? 'a board' : `the board ${board}`;
  if (kind === 'board_removed') return `removed this from ${name}`;
  const verb = kind === 'board_added' ? 'added this to' : 'moved this on';
  return column === '' ? `${verb} ${name}` : `${verb} ${name}, in ${column}`;
}
