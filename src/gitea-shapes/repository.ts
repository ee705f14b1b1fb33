import type { z } from 'zod';
import { allows } from '../access/index.ts';
import type { Level } from '../access/index.ts';
import type { Person } from '../accounts/index.ts';
import type { Organisation } from '../organisations/index.ts';
import type { Located } from '../repositories/index.ts';
import { numericId } from './numeric-id.ts';
import type { ServerPlace } from './place.ts';
import type { giteaRepository } from './repository-schema.ts';
import { giteaTime, noTime } from './time.ts';
import { ownerPayload } from './user.ts';

export type RepositoryPayload = z.output<typeof giteaRepository>;

type Shown = Pick<Located, 'repository' | 'owner'>;

/** Additional data of a repository besides its row. */
export interface RepositoryDetails {
  ownerProfile: Person | Organisation | null;
  /** Rights of the reader. */
  level: Level;
  language: string;
  stars: number;
  watchers: number;
  openIssues: number;
  openPulls: number;
  releases: number;
  takesIssues: boolean;
  takesPulls: boolean;
  topics: readonly string[];
  /** Set for a pull mirror. */
  mirror: { intervalMs: number | null; lastOkAt: number | null; url: string } | null;
  /** The source of a fork; null if the reader cannot read it. */
  parent: (Shown & { level: Level }) | null;
}

const unknown: RepositoryDetails = {
  ownerProfile: null,
  level: 'none',
  language: '',
  stars: 0,
  watchers: 0,
  openIssues: 0,
  openPulls: 0,
  releases: 0,
  takesIssues: true,
  takesPulls: true,
  topics: [],
  mirror: null,
  parent: null,
};

/**
 * @param details additional data; without it, the repository as shown to a reader without rights
 */
export function repositoryPayload(
  shown: Shown,
  place: ServerPlace,
  details: Partial<RepositoryDetails> = {},
): RepositoryPayload {
  const known = { ...unknown, ...details };
  const parent =
    known.parent === null
      ? null
      : { ...fieldsOf(known.parent, place, { ...unknown, level: known.parent.level }), parent: null };
  return { ...fieldsOf(shown, place, known), parent };
}

function fieldsOf(
  { repository, owner }: Shown,
  { baseUrl, sshOrigin }: ServerPlace,
  details: RepositoryDetails,
): Omit<RepositoryPayload, 'parent'> {
  const base = baseUrl ?? '';
  const fullName = `${owner.handle}/${repository.name}`;
  const url = `${base}/api/v1/repos/${fullName}`;
  const { level, mirror } = details;
  return {
    id: numericId(repository.id),
    owner: ownerPayload(owner, details.ownerProfile, { baseUrl }),
    name: repository.name,
    full_name: fullName,
    description: repository.description,
    empty: repository.pushedAt === null,
    private: repository.visibility === 'PRIVATE',
    fork: repository.forkedFromId !== null,
    template: repository.isTemplate,
    mirror: mirror !== null,
    size: Math.round(repository.sizeBytes / 1024),
    language: details.language,
    languages_url: `${url}/languages`,
    html_url: `${base}/repos/${fullName}`,
    url,
    link: '',
    ssh_url: sshOrigin === null ? '' : `${sshOrigin}/${fullName}.git`,
    clone_url: `${base}/git/${fullName}.git`,
    original_url: mirror?.url ?? '',
    website: repository.website,
    stars_count: details.stars,
    forks_count: Number(repository.forkCount),
    watchers_count: details.watchers,
    open_issues_count: details.openIssues,
    open_pr_counter: details.openPulls,
    release_counter: details.releases,
    default_branch: repository.defaultBranch,
    archived: repository.archivedAt !== null,
    created_at: giteaTime(repository.createdAt),
    updated_at: giteaTime(repository.updatedAt),
    archived_at: giteaTime(repository.archivedAt ?? 0),
    permissions: { admin: allows(level, 'admin'), push: allows(level, 'write'), pull: allows(level, 'read') },
    has_code: true,
    has_issues: details.takesIssues,
    internal_tracker: {
      enable_time_tracker: true,
      allow_only_contributors_to_track_time: true,
      enable_issue_dependencies: true,
    },
    has_wiki: true,
    has_pull_requests: details.takesPulls,
    has_projects: true,
    projects_mode: 'all',
    has_releases: true,
    has_packages: true,
    has_actions: true,
    ignore_whitespace_conflicts: false,
    allow_merge_commits: true,
    allow_rebase: true,
    allow_rebase_explicit: false,
    allow_squash_merge: true,
    allow_fast_forward_only_merge: true,
    allow_rebase_update: false,
    allow_manual_merge: false,
    autodetect_manual_merge: true,
    default_delete_branch_after_merge: false,
    default_merge_style: 'merge',
    default_allow_maintainer_edit: false,
    default_target_branch: '',
    avatar_url:
      repository.imageContentType === null ? '' : `${base}/repos/${fullName}/image?v=${repository.imageUpdatedAt ?? 0}`,
    internal: false,
    mirror_interval: mirror === null || mirror.intervalMs === null ? '' : durationOf(mirror.intervalMs),
    mirror_updated: mirror === null || mirror.lastOkAt === null ? noTime : giteaTime(mirror.lastOkAt),
    object_format_name: 'sha1',
    repo_transfer: null,
    topics: [...details.topics],
    licenses: [],
  };
}

/** In Gitea's format of durations: `8h0m0s`. */
function durationOf(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 3600)}h${Math.floor(seconds / 60) % 60}m${seconds % 60}s`;
}
