import { idsIn } from '../../db/index.ts';
import { notFound } from '../../kernel/index.ts';
import type { ReleaseDeps } from '../deps.ts';
import { fileKey } from '../files/receive-file.ts';
import { releaseFileSchema, releaseSchema } from '../schema/release-schema.ts';
import type { ReleaseFile, ReleaseRow } from '../schema/release-schema.ts';
import { releaseContentFile, releaseListFile, releasesPerFile } from './export-format.ts';
import type { ExportedRelease } from './export-format.ts';

/** A file of an export. */
export interface WrittenFile {
  name: string;
  size: number;
  content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/**
 * The releases of a repository for an export bundle, including drafts: lists of two hundred as JSON, each followed by
 * the content of its files. Throws `release_file_missing`.
 */
export async function* exportReleases(deps: ReleaseDeps, repositoryId: string): AsyncGenerator<WrittenFile> {
  const written = new Set<string>();
  let after = '';
  for (let part = 1; ; part += 1) {
    const rows = await deps.db.read
      .createQueryBuilder(releaseSchema, 'r')
      .where('r.repository_id = :repositoryId AND r.tag > :after', { repositoryId, after })
      .orderBy('r.tag')
      .limit(releasesPerFile)
      .getMany();
    if (rows.length === 0) return;
    after = rows.at(-1)!.tag;
    const files = await filesOf(deps, rows);
    const people = await deps.accounts.peopleById(
      rows.flatMap(({ authorId }) => (authorId === null ? [] : [authorId])),
    );
    const releases = rows.map((row) =>
      exportedOf(row, (row.authorId === null ? row.authorName : people.get(row.authorId)?.username) ?? null, files),
    );
    const list = Buffer.from(`${JSON.stringify({ format: 1, releases }, null, 2)}\n`);
    yield { name: releaseListFile(part), size: list.length, content: [list] };
    for (const { id, name, bytes, sha256 } of files) {
      if (written.has(sha256)) continue;
      written.add(sha256);
      const opened = await deps.objects.get(fileKey(id));
      if (opened === null) throw notFound('release_file_missing', `The content of the release file ${name} is gone.`);
      yield { name: releaseContentFile(sha256), size: bytes, content: opened.stream };
    }
  }
}

async function filesOf({ db }: ReleaseDeps, rows: readonly ReleaseRow[]): Promise<ReleaseFile[]> {
  return db.read
    .createQueryBuilder(releaseFileSchema, 'f')
    .where(
      ...idsIn(
        'f.release_id',
        rows.map(({ id }) => id),
      ),
    )
    .getMany();
}

const iso = (time: number): string => new Date(time).toISOString();

function exportedOf(row: ReleaseRow, author: string | null, files: readonly ReleaseFile[]): ExportedRelease {
  const { tag, target, tagMessage, title, body, isDraft, isPrerelease, publishedAt } = row;
  return {
    tag,
    target,
    tagMessage,
    title,
    body,
    isDraft,
    isPrerelease,
    ...(row.staysBehind ? { staysBehind: true } : {}),
    author,
    createdAt: iso(row.createdAt),
    updatedAt: iso(row.updatedAt),
    publishedAt: publishedAt === null ? null : iso(publishedAt),
    files: files
      .filter(({ releaseId }) => releaseId === row.id)
      .map(({ name, bytes, sha256, downloads, createdAt }) => ({
        name,
        bytes,
        sha256,
        downloads,
        createdAt: iso(createdAt),
      })),
  };
}
