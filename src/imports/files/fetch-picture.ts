import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { imageTooLarge, maxImageBytes, sniffImageType } from '../../images/index.ts';
import type { ImageUpload, OpenedImage } from '../../images/index.ts';
import { isDomainError, isRefusal } from '../../kernel/index.ts';
import type { OpenedFile } from '../client/open-source-file.ts';
import { sourceFailed } from '../client/source-errors.ts';

/** Where a picture is kept here. */
interface PicturePlace {
  /** Null without one. */
  open(): Promise<OpenedImage | null>;
  /** Refuses as `parseImage` does; `disk_full`. */
  replace(upload: ImageUpload): Promise<unknown>;
  remove(): Promise<unknown>;
}

/** What became of a picture: its digest at the source, empty without one, and a line of the report. */
interface PictureResult {
  digest: string;
  problem: string | null;
}

/**
 * Brings a picture of the source if it has changed there and not here. One that was changed on both sides stays as it
 * is here. Throws `SourceBusy`, and what the place refuses for reasons of this server.
 * @param known its digest at the last run; null before the first
 * @param openThere null if the source has none
 */
export async function bringPicture(
  place: PicturePlace,
  known: string | null,
  openThere: (() => Promise<OpenedFile>) | null,
): Promise<PictureResult> {
  const here = await digestHere(place);
  const isUntouched = here === (known ?? '');
  if (openThere === null) {
    if (isUntouched && here !== '') await place.remove();
    return { digest: '', problem: null };
  }
  try {
    const bytes = await readAll((await openThere()).stream);
    const digest = digestOf(bytes);
    if (digest === known || digest === here) return { digest, problem: null };
    if (!isUntouched) return { digest, problem: 'was changed on both sides: the one here stays' };
    await place.replace({ declaredType: sniffImageType(bytes) ?? '', bytes });
    return { digest, problem: null };
  } catch (error) {
    const isOfServer = !isRefusal(error) || ofServer.has(error.reason);
    if (isOfServer) throw error;
    return { digest: known ?? '', problem: `did not come: ${error.message}` };
  }
}

/** A later try succeeds, without a change at the source. */
const ofServer = new Set(['disk_full', 'low_disk_space', 'read_only', 'object_store_unavailable']);

const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('base64');

async function digestHere(place: PicturePlace): Promise<string> {
  const image = await place.open();
  return image === null ? '' : digestOf(await readAll(image.stream()));
}

/** Throws `image_too_large` as soon as it is, and `source_failed` for an answer that is cut off. */
async function readAll(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxImageBytes) throw imageTooLarge('avatar');
      chunks.push(chunk);
    }
  } catch (error) {
    throw isDomainError(error) ? error : sourceFailed('its answer was cut off', { cause: error });
  }
  return Buffer.concat(chunks);
}
