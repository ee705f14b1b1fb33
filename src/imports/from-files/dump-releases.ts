import type { ReleasePage } from '../../mirrors/index.ts';
import type { WorkerPool } from '../../workers/index.ts';
import { sourceFailed } from '../client/source-errors.ts';
import { flagOf, idOf, listOf, objectOf, textOf, timeOf } from '../sources/read-json.ts';
import { createListReader } from './dump-lists.ts';
import { readName } from './dump-shapes.ts';
import { openBelow } from './open-below.ts';

/** The releases of a folder of `dump-repo`, whose files are below `release_assets`. */
export async function* readDumpReleases(
  tools: { workers: WorkerPool },
  { folder, url, id }: { folder: string; url: string; id: string },
): AsyncGenerator<ReleasePage> {
  const read = createListReader(tools, folder, id);
  const open: ReleasePage['open'] = async (file) => {
    const content = await openBelow(folder, file.url);
    if (content === null) throw sourceFailed('the folder does not have it');
    return content;
  };
  for (let from: number | null = 0; from !== null; ) {
    const part: Awaited<ReturnType<typeof read>> = await read('release.yml', from);
    const lost = Array.from({ length: part.unreadable }, () => null);
    yield { releases: [...part.items.map((item) => readRelease(item, url)), ...lost], open };
    from = part.next;
  }
}

function readRelease(item: unknown, url: string): ReleasePage['releases'][number] {
  const row = objectOf(item);
  const tag = textOf(row['tag_name']);
  const title = textOf(row['name']);
  if (tag === '' && title === '') return null;
  const origin = `${url}/releases/${encodeURIComponent(tag.toWellFormed())}`;
  const createdAt = timeOf(row['created']) ?? 0;
  return {
    release: {
      origin,
      tag,
      target: textOf(row['target_commitish']),
      title: title === tag ? '' : title,
      body: textOf(row['body']),
      isDraft: flagOf(row['draft']),
      isPrerelease: flagOf(row['prerelease']),
      author: readName(row['publisher_name'])?.login ?? null,
      createdAt,
      publishedAt: timeOf(row['published']) ?? createdAt,
    },
    files: listOf(row['assets']).map((asset) => {
      const size = asset['size'];
      const bytes = typeof size === 'number' && Number.isSafeInteger(size) && size >= 0 ? size : null;
      const name = textOf(asset['name']);
      const at = timeOf(asset['updated']) ?? timeOf(asset['created']) ?? createdAt;
      return {
        origin: `${origin}/${idOf(asset['id'])} ${name} ${bytes ?? ''} ${at}`,
        name,
        bytes,
        sha256: null,
        createdAt: timeOf(asset['created']) ?? createdAt,
        url: textOf(asset['download_url']),
      };
    }),
  };
}
