import type { PersonViewer } from '../../access/index.ts';
import type { Modules } from '../../app/index.ts';
import type { DescribedRelease } from '../../releases/index.ts';
import type { Cli } from '../cli.ts';
import { isoOrNull } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { nameOf } from './find-person.ts';
import { actorOf, repositoryOf } from './issue-output.ts';
import type { AsOption } from './issue-output.ts';

type RepositoryName = { owner: string; name: string };

export const authorOfRelease = ({ author, authorName }: DescribedRelease): string =>
  author === null ? (authorName ?? 'ghost') : nameOf(author);

const stateOf = ({ isDraft, isPrerelease }: DescribedRelease): string =>
  isDraft ? 'draft' : isPrerelease ? 'pre-release' : '';

export const releaseColumns: Column<DescribedRelease>[] = [
  { title: 'TAG', cell: ({ tag }) => tag },
  { title: 'TITLE', cell: ({ title }) => title },
  { title: 'STATE', cell: stateOf },
  { title: 'AUTHOR', cell: authorOfRelease },
  { title: 'FILES', cell: ({ files }) => files.length, align: 'right' },
  { title: 'PUBLISHED', cell: ({ publishedAt }) => ({ epochMs: publishedAt, otherwise: 'not yet' }) },
];

export const releaseToJson = (release: DescribedRelease): object => ({
  tag: release.tag,
  title: release.title,
  draft: release.isDraft,
  prerelease: release.isPrerelease,
  target: release.target,
  author: authorOfRelease(release),
  files: release.files.map(({ name, bytes, sha256, downloads, createdAt }) => ({
    name,
    bytes,
    sha256,
    downloads,
    createdAt: isoOrNull(createdAt),
  })),
  createdAt: isoOrNull(release.createdAt),
  updatedAt: isoOrNull(release.updatedAt),
  publishedAt: isoOrNull(release.publishedAt),
});

/** The acting user, and the repository. */
export async function openRepository(
  cli: Cli,
  options: AsOption,
  repository: string,
): Promise<{ modules: Modules; viewer: PersonViewer; at: RepositoryName }> {
  const modules = await cli.openModules();
  const viewer = await actorOf(modules, options);
  return { modules, viewer, at: await repositoryOf(modules, viewer, repository) };
}

/** Output of a command that changed a release: one line, or the whole release. */
export async function printChangedRelease(
  cli: Cli,
  { modules, viewer, at }: { modules: Modules; viewer: PersonViewer; at: RepositoryName },
  tag: string,
  line: string,
): Promise<void> {
  cli.output.result(line, releaseToJson(await modules.releases.find(viewer, at, { tag })));
}

/** `alice/garden v1.0`. */
export const formatReleaseReference = ({ owner, name }: RepositoryName, tag: string): string =>
  `${owner}/${name} ${tag}`;
