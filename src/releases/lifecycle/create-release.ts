import { isLocalAdministrator, personIdOf, viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { parseText } from '../../accounts/index.ts';
import { isUniqueViolation } from '../../db/index.ts';
import { invalid } from '../../kernel/index.ts';
import { parseTagName } from '../../repositories/index.ts';
import type { ReleaseDeps } from '../deps.ts';
import { addFiles } from '../files/add-files.ts';
import type { PendingFile } from '../files/receive-file.ts';
import { findContext, repositoryInWrite } from '../find-release.ts';
import type { RepositoryAt } from '../find-release.ts';
import { limits } from '../limits.ts';
import { parseNotes, parseTitle } from '../parse-release.ts';
import { releaseExists } from '../release-errors.ts';
import { releaseSchema } from '../schema/release-schema.ts';
import type { ReleaseRow } from '../schema/release-schema.ts';
import { announce } from '../announce.ts';
import { ensureTag } from './ensure-tag.ts';

interface NewRelease {
  tag: string;
  /** Commit of a new tag: a branch, a tag or a commit id; the default branch if omitted. */
  target?: string;
  /** Message of an annotated tag. */
  tagMessage?: string;
  title?: string;
  body?: string;
  isDraft?: boolean;
  isPrerelease?: boolean;
  /** Whether it never is the latest release. */
  staysBehind?: boolean;
  /** Files received for it. */
  files?: readonly PendingFile[];
}

/** Start of a tag, as entered. */
export const parseTarget = (value: string): string =>
  parseText(value, { field: 'target', called: 'The target', maxCharacters: 200 });
export const parseTagMessage = (value: string): string =>
  parseText(value, { field: 'tag_message', called: 'The message', maxCharacters: 10_000, manyLines: true });

/**
 * Creates a release of a tag. Unless it is a draft, creates a missing tag as a push of the viewer. Throws
 * `release_exists`, `too_many_releases`, `invalid_text`, `text_too_long`, and the errors of creating a tag, of adding
 * files and of the policy.
 */
export async function createRelease(
  deps: ReleaseDeps,
  viewer: Viewer,
  at: RepositoryAt,
  input: NewRelease,
): Promise<ReleaseRow> {
  const { found } = await findContext(deps, viewer, at, 'write');
  const repositoryId = found.repository.id;
  const tag = parseTagName(input.tag);
  const target = parseTarget(input.target ?? '');
  const tagMessage = parseTagMessage(input.tagMessage ?? '');
  const title = parseTitle(input.title ?? '');
  const body = parseNotes(input.body ?? '');
  const { isDraft = false, isPrerelease = false, staysBehind = false, files = [] } = input;
  // Checked before the tag is created, and again in the write.
  if (await deps.db.read.existsBy(releaseSchema, { repositoryId, tag })) throw releaseExists(tag);
  const tagOid = isDraft ? null : await ensureTag(deps, viewer, found, { tag, target, tagMessage });
  try {
    const release = await deps.db.write(async (tx) => {
      const repository = await repositoryInWrite(deps, tx, viewer, repositoryId);
      if ((await tx.manager.countBy(releaseSchema, { repositoryId })) >= limits.releasesPerRepository)
        throw invalid('too_many_releases', `A repository can have at most ${limits.releasesPerRepository} releases.`);
      const { now } = tx;
      const row: ReleaseRow = {
        id: deps.random.uuid(),
        repositoryId,
        tag,
        tagOid,
        target: target || repository.defaultBranch,
        tagMessage,
        title,
        body,
        isDraft,
        isPrerelease,
        staysBehind,
        authorId: personIdOf(viewer),
        authorName: nameWithoutAccount(viewer),
        origin: null,
        revision: 1,
        createdAt: now,
        updatedAt: now,
        publishedAt: isDraft ? null : now,
        listedAt: now,
      };
      await tx.manager.insert(releaseSchema, row);
      await addFiles(deps, tx, row, files, personIdOf(viewer));
      if (!isDraft)
        await announce(deps, tx, { action: 'published', repository, release: row, actorId: personIdOf(viewer) });
      return row;
    });
    deps.logger.info('release.created', { repositoryId, tag, isDraft, by: viewerForLog(viewer) });
    return release;
  } catch (error) {
    throw isUniqueViolation(error, 'releases_tag') ? releaseExists(tag) : error;
  }
}

/** The author of a release without an account. */
function nameWithoutAccount(viewer: Viewer): string | null {
  if (viewer.kind === 'task') return 'workflow';
  return isLocalAdministrator(viewer) && personIdOf(viewer) === null ? 'command line' : null;
}
