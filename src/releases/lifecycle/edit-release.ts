import { personIdOf, viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { isUniqueViolation } from '../../db/index.ts';
import { conflict, invalid } from '../../kernel/index.ts';
import { parseTagName } from '../../repositories/index.ts';
import type { ReleaseDeps } from '../deps.ts';
import { addFiles } from '../files/add-files.ts';
import type { PendingFile } from '../files/receive-file.ts';
import { findRelease, releaseInWrite } from '../find-release.ts';
import type { ReleaseKey, RepositoryAt } from '../find-release.ts';
import { parseNotes, parseTitle } from '../parse-release.ts';
import { releaseExists } from '../release-errors.ts';
import { releaseSchema } from '../schema/release-schema.ts';
import type { ReleaseRow } from '../schema/release-schema.ts';
import { announce } from '../announce.ts';
import { parseTagMessage, parseTarget } from './create-release.ts';
import { ensureTag } from './ensure-tag.ts';

/** Omitted fields stay. */
export interface ReleaseEdit {
  /** Only for a draft; a published release keeps its tag. */
  tag?: string | undefined;
  target?: string | undefined;
  tagMessage?: string | undefined;
  title?: string | undefined;
  body?: string | undefined;
  isDraft?: boolean | undefined;
  isPrerelease?: boolean | undefined;
  staysBehind?: boolean | undefined;
  /** The revision that the user has seen; throws if it has changed. */
  revision?: number | null;
  /** Files received for it. */
  files?: readonly PendingFile[];
}

/**
 * Edits a release, publishes a draft, which creates a missing tag, or turns a release into a draft again. Throws
 * `release_not_found`, `release_published` for another tag, `text_changed_meanwhile`, `release_exists`, and the errors
 * of `createRelease`.
 */
export async function editRelease(
  deps: ReleaseDeps,
  viewer: Viewer,
  at: RepositoryAt,
  key: ReleaseKey,
  edit: ReleaseEdit,
): Promise<ReleaseRow> {
  const { found, release: before } = await findRelease(deps, viewer, at, key, 'write');
  const wanted = readEdit(before, edit);
  if (wanted.tag !== before.tag) await refuseTaken(deps, before.repositoryId, wanted.tag);
  const publishes = before.isDraft && !wanted.isDraft;
  const tagOid = publishes ? await ensureTag(deps, viewer, found, wanted) : before.tagOid;
  try {
    const after = await deps.db.write(async (tx) => {
      const { repository, release } = await releaseInWrite(deps, tx, viewer, before);
      if ((edit.revision != null && edit.revision !== release.revision) || release.isDraft !== before.isDraft)
        throw changedMeanwhile();
      const { now } = tx;
      const changed: ReleaseRow = {
        ...release,
        ...wanted,
        tagOid,
        revision: release.revision + 1,
        updatedAt: now,
        ...(publishes ? { publishedAt: now, listedAt: now } : {}),
        ...(wanted.isDraft ? { publishedAt: null } : {}),
      };
      const { id, ...columns } = changed;
      await tx.manager.update(releaseSchema, { id }, columns);
      await addFiles(deps, tx, changed, edit.files ?? [], personIdOf(viewer));
      const actorId = personIdOf(viewer);
      if (changed.isDraft && !release.isDraft)
        await announce(deps, tx, { action: 'withdrawn', repository, release: changed, actorId });
      if (!changed.isDraft)
        await announce(deps, tx, {
          action: publishes ? 'published' : 'updated',
          repository,
          release: changed,
          actorId: personIdOf(viewer),
        });
      return changed;
    });
    const { repositoryId, tag, isDraft } = after;
    deps.logger.info('release.edited', { repositoryId, tag, isDraft, by: viewerForLog(viewer) });
    return after;
  } catch (error) {
    throw isUniqueViolation(error, 'releases_tag') ? releaseExists(wanted.tag) : error;
  }
}

type Editable = Pick<
  ReleaseRow,
  'tag' | 'target' | 'tagMessage' | 'title' | 'body' | 'isDraft' | 'isPrerelease' | 'staysBehind'
>;

function readEdit(before: ReleaseRow, edit: ReleaseEdit): Editable {
  const tag = edit.tag === undefined ? before.tag : parseTagName(edit.tag);
  if (tag !== before.tag && !before.isDraft)
    throw invalid('release_published', 'The tag of a published release cannot be changed.', { field: 'tag' });
  return {
    tag,
    target: edit.target === undefined ? before.target : parseTarget(edit.target),
    tagMessage: edit.tagMessage === undefined ? before.tagMessage : parseTagMessage(edit.tagMessage),
    title: edit.title === undefined ? before.title : parseTitle(edit.title),
    body: edit.body === undefined ? before.body : parseNotes(edit.body),
    isDraft: edit.isDraft ?? before.isDraft,
    isPrerelease: edit.isPrerelease ?? before.isPrerelease,
    staysBehind: edit.staysBehind ?? before.staysBehind,
  };
}

async function refuseTaken({ db }: ReleaseDeps, repositoryId: string, tag: string): Promise<void> {
  if (await db.read.existsBy(releaseSchema, { repositoryId, tag })) throw releaseExists(tag);
}

/** Error for a form with an outdated text. */
const changedMeanwhile = () =>
  conflict(
    'text_changed_meanwhile',
    'Someone edited this release since you opened it. Review the current version, then save again.',
  );
