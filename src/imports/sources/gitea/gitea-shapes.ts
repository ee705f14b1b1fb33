import {
  colourOf,
  dayOf,
  flagOf,
  idOf,
  listOf,
  numberOf,
  objectOf,
  oidOf,
  picturesOf,
  projectOf,
  textOf,
  timeOf,
} from '../read-json.ts';
import type { Json } from '../read-json.ts';
import type {
  SourceComment,
  SourceFile,
  SourceHook,
  SourceNamed,
  SourceIssue,
  SourceLabel,
  SourceMilestone,
  SourcePerson,
  SourcePull,
  SourceReaction,
  SourceRepository,
  SourceReview,
  SourceReviewComment,
  SourceRule,
  SourceTime,
} from '../source.ts';

/** Gitea's user for authors with a deleted account, and for authors of Gitea's own imports. */
const ghostIds = new Set(['', '-1', '-2', '0']);

/** Null for a deleted account. */
export function readPerson(value: unknown): SourcePerson | null {
  const user = objectOf(value);
  const login = textOf(user['login']) || textOf(user['username']);
  const id = idOf(user['id']);
  if (login === '' || ghostIds.has(id)) return null;
  const email = textOf(user['email']);
  return {
    login,
    id,
    name: textOf(user['full_name']),
    // A no-reply address of the server hides the real one.
    email: /@(?:noreply\.|localhost$)/.test(email) ? '' : email,
    url: textOf(user['html_url']),
  };
}

/** The author of a text: for a text that Gitea has imported itself, the displayed name. */
function readAuthor(row: Json): SourcePerson | null {
  const original = textOf(row['original_author']);
  if (original !== '') return { login: original, id: '', name: '', email: '', url: '' };
  return readPerson(row['user'] ?? row['poster']);
}

export function readRepository(value: unknown): SourceRepository {
  const row = objectOf(value);
  return {
    name: textOf(row['name']),
    ...projectOf(row['full_name']),
    description: textOf(row['description']),
    website: textOf(row['website']),
    defaultBranch: textOf(row['default_branch']) || null,
    isPrivate: row['private'] !== false || flagOf(row['internal']),
    isArchived: flagOf(row['archived']),
    isEmpty: flagOf(row['empty']),
    topics: Array.isArray(row['topics']) ? row['topics'].map(textOf).filter(Boolean) : [],
    hasWiki: flagOf(row['has_wiki']),
    cloneUrl: textOf(row['clone_url']),
    url: textOf(row['html_url']),
    pictures: picturesOf(row['avatar_url']),
  };
}

export const readLabel = (row: Json): SourceLabel => ({
  name: textOf(row['name']),
  colour: colourOf(row['color']),
  description: textOf(row['description']),
  isExclusive: flagOf(row['exclusive']),
});

export function readMilestone(row: Json): SourceMilestone {
  const closedAt = timeOf(row['closed_at']);
  return {
    title: textOf(row['title']),
    description: textOf(row['description']),
    dueOn: dayOf(row['due_on']),
    closedAt: textOf(row['state']) === 'closed' ? (closedAt ?? timeOf(row['updated_at']) ?? 0) : null,
    createdAt: timeOf(row['created_at']) ?? 0,
  };
}

/** Attached files, which a text need not reference. */
function readFiles(row: Json): { files?: SourceFile[] } {
  const files = listOf(row['assets']).flatMap((asset): SourceFile[] => {
    const uuid = textOf(asset['uuid']);
    const isOne = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uuid);
    return isOne ? [{ key: `attachments/${uuid}`, name: textOf(asset['name']).slice(0, 300) }] : [];
  });
  return files.length === 0 ? {} : { files };
}

/** Null for a row without a number. */
export function readIssue(row: Json): SourceIssue | null {
  const number = numberOf(row['number']);
  if (number === null) return null;
  const createdAt = timeOf(row['created_at']) ?? 0;
  return {
    number,
    isPull: row['pull_request'] != null,
    title: textOf(row['title']),
    body: textOf(row['body']),
    author: readAuthor(row),
    isOpen: textOf(row['state']) !== 'closed',
    closeReason: null,
    labels: listOf(row['labels']).map((label) => textOf(label['name'])),
    milestone: textOf(objectOf(row['milestone'])['title']) || null,
    assignees: (Array.isArray(row['assignees']) ? row['assignees'] : []).flatMap((one) => readPerson(one) ?? []),
    isLocked: flagOf(row['is_locked']),
    isPinned: (numberOf(row['pin_order']) ?? 0) > 0,
    createdAt,
    updatedAt: timeOf(row['updated_at']) ?? createdAt,
    closedAt: timeOf(row['closed_at']),
    reactions: null,
    ...readFiles(row),
    ...readPlan(row),
  };
}

function readPlan(row: Json): Pick<SourceIssue, 'dueOn' | 'ref'> {
  const dueOn = dayOf(row['due_date']);
  const ref = textOf(row['ref']);
  return { ...(dueOn !== null && { dueOn }), ...(ref !== '' && { ref }) };
}

/** Null for a row without an issue. */
export function readTime(row: Json): SourceTime | null {
  const id = idOf(row['id']);
  const number = numberOf(objectOf(row['issue'])['number']);
  const seconds = numberOf(row['time']);
  if (id === '' || number === null || seconds === null) return null;
  const login = textOf(row['user_name']);
  const person = login === '' || login === 'Ghost' ? null : byLogin(login);
  return { id, number, seconds, createdAt: timeOf(row['created']) ?? 0, person };
}

/** Null for a row without an issue. */
export function readComment(row: Json): SourceComment | null {
  const address = textOf(row['issue_url']) || textOf(row['pull_request_url']);
  const number = numberOf(Number(/\/(\d{1,10})$/.exec(address)?.[1] ?? 0));
  const id = idOf(row['id']);
  if (number === null || id === '') return null;
  const createdAt = timeOf(row['created_at']) ?? 0;
  const updatedAt = timeOf(row['updated_at']) ?? createdAt;
  const written = { author: readAuthor(row), body: textOf(row['body']), createdAt, updatedAt };
  return { id, number, ...written, reactions: null, ...readFiles(row) };
}

/** Null for a row without a number or a head. */
export function readPull(row: Json): SourcePull | null {
  const number = numberOf(row['number']);
  const [head, base] = [objectOf(row['head']), objectOf(row['base'])];
  const headOid = oidOf(head['sha']);
  if (number === null || headOid === null) return null;
  const ref = textOf(head['ref']);
  const label = textOf(head['label']).replace(/^[^:]*:/, '');
  // If the branch was deleted, its name remains in the label.
  const headBranch = /^refs\/pull\//.test(ref) ? (/^refs\/pull\//.test(label) ? null : label || null) : ref || null;
  const isMerged = flagOf(row['merged']);
  return {
    number,
    headOid,
    headBranch,
    isOwnBranch: idOf(head['repo_id']) !== '' && idOf(head['repo_id']) === idOf(base['repo_id']),
    baseBranch: textOf(base['ref']),
    baseOid: oidOf(row['merge_base']) ?? oidOf(base['sha']),
    isDraft: flagOf(row['draft']),
    maintainersMayPush: flagOf(row['allow_maintainer_edit']),
    mergedAt: isMerged ? (timeOf(row['merged_at']) ?? timeOf(row['closed_at']) ?? 0) : null,
    mergedBy: isMerged ? readPerson(row['merged_by']) : null,
    mergedOid: isMerged ? oidOf(row['merge_commit_sha']) : null,
    requested: (Array.isArray(row['requested_reviewers']) ? row['requested_reviewers'] : []).flatMap(
      (one) => readPerson(one) ?? [],
    ),
  };
}

/**
 * A row of a list. The lists of Gitea 1.26 lack reviewers and who merged; https://docs.gitea.com/api/ describes both
 * fields for lists as well.
 */
export function readListedPull(row: Json): SourcePull | null {
  const pull = readPull(row);
  const isWhole = Array.isArray(row['requested_reviewers']) && (pull?.mergedAt === null || pull?.mergedBy !== null);
  return pull === null || isWhole ? pull : { ...pull, isPart: true };
}

const verdicts: Readonly<Record<string, SourceReview['verdict']>> = {
  APPROVED: 'APPROVE',
  REQUEST_CHANGES: 'REQUEST_CHANGES',
  COMMENT: 'COMMENT',
};

/** Null for drafts and review requests. */
export function readReview(row: Json): SourceReview | null {
  const verdict = verdicts[textOf(row['state'])];
  const id = idOf(row['id']);
  if (verdict === undefined || id === '') return null;
  return {
    id,
    author: readPerson(row['user']),
    verdict,
    body: textOf(row['body']),
    commitOid: oidOf(row['commit_id']),
    isDismissed: flagOf(row['dismissed']),
    submittedAt: timeOf(row['submitted_at']) ?? timeOf(row['updated_at']) ?? 0,
  };
}

/** Logins of those whose last row is a review, not a request for one: `requested_reviewers` has them, too. */
export function readAnswered(rows: readonly Json[]): string[] {
  const last = new Map<string, string>();
  for (const row of rows) {
    const [person, state] = [readPerson(row['user']), textOf(row['state'])];
    if (person !== null && !flagOf(row['dismissed'])) last.set(person.login, state);
  }
  return [...last].flatMap(([login, state]) => (verdicts[state] === undefined ? [] : [login]));
}

export function readReviewComment(row: Json): SourceReviewComment | null {
  const id = idOf(row['id']);
  const path = textOf(row['path']);
  if (id === '' || path === '') return null;
  const [newLine, oldLine] = [numberOf(row['position']), numberOf(row['original_position'])];
  const createdAt = timeOf(row['created_at']) ?? 0;
  const resolver = readPerson(row['resolver']);
  return {
    id,
    reviewId: idOf(row['pull_request_review_id']),
    inReplyTo: null,
    author: readPerson(row['user']),
    body: textOf(row['body']),
    path,
    commitOid: oidOf(row['original_commit_id']) ?? oidOf(row['commit_id']),
    side: newLine === null && oldLine !== null ? 'OLD' : 'NEW',
    firstLine: newLine ?? oldLine,
    lastLine: newLine ?? oldLine,
    hunk: textOf(row['diff_hunk']),
    resolvedBy: resolver,
    isResolved: resolver !== null,
    createdAt,
    updatedAt: timeOf(row['updated_at']) ?? createdAt,
  };
}

export const readReaction = (row: Json): SourceReaction => ({
  kind: textOf(row['content']),
  person: readPerson(row['user']),
});

const namesIn = (value: unknown): string[] => (Array.isArray(value) ? value.map(textOf).filter(Boolean) : []);

const byLogin = (login: string): SourcePerson => ({
  ...{ login, id: '', name: '', email: '', url: '' },
  isNameOnly: true,
});

/** Gitea's names of the lists of a rule. */
const lists = {
  push: {
    people: 'push_whitelist_usernames',
    teams: 'push_whitelist_teams',
    deployKeys: 'push_whitelist_deploy_keys',
  },
  force: {
    people: 'force_push_allowlist_usernames',
    teams: 'force_push_allowlist_teams',
    deployKeys: 'force_push_allowlist_deploy_keys',
  },
  merge: { people: 'merge_whitelist_usernames', teams: 'merge_whitelist_teams', deployKeys: '' },
  approve: { people: 'approvals_whitelist_username', teams: 'approvals_whitelist_teams', deployKeys: '' },
  tag: { people: 'whitelist_usernames', teams: 'whitelist_teams', deployKeys: '' },
} as const;

const namedIn = (row: Json, list: keyof typeof lists): SourceNamed => ({
  people: namesIn(row[lists[list].people]).map(byLogin),
  teams: namesIn(row[lists[list].teams]),
  deployKeys: flagOf(row[lists[list].deployKeys]),
});

export function readBranchRule(row: Json): SourceRule {
  return {
    target: 'branch',
    pattern: textOf(row['rule_name']) || textOf(row['branch_name']),
    forbidsPushes: !flagOf(row['enable_push']),
    pushers: flagOf(row['enable_push_whitelist']) ? namedIn(row, 'push') : null,
    allowsForce: flagOf(row['enable_force_push']),
    forcers: flagOf(row['enable_force_push_allowlist']) ? namedIn(row, 'force') : null,
    mergers: flagOf(row['enable_merge_whitelist']) ? namedIn(row, 'merge') : null,
    approvals: numberOf(row['required_approvals']) ?? 0,
    approvers: flagOf(row['enable_approvals_whitelist']) ? namedIn(row, 'approve') : null,
    dismissesStale: flagOf(row['dismiss_stale_approvals']),
    signed: flagOf(row['require_signed_commits']),
    checks:
      flagOf(row['enable_status_check']) && Array.isArray(row['status_check_contexts'])
        ? row['status_check_contexts'].map(textOf).filter(Boolean)
        : [],
  };
}

export const readTagRule = (row: Json): SourceRule => ({
  target: 'tag',
  pattern: textOf(row['name_pattern']),
  forbidsPushes: true,
  pushers: namedIn(row, 'tag'),
  allowsForce: false,
  approvals: 0,
  dismissesStale: false,
  signed: false,
  checks: [],
});

export function readHook(row: Json): SourceHook {
  const config = objectOf(row['config']);
  return {
    id: idOf(row['id']),
    url: textOf(config['url']),
    events: Array.isArray(row['events']) ? row['events'].map(textOf) : [],
    kind: textOf(row['type']),
    contentType: textOf(config['content_type']),
    branchFilter: textOf(row['branch_filter']),
  };
}
