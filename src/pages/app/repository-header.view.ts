import type { FoundWithHeader } from './context.ts';
import type { AvatarView } from './avatar.view.ts';
import { viewNumber } from './format-numbers.ts';
import { viewRepositoryAvatar } from './repository-avatar.view.ts';
import { viewWatch } from './watch.view.ts';
import type { WatchView } from './watch.view.ts';
import { ownerUrl, repositoryUrl } from '../../http/index.ts';

/** The head of every page of a repository: who, what, and the tabs that this viewer has. */
interface RepositoryHeaderView {
  owner: string;
  ownerUrl: string;
  name: string;
  url: string;
  description: string;
  isPrivate: boolean;
  isArchived: boolean;
  /** A kept copy of a repository elsewhere; it is read-only, without being called archived. */
  isCopy: boolean;
  avatar: AvatarView;
  mayWrite: boolean;
  /** SPEC §4.3: the settings and the way to them are the owner's alone. */
  isOwner: boolean;
  /** Administers without owning: may choose who else works here. */
  mayInvite: boolean;
  /** Null for viewers who cannot pin. */
  isPinned: boolean | null;
  /** How many people starred it, and whether the viewer did; null for viewers who cannot. */
  stars: { count: string | null; isStarred: boolean | null };
  /** What it was forked from; null for no fork, and for viewers who may not read that. */
  forkedFrom: { name: string; url: string } | null;
  /** How many forks the viewer may see. */
  forks: string;
  /** null without an account. */
  watch: WatchView | null;
  /** How many issues are open; null where the repository takes none, which hides the tab. */
  openIssues: string | null;
  /** The same of pull requests; those that are open keep the tab. */
  openPulls: string | null;
  /** Those that the viewer sees; null for none, which hides the number. */
  releases: string | null;
  /** Packages that follow it; null for none, which hides the tab. */
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
