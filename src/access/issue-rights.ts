import { accessGrantsOf } from './access-grants.ts';
import { allows, lower } from './level.ts';
import type { Level } from './level.ts';
import type { RepositoryFacts } from './repository-facts.ts';
import { repositoryLevel } from './repository-level.ts';
import { isLocalAdministrator } from './viewer.ts';
import type { Viewer } from './viewer.ts';

/** Who may open issues and comment in a repository; no setting disables both. */
type IssueAuthorPolicy = 'nobody' | 'members' | 'anyone';

/** Facts about a repository that the issue policy needs, besides the viewer's grants on it. */
export interface IssueRepositoryFacts extends RepositoryFacts {
  archived: boolean;
  issuesFrom: IssueAuthorPolicy;
  /** Whether the owner has blocked the viewer. */
  blocked: boolean;
}

/** Facts about one issue that the policy needs. */
export interface IssueFacts {
  /** UUID; null for a remote or imported author, and for a deleted account. */
  authorId: string | null;
  locked: boolean;
  /** In the trash. */
  deleted: boolean;
  /** Held until a member approves its author. */
  held: boolean;
}

/** A log entry of the issue: position 0 is the issue text. */
export interface EntryFacts {
  position: number;
  authorId: string | null;
}

/**
 * `contribute` is to open, comment, react and subscribe; `triage` is to label, assign, set milestones, links and pins,
 * lock, hide a comment, close any issue and approve newcomers; `manage` covers the trash and moving. Managing the
 * labels of a repository requires administering it: see `label` of `refusalInRepository`.
 */
export type IssueAct =
  | 'read'
  | 'contribute'
  | 'triage'
  | 'manage'
  | 'edit_issue'
  | 'close'
  | 'edit_entry'
  | 'delete_entry';

/** Why an action is refused; `hidden` must look like absent. */
export type IssueRefusal =
  | 'hidden'
  | 'sign_in'
  | 'scope'
  | 'archived'
  | 'locked'
  | 'issues_off'
  | 'blocked'
  | 'members_only'
  | 'level';

/**
 * The level from the viewer's grants, without public access: `none` for users who are not members, collaborators or
 * owners.
 */
export function memberLevel(viewer: Viewer, repository: RepositoryFacts): Level {
  if (isLocalAdministrator(viewer)) return 'admin';
  if (repository.deleted || viewer.kind === 'anonymous' || viewer.kind === 'deployKey') return 'none';
  if (viewer.kind === 'task') return viewer.repositoryId === repository.id ? viewer.scope : 'none';
  if (viewer.repositoryIds !== null && !viewer.repositoryIds.includes(repository.id)) return 'none';
  const [strongest] = accessGrantsOf(viewer.id, repository);
  return lower(strongest?.level ?? 'none', viewer.scope);
}

/**
 * Whether a credential may write here at all. A token limited to repositories cannot write elsewhere, not even where
 * everyone may comment. A task may write if its run is trusted, which gives it the scope `write`.
 */
function mayWriteWith(viewer: Viewer, repository: RepositoryFacts): boolean {
  if (viewer.kind === 'anonymous' || viewer.kind === 'deployKey' || !allows(viewer.scope, 'write')) return false;
  if (viewer.kind === 'task') return viewer.repositoryId === repository.id;
  return viewer.repositoryIds === null || viewer.repositoryIds.includes(repository.id);
}

/** Actions that do not concern an existing issue. `label` is to add, edit and remove labels. */
export type IssueRepositoryAct = 'read' | 'contribute' | 'triage' | 'label' | 'manage';

/** Whether the viewer may open an issue, or manage the labels of the repository. Null if allowed. */
export function refusalInRepository(
  viewer: Viewer,
  repository: IssueRepositoryFacts,
  act: IssueRepositoryAct,
): IssueRefusal | null {
  if (isHiddenFrom(viewer, repository)) return 'hidden';
  if (act === 'read') return null;
  const refused = refusalToWrite(viewer, repository);
  if (refused !== null) return refused;
  if (act !== 'contribute') return levelRefusal(viewer, repository, act);
  return contributionRefusal(viewer, repository);
}

/**
 * The policy of issues: what a viewer may do with one. A trusted task has the level "write" of its permission: it
 * labels, edits and closes like a member. `visibleIssues` states `read` in SQL.
 * @param entry for `edit_entry` and `delete_entry`
 */
export function refusalOnIssue(
  viewer: Viewer,
  repository: IssueRepositoryFacts,
  issue: IssueFacts,
  act: IssueAct,
  entry: EntryFacts | null = null,
): IssueRefusal | null {
  if (isHiddenFrom(viewer, repository) || issue.deleted) return 'hidden';
  const member = memberLevel(viewer, repository);
  const isAuthor = isBy(viewer, issue.authorId);
  if (issue.held && !isAuthor && !allows(member, 'write')) return 'hidden';
  if (act === 'read') return null;
  const refused = refusalToWrite(viewer, repository);
  if (refused !== null) return refused;
  if (issue.locked && !allows(member, 'write')) return 'locked';
  switch (act) {
    case 'contribute':
      return contributionRefusal(viewer, repository);
    case 'triage':
    case 'manage':
      return levelRefusal(viewer, repository, act);
    case 'edit_issue':
    case 'close':
      return isAuthor || allows(member, 'write') ? null : 'level';
    case 'edit_entry': {
      // Tasks cannot edit comments written by users.
      const needed = entry?.position === 0 ? 'write' : 'admin';
      return (entry !== null && isBy(viewer, entry.authorId)) || allows(member, needed) ? null : 'level';
    }
    case 'delete_entry':
      return (entry !== null && isBy(viewer, entry.authorId)) || allows(member, 'admin') ? null : 'level';
  }
}

/** Trashed issues are visible only to users who may empty the trash. */
export function refusalInTrash(viewer: Viewer, repository: IssueRepositoryFacts): IssueRefusal | null {
  if (isHiddenFrom(viewer, repository)) return 'hidden';
  return refusalToWrite(viewer, repository) ?? levelRefusal(viewer, repository, 'manage');
}

/** Whether a user's contributions are never held, and exempt from the repository's rate limit. */
export function isTrustedContributor(viewer: Viewer, repository: RepositoryFacts): boolean {
  return allows(memberLevel(viewer, repository), 'read') && viewer.kind !== 'anonymous';
}

/** Whether a user may contribute without a rate limit, so that an importer run by the owner is not stopped. */
export function isExemptFromRates(viewer: Viewer, repository: RepositoryFacts): boolean {
  return (viewer.kind === 'person' && viewer.isAdministrator) || allows(memberLevel(viewer, repository), 'write');
}

/** Whether issues and pull requests are hidden: from deploy keys, which only serve git. */
const isHiddenFrom = (viewer: Viewer, repository: RepositoryFacts): boolean =>
  viewer.kind === 'deployKey' || repositoryLevel(viewer, repository) === 'none';

const isBy = (viewer: Viewer, authorId: string | null): boolean =>
  viewer.kind === 'person' && !isLocalAdministrator(viewer) && authorId !== null && viewer.id === authorId;

function refusalToWrite(viewer: Viewer, repository: IssueRepositoryFacts): IssueRefusal | null {
  if (viewer.kind === 'anonymous') return 'sign_in';
  if (repository.archived) return 'archived';
  return mayWriteWith(viewer, repository) ? null : 'scope';
}

function contributionRefusal(viewer: Viewer, repository: IssueRepositoryFacts): IssueRefusal | null {
  if (repository.issuesFrom === 'nobody') return 'issues_off';
  if (memberLevel(viewer, repository) !== 'none') return null;
  if (repository.blocked) return 'blocked';
  return repository.issuesFrom === 'anyone' ? null : 'members_only';
}

function levelRefusal(
  viewer: Viewer,
  repository: RepositoryFacts,
  act: 'triage' | 'label' | 'manage',
): IssueRefusal | null {
  // Labels are not a repository setting: a token with write scope of an administrator suffices.
  const asked: Viewer = act === 'label' && viewer.kind === 'person' ? { ...viewer, scope: 'admin' } : viewer;
  return allows(memberLevel(asked, repository), act === 'triage' ? 'write' : 'admin') ? null : 'level';
}
