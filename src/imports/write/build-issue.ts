import { cleanText } from '../../accounts/index.ts';
import { isValidRef, issueLimits, reactionKinds } from '../../issues/index.ts';
import type { ImportedEntry, ImportedIssue } from '../../issues/index.ts';
import { importLimits } from '../limits.ts';
import type { PeopleBook } from '../context/people-book.ts';
import type { SourceComment, SourceIssue, SourceReaction, TellProblem } from '../sources/source.ts';

/** The parts of an issue's log. */
interface IssueParts {
  issue: SourceIssue;
  comments: readonly SourceComment[];
  /** Entries of other kinds, with their times. */
  more: readonly LogEntry[];
  isMerged: boolean;
}

/** An entry before it has its position. */
export type LogEntry = Omit<ImportedEntry, 'position'> & { origin: string };

type Tell = (problem: string) => void;

const cutMark = '\n\n…';

/** A text of the source without characters that are invalid here; truncated if it is longer than any forge allows. */
export function keepText(text: string, tell: Tell, what: string): string {
  const plain = text.replaceAll('\0', '').toWellFormed();
  if (Buffer.byteLength(plain) <= importLimits.bodyBytes) return plain;
  tell(`${what} is longer than ${importLimits.bodyBytes / 1024} KiB and was cut`);
  const most = importLimits.bodyBytes - Buffer.byteLength(cutMark);
  return new TextDecoder().decode(Buffer.from(plain).subarray(0, most), { stream: true }) + cutMark;
}

/** A time that is not in the future: otherwise it would sort as the newest forever. */
function keepTime(at: number, now: number, tell: Tell, what: string): number {
  if (at <= now + 60_000) return at;
  tell(`${what} has a time in the future, ${new Date(at).toISOString().slice(0, 10)}; it became now`);
  return now;
}

export const emptyEntry = {
  details: {},
  body: null,
  editedAt: null,
  isDeleted: false,
  hiddenFor: null,
  reactions: [],
  revisions: [],
} as const satisfies Partial<ImportedEntry>;

/**
 * The issue with its log in the form of the writer: entries in chronological order, names of authors from `people`.
 * Values that are too long are truncated and reported.
 */
export function buildIssue(
  { issue, comments, more, isMerged }: IssueParts,
  people: PeopleBook,
  { host, now, tell: report }: { host: string; now: number; tell: TellProblem },
): ImportedIssue & { origin: string } {
  const tell: Tell = (problem) => report(`#${issue.number}`, problem);
  const createdAt = keepTime(issue.createdAt, now, tell, 'it');
  const entries: LogEntry[] = [
    ...comments.map((comment): LogEntry => {
      const at = keepTime(comment.createdAt, now, tell, `the comment ${comment.id}`);
      return {
        ...emptyEntry,
        kind: 'comment',
        author: people.of(comment.author),
        body: keepText(comment.body, tell, `the comment ${comment.id}`),
        createdAt: at,
        editedAt: comment.updatedAt > comment.createdAt ? Math.max(at, Math.min(comment.updatedAt, now)) : null,
        reactions: buildReactions(comment.reactions ?? [], people, tell),
        origin: `comment:${comment.id}`,
      };
    }),
    ...more,
  ]
    .map((entry) => ({ ...entry, createdAt: Math.max(entry.createdAt, createdAt) }))
    .sort((one, other) => one.createdAt - other.createdAt);
  if (entries.length > importLimits.entriesPerIssue)
    tell(`it has ${entries.length} entries; the first ${importLimits.entriesPerIssue} came`);
  const opened: LogEntry = {
    ...emptyEntry,
    kind: 'opened',
    author: people.of(issue.author),
    body: keepText(issue.body, tell, 'its text'),
    createdAt,
    reactions: buildReactions(issue.reactions ?? [], people, tell),
    origin: 'opened',
  };
  const title = cleanText(issue.title, issueLimits.titleCharacters);
  if (title === '') tell('it had no title');
  else if (title !== issue.title.trim().normalize('NFC')) tell(`its title became ${JSON.stringify(title)}`);
  const state = isMerged ? 'merged' : issue.isOpen ? 'open' : 'closed';
  const closedAt = state === 'open' ? null : Math.min(issue.closedAt ?? issue.updatedAt, now);
  return {
    format: 1,
    repository: '',
    number: issue.number,
    kind: issue.isPull ? 'pull' : 'issue',
    origin: `${host}#${issue.number}`,
    title: title || `#${issue.number}`,
    author: people.of(issue.author),
    state,
    closeReason: state === 'closed' && !issue.isPull ? (issue.closeReason ?? 'completed') : null,
    labels: issue.labels.slice(0, issueLimits.labelsPerIssue).map(labelName),
    milestone: issue.milestone === null ? null : milestoneTitle(issue.milestone),
    assignees: issue.assignees.slice(0, issueLimits.assigneesPerIssue).flatMap((one) => people.of(one) ?? []),
    dueOn: issue.dueOn ?? null,
    ref: isValidRef(issue.ref ?? '') ? (issue.ref ?? '') : '',
    isLocked: issue.isLocked,
    isPinned: issue.isPinned,
    createdAt,
    updatedAt: Math.max(createdAt, Math.min(issue.updatedAt, now)),
    closedAt,
    links: [],
    attachments: [],
    entries: [opened, ...entries.slice(0, importLimits.entriesPerIssue)].map((entry, position) => ({
      ...entry,
      position,
    })),
  };
}

/** A label name that is valid here; the same text gives the same name. */
export const labelName = (name: string): string => cleanText(name, issueLimits.labelNameCharacters) || 'label';
export const milestoneTitle = (title: string): string =>
  cleanText(title, issueLimits.milestoneTitleCharacters) || 'milestone';

function buildReactions(
  reactions: readonly SourceReaction[],
  people: PeopleBook,
  tell: Tell,
): ImportedEntry['reactions'] {
  const byKind = new Map<string, NonNullable<ReturnType<PeopleBook['of']>>[]>();
  for (const { kind, person } of reactions) {
    const who = people.of(person);
    if (!reactionKinds.some((known) => known === kind))
      tell(`the reaction ${JSON.stringify(kind.slice(0, 40))} is none here`);
    else if (who !== null) byKind.set(kind, [...(byKind.get(kind) ?? []), who]);
  }
  return [...byKind].map(([kind, who]) => ({ kind, people: who }));
}

/** The users that an issue and its comments reference. */
export const peopleOfIssue = (issue: SourceIssue, comments: readonly SourceComment[]) => [
  issue.author,
  ...issue.assignees,
  ...(issue.reactions ?? []).map(({ person }) => person),
  ...comments.flatMap(({ author, reactions }) => [author, ...(reactions ?? []).map(({ person }) => person)]),
];
