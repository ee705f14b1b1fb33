import type { DumpedLabel } from './dump-lists.ts';

/** Issues and pull requests of an export, in the format of Gitea's `restore-repo`. */

interface Person {
  name: string;
}

interface Entry {
  position: number;
  kind: string;
  author: Person | null;
  body: string | null;
  createdAt: string;
  editedAt: string | null;
  isDeleted: boolean;
  reactions: { kind: string; people: Person[] }[];
}

/** The log of an issue in the format of an export bundle. */
export interface ExportedLog {
  number: number;
  kind: 'issue' | 'pull';
  title: string;
  author: Person | null;
  state: 'open' | 'closed' | 'merged';
  labels: string[];
  milestone: string | null;
  assignees: Person[];
  isLocked: boolean;
  createdAt: string;
  updatedAt: string;
  closedAt: string | null;
  entries: Entry[];
}

/** The code of a pull request in the format of an export bundle. */
export interface ExportedPull {
  number: number;
  baseBranch: string;
  headBranch: string | null;
  isOwnBranch: boolean;
  isDraft: boolean;
  mergedOid: string | null;
  mergedAt: string | null;
  rounds: { round: number; headOid: string; baseOid: string }[];
  reviews: {
    id: string;
    round: number;
    author: Person | null;
    verdict: 'COMMENT' | 'APPROVE' | 'REQUEST_CHANGES';
    body: string;
    submittedAt: string;
  }[];
  threads: {
    round: number;
    commitOid: string;
    path: string | null;
    side: 'OLD' | 'NEW' | null;
    lastLine: number | null;
    quoted: string;
    comments: {
      review: string;
      author: Person | null;
      body: string;
      createdAt: string;
      editedAt: string | null;
      isDeleted: boolean;
    }[];
  }[];
}

export interface DumpContext {
  owner: string;
  name: string;
  labels: Map<string, DumpedLabel>;
  /** Numbers of authors by name: the other forge uses them to distinguish authors without an account. */
  people: Map<string, number>;
}

function idOf({ people }: DumpContext, person: Person | null): number {
  const name = nameOf(person);
  const id = people.get(name) ?? people.size + 1;
  people.set(name, id);
  return id;
}

const nameOf = (person: Person | null): string => person?.name ?? 'ghost';

const reactionsOf = (entry: Entry | undefined, context: DumpContext): object[] =>
  (entry?.reactions ?? []).flatMap(({ kind, people }) =>
    people.map((person) => ({ user_id: idOf(context, person), user_name: person.name, content: kind })),
  );

const common = (log: ExportedLog, context: DumpContext) => ({
  number: log.number,
  poster_id: idOf(context, log.author),
  poster_name: nameOf(log.author),
  poster_email: '',
  title: log.title,
  content: log.entries[0]?.body ?? '',
  milestone: log.milestone ?? '',
  state: log.state === 'open' ? 'open' : 'closed',
  is_locked: log.isLocked,
  created: log.createdAt,
  updated: log.updatedAt,
  closed: log.closedAt,
  labels: log.labels.flatMap((name) => context.labels.get(name) ?? []),
  reactions: reactionsOf(log.entries[0], context),
  assignees: log.assignees.map(({ name }) => name),
  foreignindex: log.number,
});

export const dumpIssue = (log: ExportedLog, context: DumpContext): object => ({ ...common(log, context), ref: '' });

export function dumpComments(log: ExportedLog, context: DumpContext): object[] {
  return log.entries
    .filter(({ kind, isDeleted }) => kind === 'comment' && !isDeleted)
    .map((entry) => ({
      issue_index: log.number,
      index: entry.position,
      comment_type: '',
      poster_id: idOf(context, entry.author),
      poster_name: nameOf(entry.author),
      poster_email: '',
      created: entry.createdAt,
      updated: entry.editedAt ?? entry.createdAt,
      content: entry.body ?? '',
      reactions: reactionsOf(entry, context),
    }));
}

export function dumpPull(log: ExportedLog, code: ExportedPull, patch: string, context: DumpContext): object {
  const { owner, name } = context;
  const last = code.rounds.at(-1)!;
  const place = { clone_url: '', repo_name: name, owner_name: owner };
  return {
    ...common(log, context),
    patch_url: patch,
    merged: code.mergedAt !== null,
    merged_time: code.mergedAt,
    merge_commit_sha: code.mergedOid ?? '',
    // The repository contains its commits, whichever repository has the branch.
    head: { ...place, ref: code.headBranch ?? `pull-${log.number}`, sha: last.headOid },
    base: { ...place, ref: code.baseBranch, sha: last.baseOid },
    is_draft: code.isDraft,
    ensured_safe: false,
  };
}

const states = { COMMENT: 'COMMENTED', APPROVE: 'APPROVED', REQUEST_CHANGES: 'CHANGES_REQUESTED' } as const;

export function dumpReviews(log: ExportedLog, code: ExportedPull, context: DumpContext): object[] {
  let id = 0;
  const headOf = (round: number): string => code.rounds.find((each) => each.round === round)!.headOid;
  return code.reviews.map((review, at) => ({
    id: at + 1,
    issue_index: log.number,
    reviewer_id: idOf(context, review.author),
    reviewer_name: nameOf(review.author),
    official: false,
    commit_id: headOf(review.round),
    content: review.body,
    created_at: review.submittedAt,
    state: states[review.verdict],
    comments: code.threads.flatMap(({ path, side, lastLine, quoted, commitOid, comments }) =>
      path === null
        ? []
        : comments
            .filter((comment) => comment.review === review.id && !comment.isDeleted)
            .map((comment) => ({
              id: (id += 1),
              in_reply_to: 0,
              content: comment.body,
              tree_path: path,
              diff_hunk: hunkOf(quoted, side, lastLine),
              position: 0,
              line: side === 'OLD' ? -(lastLine ?? 1) : (lastLine ?? 1),
              commit_id: commitOid,
              poster_id: idOf(context, comment.author),
              reactions: [],
              created_at: comment.createdAt,
              updated_at: comment.editedAt ?? comment.createdAt,
            })),
    ),
  }));
}

/** The lines quoted by a thread, as a hunk. */
function hunkOf(quoted: string, side: 'OLD' | 'NEW' | null, lastLine: number | null): string {
  const lines = quoted === '' ? [] : quoted.split('\n');
  const first = Math.max(1, (lastLine ?? 1) - lines.length + 1);
  const mark = side === 'OLD' ? '-' : '+';
  return [`@@ -${first},${lines.length} +${first},${lines.length} @@`, ...lines.map((line) => mark + line)].join('\n');
}
