import { flagOf, idOf, listOf, objectOf, textOf } from '../sources/read-json.ts';
import type { Json } from '../sources/read-json.ts';

/**
 * Rows of GitLab's project export in the shape of its REST API, so that both use the same readers. An export references
 * users by number; its members have usernames, and authors of comments only display names.
 */

/** Names of accounts by number. */
export type Logins = ReadonlyMap<string, string>;

/**
 * A user by number. Without a username in the export, the name is the number, in a form that cannot be a username
 * there: a display name may be that of another user.
 */
function personOf(id: unknown, logins: Logins, shown: unknown = ''): Json | null {
  const key = idOf(id);
  if (key === '' || key === '0') return null;
  return { id: key, username: logins.get(key) ?? `id:${key}`, name: textOf(shown) };
}

const people = (row: Json, list: string, logins: Logins): Json[] =>
  listOf(row[list]).flatMap((one): Json[] => {
    const person = personOf(one['user_id'], logins);
    return person === null ? [] : [person];
  });

const labels = (row: Json): string[] =>
  listOf(row['label_links'])
    .map((one) => textOf(objectOf(one['label'])['title']))
    .filter(Boolean);

/** An issue or a merge request. */
export function asListed(row: Json, logins: Logins): Json {
  const metrics = objectOf(row['metrics']);
  const only = personOf(row['assignee_id'], logins);
  const assignees = [...people(row, 'issue_assignees', logins), ...people(row, 'merge_request_assignees', logins)];
  return {
    ...row,
    author: personOf(row['author_id'], logins, objectOf(row['author'])['name']),
    labels: labels(row),
    assignees: assignees.length === 0 && only !== null ? [only] : assignees,
    reviewers: people(row, 'merge_request_reviewers', logins),
    merged_at: row['merged_at'] ?? metrics['merged_at'],
    closed_at: row['closed_at'] ?? metrics['latest_closed_at'] ?? metrics['merged_at'] ?? row['updated_at'],
    merge_user: personOf(metrics['merged_by_id'] ?? row['merge_user_id'], logins),
  };
}

/** A merge request with its commits, which the export takes from the last version. */
export function asMergeRequest(row: Json, logins: Logins): Json {
  const diff = objectOf(row['merge_request_diff']);
  const [newest] = listOf(diff['merge_request_diff_commits']);
  const head = [diff['head_commit_sha'], newest?.['sha'], row['diff_head_sha'], row['source_branch_sha']];
  return {
    ...asListed(row, logins),
    diff_refs: {
      head_sha: head.find((oid) => /^[0-9a-f]{40,64}$/.test(textOf(oid))),
      base_sha: diff['base_commit_sha'],
      start_sha: diff['start_commit_sha'],
    },
  };
}

/** Positions are objects, or JSON texts in older exports. */
function positionOf(note: Json): Json {
  for (const given of [note['position'], note['original_position']]) {
    if (typeof given !== 'string') {
      if (given != null) return objectOf(given);
      continue;
    }
    try {
      return objectOf(JSON.parse(given));
    } catch {
      // Ruby's form of a position, in older exports.
    }
  }
  return {};
}

/** The notes of an issue or a merge request as discussions. */
export function asDiscussions(row: Json, logins: Logins): Json[] {
  const byDiscussion = new Map<string, Json[]>();
  for (const note of listOf(row['notes'])) {
    const key = textOf(note['discussion_id']) || `note-${idOf(note['id'])}`;
    const notes = byDiscussion.get(key) ?? [];
    notes.push({
      ...note,
      body: note['note'],
      author: personOf(note['author_id'], logins, objectOf(note['author'])['name']),
      position: positionOf(note),
      resolved: note['resolved_at'] != null,
      resolved_by: personOf(note['resolved_by_id'], logins),
      internal: flagOf(note['internal']) || flagOf(note['confidential']),
    });
    byDiscussion.set(key, notes);
  }
  return [...byDiscussion].map(([id, notes]) => ({ id, notes }));
}

export const asReactions = (row: Json, logins: Logins): Json[] =>
  listOf(row['award_emoji']).map((one) => ({ name: one['name'], user: personOf(one['user_id'], logins) }));

/** Null if the export does not contain the approvers. */
export const asApprovals = (row: Json, logins: Logins): Json | null =>
  !Array.isArray(row['approvals'])
    ? null
    : {
        approved_by: listOf(row['approvals']).map((one) => ({
          user: personOf(one['user_id'], logins),
          approved_at: one['created_at'],
        })),
      };
