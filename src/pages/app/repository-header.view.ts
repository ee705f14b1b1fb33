import type { FoundWithHeader } from './context.ts';
import type { AvatarView } from './avatar.view.ts';
import { viewNumber } from './format-numbers.ts';
import { viewRepositoryAvatar } from './repository-avatar.view.ts';
import { viewWatch } from './watch.view.ts';
import type { WatchView } from './watch.view.ts';
import { ownerUrl, repositoryUrl } from '../../http/index.ts';

/** The header of every repository page: owner, name, and the tabs of this viewer. */
interface RepositoryHeaderView {
  owner: string;
  ownerUrl: string;
  name: string;
  url: string;
  description: string;
  isPrivate: boolean;
  isArchived: boolean;
  /** A mirror of a repository elsewhere; it is read-only without the label "archived". */
  isCopy: boolean;
  avatar: AvatarView;
  mayWrite: boolean;
  /** SPEC §4.3: only the owner sees the settings and the link to them. */
  isOwner: boolean;
  /** The viewer administers without owning: may manage collaborators. */
  mayInvite: boolean;
  /** Null for viewers who cannot pin. */
  isPinned: boolean | null;
  /** Number of stars, and whether the viewer starred it; null for viewers who cannot. */
  stars: { count: string | null; isStarred: boolean | null };
  /** The parent of a fork; null if this is not a fork, and for viewers who cannot read the parent. */
  forkedFrom: { name: string; url: string } | null;
  /** Number of forks that the viewer can see. */
  forks: string;
  /** Null without an account. */
  watch: WatchView | null;
  /** Number of open issues; null where issues are off, which hides the tab. */
  openIssues: string | null;
  /** Number of open pull requests; where they are off, open ones keep the tab. */
  openPulls: string | null;
  /** Number of releases that the viewer can see; null for none, which hides the number. */
  releases: string | null;
  /** Number of packages linked to it; null for none, which hides the tab. */
  packages: string | null;
}

export function viewRepositoryHeader({
  repository,
  canonical,
  owner,
  level,
  isOwner,
  isPinned,
  stars,
  issues,
  releases,
  packages,
  forks,
  watch,
}: FoundWithHeader): RepositoryHeaderView {
  return {
    owner: canonical.owner,
    ownerUrl: ownerUrl(owner),
    name: canonical.name,
    url: repositoryUrl(canonical),
    description: repository.description,
    isPrivate: repository.visibility === 'PRIVATE',
    isArchived: repository.archivedAt !== null,
    isCopy: repository.copiedFrom !== null,
    avatar: viewRepositoryAvatar(repository, owner),
    mayWrite: level === 'write' || level === 'admin',
    isOwner,
    mayInvite: level === 'admin' && !isOwner,
    isPinned,
    stars: { count: viewTabCount(stars.count), isStarred: stars.isStarred },
    forkedFrom:
      forks.source === null
        ? null
        : { name: `${forks.source.owner}/${forks.source.name}`, url: repositoryUrl(forks.source) },
    forks: viewNumber(forks.forks),
    watch: watch && viewWatch(watch),
    releases: viewTabCount(releases.published + (level === 'read' ? 0 : releases.drafts)),
    packages: viewTabCount(packages),
    openIssues: issues.isOn ? viewNumber(issues.open) : null,
    openPulls: issues.pulls.isOn || issues.pulls.open > 0 ? viewNumber(issues.pulls.open) : null,
  };
}

const viewTabCount = (count: number): string | null => (count === 0 ? null : viewNumber(count));
