import {
  colourOf,
  dateOf,
  flagOf,
  idOf,
  listOf,
  numberOf,
  objectOf,
  oidOf,
  projectOf,
  textOf,
  timeOf,
} from '../read-json.ts';
import type { Json } from '../read-json.ts';
import type {
  SourceHook,
  SourceIssue,
  SourceLabel,
  SourceMilestone,
  SourcePerson,
  SourcePull,
  SourcePullRound,
  SourceReaction,
  SourceRepository,
  SourceRule,
} from '../source.ts';

/** Null for a deleted account: GitLab assigns its texts to a user of this name. */
export function readPerson(value: unknown): SourcePerson | null {
  const user = objectOf(value);
  const login = textOf(user['username']);
  if (login === '' || login === 'ghost') return null;
  return { login, id: idOf(user['id']), name: textOf(user['name']), email: '', url: textOf(user['web_url']) };
}

const peopleOf = (value: unknown): SourcePerson[] =>
  (Array.isArray(value) ? value : []).flatMap((one) => readPerson(one) ?? []);

export function readRepository(value: unknown): SourceRepository {
  const row = objectOf(value);
  const topics = Array.isArray(row['topics']) ? row['topics'] : row['tag_list'];
  return {
    name: textOf(row['path']),
    ...projectOf(row['path_with_namespace']),
    description: textOf(row['description']),
    website: '',
    defaultBranch: textOf(row['default_branch']) || null,
    isPrivate: textOf(row['visibility']) !== 'public',
    isArchived: flagOf(row['archived']),
    isEmpty: flagOf(row['empty_repo']),
    topics: Array.isArray(topics) ? topics.map(textOf).filter(Boolean) : [],
    hasWiki: isOn(row, 'wiki'),
    cloneUrl: textOf(row['http_url_to_repo']),
    url: textOf(row['web_url']),
  };
}

/** Whether a feature of a project is enabled: by its access level, formerly by a flag. */
export function isOn(row: Json, part: 'wiki' | 'issues' | 'merge_requests'): boolean {
  const level = textOf(row[`${part}_access_level`]);
  return level === '' ? row[`${part}_enabled`] !== false : level !== 'disabled';
}

/** A scoped label `priority::high` excludes others of its scope, as `priority/high` does here. */
const labelOf = (name: string): string => name.replaceAll('::', '/');

export const readLabel = (row: Json): SourceLabel => ({
  name: labelOf(textOf(row['name'])),
  colour: colourOf(row['color']),
  description: textOf(row['description']),
  isExclusive: textOf(row['name']).includes('::'),
});

export function readMilestone(row: Json): SourceMilestone {
  return {
    title: textOf(row['title']),
    description: textOf(row['description']),
    dueOn: dateOf(row['due_date']),
    closedAt: textOf(row['state']) === 'closed' ? (timeOf(row['updated_at']) ?? 0) : null,
    createdAt: timeOf(row['created_at']) ?? 0,
  };
}

/** A row of a list of issues or of merge requests, before it has its number here. */
export interface ListedIssue {
  iid: number;
  issue: Omit<SourceIssue, 'number'>;
  /** Whether only members of the project can see it at the source. */
  isConfidential: boolean;
}

/** Null for a row without a number. */
export function readIssue(row: Json, isPull: boolean): ListedIssue | null {
  const iid = numberOf(row['iid']);
  if (iid === null) return null;
  const createdAt = timeOf(row['created_at']) ?? 0;
  const isOpen = !['closed', 'merged'].includes(textOf(row['state']));
  const duplicate = textOf(objectOf(row['_links'])['closed_as_duplicate_of']);
  return {
    iid,
    isConfidential: flagOf(row['confidential']),
    issue: {
      isPull,
      title: textOf(row['title']),
      body: textOf(row['description']),
      author: readPerson(row['author']),
      isOpen,
      closeReason: duplicate !== '' ? 'duplicate' : null,
      labels: (Array.isArray(row['labels']) ? row['labels'] : []).map((label) =>
        labelOf(textOf(label) || textOf(objectOf(label)['name'])),
      ),
      milestone: textOf(objectOf(row['milestone'])['title']) || null,
      assignees: peopleOf(row['assignees']),
      isLocked: flagOf(row['discussion_locked']),
      isPinned: false,
      createdAt,
      updatedAt: timeOf(row['updated_at']) ?? createdAt,
      closedAt: isOpen ? null : (timeOf(row['closed_at']) ?? timeOf(row['merged_at'])),
      reactions: null,
      ...readDue(row),
    },
  };
}

function readDue(row: Json): Pick<SourceIssue, 'dueOn'> {
  const dueOn = dateOf(row['due_date']);
  return dueOn === null ? {} : { dueOn };
}

/** The code of a merge request; null for a row without a head. */
export function readPull(row: Json, number: number): SourcePull | null {
  const refs = objectOf(row['diff_refs']);
  const headOid = oidOf(refs['head_sha']) ?? oidOf(row['sha']);
  if (headOid === null) return null;
  const from = idOf(row['source_project_id']);
  const isMerged = textOf(row['state']) === 'merged';
  return {
    number,
    headOid,
    headBranch: textOf(row['source_branch']) || null,
    isOwnBranch: from !== '' && from === idOf(row['target_project_id']),
    baseBranch: textOf(row['target_branch']),
    baseOid: oidOf(refs['base_sha']) ?? oidOf(refs['start_sha']),
    isDraft: flagOf(row['draft']) || flagOf(row['work_in_progress']),
    maintainersMayPush: flagOf(row['allow_collaboration']) || flagOf(row['allow_maintainer_to_push']),
    mergedAt: isMerged ? (timeOf(row['merged_at']) ?? timeOf(row['updated_at']) ?? 0) : null,
    mergedBy: isMerged ? (readPerson(row['merge_user']) ?? readPerson(row['merged_by'])) : null,
    // A fast-forward creates no merge commit.
    mergedOid: isMerged ? (oidOf(row['merge_commit_sha']) ?? oidOf(row['squash_commit_sha']) ?? headOid) : null,
    requested: peopleOf(row['reviewers']),
  };
}

/** A version of a merge request: the result of a push to it. */
export function readVersion(row: Json): SourcePullRound | null {
  const headOid = oidOf(row['head_commit_sha']);
  const createdAt = timeOf(row['created_at']);
  if (headOid === null || createdAt === null) return null;
  return { headOid, baseOid: oidOf(row['base_commit_sha']), createdAt };
}

const reactionNames: Readonly<Record<string, string>> = {
  thumbsup: '+1',
  thumbsdown: '-1',
  laughing: 'laugh',
  smile: 'laugh',
  smiley: 'laugh',
  grinning: 'laugh',
  joy: 'laugh',
  tada: 'hooray',
};

export function readReactions(json: unknown): SourceReaction[] {
  return listOf(json).map((row) => {
    const name = textOf(row['name']);
    return { kind: reactionNames[name] ?? name, person: readPerson(row['user']) };
  });
}

const noAccess = 0;
const maintainers = 40;
const levels = (value: unknown): number[] =>
  listOf(value).flatMap(({ access_level: level }) => (typeof level === 'number' ? [level] : []));

export function readBranchRule(row: Json): SourceRule {
  const push = levels(row['push_access_levels']);
  return {
    target: 'branch',
    pattern: textOf(row['name']),
    forbidsPushes: push.length > 0 && push.every((level) => level === noAccess),
    pushLevel: push.length > 0 && Math.min(...push.filter((level) => level > noAccess)) >= maintainers ? 'admin' : null,
    allowsForce: flagOf(row['allow_force_push']),
    approvals: 0,
    dismissesStale: false,
    signed: false,
    checks: [],
  };
}

export const readTagRule = (row: Json): SourceRule => ({
  target: 'tag',
  pattern: textOf(row['name']),
  forbidsPushes: !levels(row['create_access_levels']).some((level) => level > noAccess && level < maintainers),
  allowsForce: false,
  approvals: 0,
  dismissesStale: false,
  signed: false,
  checks: [],
});

const hookEvents: readonly (readonly [flag: string, event: string])[] = [
  ['push_events', 'push'],
  ['tag_push_events', 'create'],
  ['issues_events', 'issues'],
  ['merge_requests_events', 'pull_request'],
  ['note_events', 'issue_comment'],
  ['pipeline_events', 'run'],
  ['releases_events', 'release'],
  ['wiki_page_events', 'gollum'],
];

export const readHook = (row: Json): SourceHook => ({
  id: idOf(row['id']),
  url: textOf(row['url']),
  events: hookEvents.flatMap(([flag, event]) => (flagOf(row[flag]) ? [event] : [])),
  kind: 'gitea',
  contentType: 'json',
  branchFilter: textOf(row['push_events_branch_filter']),
});
